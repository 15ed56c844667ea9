"""What HTML and SVG of outputs may do on a page: show something, and nothing else."""

import re
import time
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sphinx_recorded_gallery.recipes.sanitize import (
    clean_html,
    clean_svg,
    find_left_out,
    is_safe_latex,
    sanitize,
)

PANDAS = """<div>
<table border="1" class="dataframe">
  <thead>
    <tr style="text-align: right;">
      <th></th>
      <th colspan="2" halign="left">a &amp; b</th>
    </tr>
  </thead>
  <tbody>
    <tr>
      <th rowspan="2" valign="top">0</th>
      <td>1.5</td>
      <td>&lt;NA&gt;</td>
    </tr>
  </tbody>
</table>
<p>1 rows × 2 columns</p>
</div>"""


def test_a_table_of_pandas_is_kept() -> None:
    kept = PANDAS.replace(' style="text-align: right;"', "").replace(' halign="left"', "")
    assert clean_html(PANDAS) == kept
    assert find_left_out({"text/html": PANDAS.replace(' halign="left"', "")}) == []


KEPT = [
    '<a href="https://example.org/a:b?c" rel="noopener noreferrer">a</a>',
    '<a href="../a.html#x" rel="noopener noreferrer">a</a>',
    '<div class="sk-container"><pre>Pipeline()</pre><div class="sk-item" hidden="">x</div></div>',
    '<details open=""><summary>Parameters</summary><ul><li><code>a=1</code></li></ul></details>',
    '<math display="block"><msup><mi>x</mi><mn>2</mn></msup><mo>=</mo><mtext>y</mtext></math>',
    '<img src="data:image/png;base64,AAAA" alt="A figure" width="3" height="4">',
    '<table align="left"><tbody><tr valign="top"><th scope="col">h</th></tr></tbody></table>',
    '<span class="a" title="t" lang="ko" dir="ltr" aria-label="l">\\(x^2\\) $y$</span>',
]


@pytest.mark.parametrize("html", KEPT)
def test_what_shows_something_is_kept(html: str) -> None:
    assert clean_html(html) == html
    assert find_left_out({"text/html": html}) == []


def test_roles_of_content_are_kept_and_those_of_the_page_are_not() -> None:
    assert 'role="note"' in clean_html('<div role="note">t</div>')
    for role in ("alert", "button", "dialog", "main", "navigation", "search"):
        html = f'<div role="{role}">t</div>'
        assert clean_html(html) == "<div>t</div>"
        assert find_left_out({"text/html": html}) == ["role="]


DROPPED = [
    ("<script src=https://e.org/x.js></script>", ["<script>", "src="]),
    (
        "<meta http-equiv=refresh content='0;url=https://e.org'>",
        ["<meta>", "http-equiv=", "content="],
    ),
    ("<base href=https://e.org>", ["<base>", "href="]),
    ("<iframe srcdoc='<script>x</script>'></iframe>", ["<iframe>", "srcdoc=", "<script>"]),
    ("<object data=x></object><embed src=x>", ["<object>", "data=", "<embed>", "src="]),
    ("<video src=https://e.org autoplay></video>", ["<video>", "src="]),
    ("<svg><script>x</script></svg>", ["<svg>", "<script>"]),
    ("<form action=x><input name=x></form>", ["<form>", "action=", "<input>", "name="]),
    ("<html><head><script>x()</script></head></html>", ["<script>"]),
    ("<!-- a comment --><!--[if IE]><script>x</script><![endif]-->", ["<script>"]),
]


@pytest.mark.parametrize(("html", "told"), DROPPED)
def test_what_does_something_is_left_out_and_told(html: str, told: list[str]) -> None:
    assert clean_html(html) == ""
    assert find_left_out({"text/html": html}) == told


ATTRIBUTES = [
    ("<b onclick='x()'>t</b>", "<b>t</b>", ["onclick="]),
    ("<b style='position: fixed'>t</b>", "<b>t</b>", ["style="]),
    ("<b id=search data-x='1 y=2'>t</b>", "<b>t</b>", ["id=", "data-x=", "y="]),
    ("<img src=https://e.org/x.png alt=a>", '<img alt="a">', ["src="]),
    ("<img src=x srcset=y>", "<img>", ["src=", "srcset="]),
    ("<img src='data:image/svg+xml;base64,AA'>", "<img>", ["src="]),
    ("<td background=//e.org>t</td>", "t", ["<td>", "background="]),
    ("<div role='note Dialog'>t</div>", "<div>t</div>", ["role="]),
]


@pytest.mark.parametrize(("html", "kept", "told"), ATTRIBUTES)
def test_an_attribute_that_does_something_is_left_out(
    html: str, kept: str, told: list[str]
) -> None:
    assert clean_html(html) == kept
    assert find_left_out({"text/html": html}) == told


