"""Style sheets and scripts without what only their authors need."""

import pytest

from second_call.light_assets import lighten_script, lighten_style


@pytest.mark.parametrize(
    ("css", "light"),
    [
        ("/* why */\na,\nb {\n  color: red;\n}\n", "a,b{color:red;}\n"),
        ('a { content: "/* ; */  x" }', 'a{content:"/* ; */  x"}\n'),
        ("a::before { content: ', ' }", "a::before{content:', '}\n"),
        ("a { background: url(data:x;base64,a/*b) }", "a{background:url(data:x;base64,a/*b)}\n"),
        (
            "a > b + c :is(d) { width: calc(1px + 2px) }",
            "a > b + c :is(d){width:calc(1px + 2px)}\n",
        ),
        (
            "a { --none: ; --some: b: c } d :hover { top: 0 }",
            "a{--none:;--some:b: c}d :hover{top:0}\n",
        ),
        ("a /* x */ b { top: 0 }", "a b{top:0}\n"),
        (
            "/* Made by x (BSD-3-Clause) */\na { top: 0 }",
            "/* Made by x (BSD-3-Clause) */ a{top:0}\n",
        ),
        (
            "@media (width > 1px) and (height) { a { top: 0 } }",
            "@media (width > 1px) and (height){a{top:0}}\n",
        ),
    ],
)
def test_a_style_sheet_means_the_same_without_comments_and_space(css: str, light: str) -> None:
    assert lighten_style(css) == light
    assert lighten_style(light) == light


def test_a_script_loses_lines_of_comments_alone() -> None:
    script = '// Why.\nlet a = "// b"; // c\n  // d\n  return a;\n'
    assert lighten_script(script) == 'let a = "// b"; // c\nreturn a;\n'
    text = "let a = `x\n// y\n`;\n"
    assert lighten_script(text) == text