@pytest.mark.parametrize(
    "address",
    [
        "javascript:x",
        " JaVaScRiPt:x",
        "java\tscript:x",
        "java&#10;script:x",
        "&#106;avascript:x",
        "data:text/html,x",
        "\x01data:x",
    ],
)
def test_a_link_that_is_no_address_leads_nowhere(address: str) -> None:
    assert "href" not in clean_html(f'<a href="{address}">t</a>')
    assert find_left_out({"text/html": f'<a href="{address}">t</a>'}) != []


def test_html_with_nothing_to_see_makes_room_for_another_form() -> None:
    for html in ("<div id='plot'></div><script>draw()</script>", "", " \n", "<img src=x alt=y>"):
        data: dict[str, Any] = {"text/html": html, "text/plain": "Figure()"}
        sanitize(data)
        assert data == {"text/plain": "Figure()"}
    for html in (
        "x",
        "<p>x</p>",
        "<hr>",
        '<p><img src="data:image/png;base64,AA"></p>',
        "<b>.</b>",
    ):
        data = {"text/html": html}
        sanitize(data)
        assert "text/html" in data


NAMES = """
b p div table td script style svg math mtext mi a img iframe form noscript template title textarea
select foreignObject annotation-xml xmp plaintext details font main mglyph desc
"""
ENDS = [">", "/>", " onload=x()>", " href='javascript:x'>", ' src="//e.org">']
ENDS += [' title="--></p><b>">']
ENDS += [" style=x", "<!--", "-->", "<![CDATA[", "]]>", "&lt;", "text", "\0", '"', "'", "=", " "]
PIECES = [*(f"<{n}" for n in NAMES.split()), *(f"</{n}>" for n in NAMES.split()), *ENDS]


class Outline(HTMLParser):
    """Checks that what is left is known, and closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in ("script", "style", "svg", "iframe", "form", "main", "template", "xmp")
        for name, value in attrs:
            assert not name.startswith("on")
            assert name not in ("style", "id", "srcdoc")
            if name in ("href", "src"):
                assert re.match(r"https?:|data:image|#|\w*$", value or "")
        if tag not in ("br", "hr", "img", "wbr", "col"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_whatever_is_put_in_nothing_that_acts_comes_out(html: str) -> None:
    clean = clean_html(html)
    outline = Outline()
    outline.feed(clean)
    outline.close()
    assert outline.open == []
    assert clean_html(clean) == clean  # a second reading finds nothing else in it
    find_left_out({"text/html": html})


def svg(inside: str = "", attributes: str = "") -> str:
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'viewBox="0 0 2 2"{attributes}>{inside}</svg>'
    )


MATPLOTLIB = (
    '<?xml version="1.0" encoding="utf-8" standalone="no"?>\n'
    '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" '
    '"http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">\n'
) + svg(
    '<metadata><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    '<a rdf:resource="http://purl.org/dc/dcmitype/StillImage"/></rdf:RDF></metadata>'
    '<defs><style type="text/css">*{stroke-linejoin: round}</style></defs>'
    '<g clip-path="url(#p)" style="fill: url( \'#q\')"><use xlink:href="#m" x="1"/>'
    '<image xlink:href="data:image/png;base64,AAAA"/></g>'
)


@pytest.mark.parametrize("text", [svg('<circle r="1"/>'), MATPLOTLIB])
def test_a_drawing_is_kept_as_it_is(text: str) -> None:
    assert clean_svg(text) == text
    assert find_left_out({"image/svg+xml": text}) == []


ACTING = [
    ("<script>x</script>", ["<script> in SVG"]),
    ("<foreignObject><b/></foreignObject>", ["<foreignobject> in SVG"]),
    ('<h:script xmlns:h="http://www.w3.org/1999/xhtml">x</h:script>', ["<script> in SVG"]),
    ('<circle onclick="x()"/>', ["onclick= in SVG"]),
    ('<a xlink:href="javascript:x"/>', ["href= in SVG"]),
    ('<image href="https://e.org/x.png"/>', ["href= in SVG"]),
    ('<g style="fill: url(https://e.org)"/>', ["style= in SVG"]),
    ('<g style="fill: \\75rl(//e.org)"/>', ["style= in SVG"]),
    ("<style>@import '//e.org';</style>", ["<style> in SVG"]),
    ("<style>g {fill: url(//e.org)}</style>", ["<style> in SVG"]),
    ('<g xml:base="https://e.org"/>', ["base= in SVG"]),
    ('<set attributeName="xlink:href" to="javascript:x"/>', ["<set> in SVG"]),
    ('<animate attributeName="onclick" to="x"/>', ["<animate> in SVG"]),
]


@pytest.mark.parametrize(("inside", "told"), ACTING)
def test_what_acts_in_a_drawing_is_left_out(inside: str, told: list[str]) -> None:
    text = svg(f'{inside}<circle r="1"/>')
    clean = clean_svg(text)
    assert find_left_out({"image/svg+xml": text}) == told
    assert find_left_out({"image/svg+xml": clean}) == []
    assert '<circle r="1"' in clean
    assert clean.startswith('<svg xmlns="http://www.w3.org/2000/svg"')
    assert not re.search(r"e\.org|script|alert", clean)


def test_what_stands_before_a_drawing_goes_where_it_could_act() -> None:
    text = '<?xml-stylesheet href="https://e.org"?><!DOCTYPE svg [<!ENTITY a "b">]>' + svg(
        "<g>&a;</g>"
    )
    assert clean_svg(text) == svg("<g>b</g>").replace(
        ' xmlns:xlink="http://www.w3.org/1999/xlink"', ""
    )


@pytest.mark.parametrize(
    "text", ["", "<svg", "no", "<svg/>", "<html><svg/></html>", svg("<g>"), "\0"]
)
def test_what_is_no_drawing_is_told(text: str) -> None:
    with pytest.raises(ValueError, match="is not SVG"):
        clean_svg(text)


def test_a_drawing_that_would_hang_a_browser_is_told() -> None:
    """Each group uses the one before ten times: a thousand million circles in eleven lines."""
    groups = ['<g id="a0"><circle r="1"/></g>']
    for number in range(1, 10):
        use = f'<use href="#a{number - 1}"/>'
        groups.append(f'<g id="a{number}">{use * 10}</g>')
    deep = "<g>" * 2000 + "</g>" * 2000
    in_itself = '<g id="a"><use href="#a"/></g>'
    for inside, told in (
        ("".join(groups), "more than 10 million elements"),
        (re.sub('<use href="(.*?)"', r'<rect fill="url(\1)"', "".join(groups)), "10 million"),
        (deep, "too deeply"),
    ):
        drawing = f'<svg xmlns="http://www.w3.org/2000/svg">{inside}</svg>'
        with pytest.raises(ValueError, match=told):
            clean_svg(drawing)
        with pytest.raises(ValueError, match=told):
            find_left_out({"image/svg+xml": drawing})
    drawing = f'<svg xmlns="http://www.w3.org/2000/svg">{in_itself}</svg>'
    assert clean_svg(drawing) == drawing


@pytest.mark.parametrize("begin", ["\\(", "\\[", "$$", "\\begin{align}"])
def test_latex_without_ends_takes_no_time(begin: str) -> None:
    start = time.process_time()
    assert not is_safe_latex(begin * 50_000)
    assert time.process_time() - start < 2


def test_a_drawing_that_would_fill_the_memory_is_told() -> None:
    entities = '<!ENTITY a0 "lol">' + "".join(
        f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12)
    )
    with pytest.raises(ValueError, match="is not SVG"):
        clean_svg(f"<!DOCTYPE svg [{entities}]>" + svg("<g>&a11;</g>"))


@pytest.mark.parametrize(
    "mime",
    [
        "application/javascript",
        "application/vnd.vegalite.v5+json",
        "application/vnd.jupyter.es6-rich-output",
        "application/vnd.bokehjs_exec.v0+json",
        "application/vnd.holoviews_exec.v0+json",
        "application/vnd.plotly.v1+json",
        "application/vnd.jupyter.widget-view+json",
        "application/pdf",
        "application/geo+json",
        "image/bmp",
        "text/vnd.mermaid",
    ],
)
def test_forms_that_no_page_shows_are_left_out(mime: str) -> None:
    data = {mime: "https://evil.example/x", "text/plain": "a chart"}
    assert find_left_out(data) == [mime]
    sanitize(data)
    assert data == {"text/plain": "a chart"}


@pytest.mark.parametrize(
    ("latex", "is_kept"),
    [
        (r"$\displaystyle \frac{x^{2}}{2}$", True),
        (r"$$\int_0^1 x \, dx$$", True),
        (r"$\href{javascript:alert(1)}{x}$", False),
        (r"$\style{background: url(https://evil.example)}{x}$", False),
        (r"$\def\a{\a}\a$", False),
        (r"$\text{<img src=https://evil.example>}$", False),
        (r"$x <script>y$", False),
        (r"\[x\]", True),
        (r"Since \(x\) and $$y$$", True),
        (r"Since \(\href{javascript:alert(1)}{x}\)", False),
        (r"\href{javascript:alert(1)}{since} $x$", False),
        ("$x$ <img src=https://evil.example>", False),
    ],
)
def test_latex_is_kept_where_it_is_a_formula(latex: str, is_kept: bool) -> None:
    data = {"text/latex": latex}
    assert (find_left_out(data) == []) == is_kept
    sanitize(data)
    assert data == ({"text/latex": latex} if is_kept else {"text/plain": latex})
