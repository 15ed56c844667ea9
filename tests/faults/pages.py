"""Faults of pages: what ends a build in a traceback, and where page and notebook disagree."""

import json
import re
from collections.abc import Iterator

from .bench import TITLE, Bench, Done
from .case import Case, build, read_page

SHOW = "from IPython.display import display\n"
FIGURE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVQI12NgAAAAAgAB4iG8MwAAAABJRU5ErkJggg=="
)


def _text(name: str, kind: str, rst: str, injects: str, **others: object) -> Case:
    """Return a recipe whose text holds a construct; it has to be built without a word."""
    lines = "\n".join(f"# {line}".rstrip() for line in rst.strip("\n").splitlines())
    return Case(
        name=name,
        kind=kind,
        injects=injects,
        ends="recorded",
        code=f"x = 1\n\n# %%\n# Part\n# ----\n#\n{lines}\n\nprint('fine')",
        pages=bool(others.pop("pages", True)),
        look=others.pop("look", None),  # type: ignore[arg-type]
        **others,  # type: ignore[arg-type]
    )


def notebook_text(bench: Bench, name: str = "faulty") -> str:
    """Return the text cells of the notebook that readers download."""
    text = read_page(bench, name, ".ipynb")
    cells = json.loads(text)["cells"] if text else []
    return "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")


def in_notebook(*patterns: str) -> object:
    """Ask for patterns in the text of the notebook, or a warning that names file and line."""

    def look(bench: Bench, done: Done) -> Iterator[str]:
        built = build(bench)
        text = notebook_text(bench)
        told = re.search(r"faulty\.py:\d+: ", built.err)
        for pattern in patterns:
            if not re.search(pattern, text) and not told:
                yield f"the notebook lacks {pattern!r}"

    return look


def builds(bench: Bench, done: Done) -> Iterator[str]:
    """Ask for a build without a warning."""
    built = build(bench)
    if built.status != 0:
        told = [line for line in built.err.splitlines() if "arning" in line or "rror" in line]
        yield f"html ended with {built.status}: {told[:2]}"


def named(bench: Bench, done: Done) -> Iterator[str]:
    """Where a build fails, it has to name the file of the recipe or of its recording."""
    built = build(bench)
    if built.status and not re.search(r"faulty\.(py|ipynb)", built.err):
        yield f"html names no file: {built.err[-200:]}"


def _picture(name: str, data: str, injects: str) -> Case:
    return Case(
        name=name,
        kind="C1",
        injects=injects,
        ends="either",
        code=f"{SHOW}display({data}, raw=True)",
        pages=True,
        look=named,
    )


PICTURES = [
    _picture("png-no-base64", "{'image/png': 'abc'}", "a PNG that is no base64"),
    _picture("png-of-nothing", "{'image/png': ''}", "a PNG of no bytes"),
    _picture("png-truncated", f"{{'image/png': '{FIGURE[:60]}'}}", "a PNG cut in the middle"),
    _picture("png-that-is-text", "{'image/png': 'aGVsbG8gd29ybGQ='}", "text as a PNG"),
    _picture("svg-not-xml", "{'image/svg+xml': '<svg><g>'}", "an SVG that is not closed"),
    _picture("jpeg-that-is-png", f"{{'image/jpeg': '{FIGURE}'}}", "a PNG as a JPEG"),
    _picture(
        "svg-with-script",
        "{'image/svg+xml': '<svg xmlns=\"http://www.w3.org/2000/svg\"><script>1</script></svg>'}",
        "an SVG with a script",
    ),
]


def _source(name: str, kind: str, text: str, injects: str, ends: str, **others: object) -> Case:
    return Case(
        name=name,
        kind=kind,
        injects=injects,
        ends=ends,
        source=text,
        pages=True,
        **others,  # type: ignore[arg-type]
    )


FORMS = [
    _text(
        "download-role",
        "C2",
        ":download:`this file <faulty.py>` is it.",
        "a :download: role",
        look=builds,
    ),
    _source(
        "no-underline",
        "C3",
        '"""\nOnly plain words.\n\nMore.\n"""\n\nprint(1)\n',
        "a docstring of plain words without a title",
        "refused",
        says="faulty.py",
    ),
    _source(
        "title-alone",
        "C3",
        '"""\n====\n"""\n\nprint(1)\n',
        "a docstring of an underline alone",
        "refused",
        says="faulty.py",
    ),
    _source(
        "line-numbers",
        "C4",
        TITLE.format(name="faulty")
        + "# sphinx_gallery_line_numbers = True\nprint('fine')\n\n# %%\n\nprint('more')\n",
        "sphinx_gallery_line_numbers = True",
        "recorded",
        look=builds,
    ),
    _source(
        "thumbnail-path-5",
        "C5",
        TITLE.format(name="faulty") + "# sphinx_gallery_thumbnail_path = 5\nprint('fine')\n",
        "thumbnail_path = 5",
        "refused",
        says="thumbnail_path",
    ),
    _source(
        "thumbnail-number-0",
        "C5",
        TITLE.format(name="faulty") + "# sphinx_gallery_thumbnail_number = 'x'\nprint('fine')\n",
        "thumbnail_number = 'x'",
        "refused",
        says="thumbnail_number",
    ),
    _source(
        "comment-of-sphinx-gallery",
        "C5",
        TITLE.format(name="faulty")
        + "x = 1\n\n# %%\n# .. GENERATED FROM PYTHON SOURCE LINES 8-9\n#\n# Text.\n\nprint('fine')\n",
        "a comment like Sphinx-Gallery's own",
        "recorded",
        look=builds,
    ),
    Case(
        name="recipe-called-index",
        kind="C5",
        injects="a recipe called index.py",
        ends="any",
        neighbour=False,
        files={"recipes_source/index.py": '"""\nIndex\n=====\n"""\n\nprint(1)\n'},
        look=lambda bench, done: _index(bench, done),
    ),
    _text(
        "figure-with-caption",
        "C6",
        ".. figure:: /recipes/images/none.png\n   :alt: nothing\n\n   A caption.\n\n   A legend.",
        "a figure with a caption and a legend",
        prepare=lambda bench: _image(bench),
        look=builds,
    ),
    _text("admonition", "C6", ".. admonition:: A title\n\n   Text.", "an admonition", look=builds),
    _text("citation", "C6", "As in [Knuth]_.\n\n.. [Knuth] The Art.", "a citation", look=builds),
    _text(
        "option-list",
        "C6",
        "-a         all\n--be=x     a long one",
        "an option list, which no notebook has",
        look=in_notebook("--be"),
        pages=False,
    ),
    _text("classifier", "C6", "term : kind\n   Text.", "a classifier", look=builds),
    _text("attribution", "C6", "   A quote.\n\n   -- Somebody", "an attribution", look=builds),
    _text(
        "code-with-caption",
        "C6",
        ".. code-block:: python\n   :caption: A caption\n\n   x = 1",
        "a code block with a caption",
        look=builds,
    ),
    _text("sidebar", "C6", ".. sidebar:: Beside\n\n   Text.", "a sidebar", look=builds),
    _text("centered", "C6", ".. centered:: Middle", "a centered line", look=builds),
    _text(
        "hlist",
        "C6",
        ".. hlist::\n   :columns: 2\n\n   * a\n   * b",
        "an hlist, which no notebook has",
        look=in_notebook("hlist"),
        pages=False,
    ),
    _text("abbreviation", "C6", ":abbr:`LIFO (last in, first out)` it is.", ":abbr:", look=builds),
    _text(
        "production",
        "C6",
        ".. productionlist::\n   a: b",
        "a productionlist, which no notebook has",
        look=in_notebook("production"),
        pages=False,
    ),
    _text(
        "raw-html",
        "C6",
        ".. raw:: html\n\n   <p>raw</p>",
        "raw HTML in the text",
        look=lambda bench, done: named(bench, done),
    ),
]


def _image(bench: Bench) -> None:
    import base64

    path = bench.recipes / "images/none.png"
    path.parent.mkdir()
    path.write_bytes(base64.b64decode(FIGURE))
    source = bench.recipes / "faulty.py"
    source.write_text(source.read_text().replace("/recipes/images", "/recipes_source/images"))


def _index(bench: Bench, done: Done) -> Iterator[str]:
    """Ask for the page of the gallery, or a refusal that names the recipe."""
    built = build(bench)
    if built.status and "index.py" not in built.err + done.err:
        yield f"html names no index.py: {built.err[-200:]}"
    if (
        not built.status
        and "Faulty" not in read_page(bench, "index")
        and "faulty" not in read_page(bench, "index")
    ):
        yield "the page of the gallery is lost"


DISAGREE = [
    _text(
        "superscript",
        "D1",
        "mc\\ :sup:`2` and H\\ :sub:`2`\\ O.",
        "superscript and subscript",
        look=in_notebook(r"mc.?(<sup>2</sup>|\^2|²)", r"H.?(<sub>2</sub>|_2|₂)"),
    ),
    _text(
        "spanning-cells",
        "D2",
        "+-----+-----+\n| one | two |\n+=====+=====+\n| wide cell |\n+-----+-----+\n| x   | y   |\n+-----+-----+",
        "a table with a cell that spans two columns",
        look=in_notebook(r"(?s)one.*two.*wide cell.*x.*y"),
    ),
    _text(
        "bar-in-a-table",
        "D2",
        "=====  =====\none    two\n=====  =====\n``a|b``  c\n=====  =====".replace(
            "=====  =====", "========  ====="
        )
        .replace("one    two", "one       two")
        .replace("``a|b``  c", "``a|b``   c"),
        "a bar inside of a table's cell",
        look=in_notebook(r"a\\\|b|a&#124;b|<td>.*a\|b"),
    ),
    _text(
        "angle-brackets",
        "D3",
        "A std::vector<int> and <b>.",
        "std::vector<int> in the text",
        look=in_notebook(r"vector(\\<|&lt;)int", r"(\\<|&lt;)b"),
    ),
    _text(
        "dollars",
        "D3",
        "Costs $5 and $6.",
        "two dollar signs in the text",
        look=in_notebook(r"(\\\$|&#36;|<span>\\?\$</span>)5 and (\\\$|&#36;|<span>\\?\$</span>)6"),
    ),
    _text(
        "markdown-in-text",
        "D3",
        "Stars \\*like these\\* and 1. and a_b_c and `#1 <https://a.org>`__.",
        "characters that mean something in Markdown",
        look=in_notebook(r"\\\*like these\\\*"),
    ),
    Case(
        name="two-dots",
        kind="D4",
        injects="recipes called a.b.py and a.c.py",
        ends="recorded",
        neighbour=False,
        files={
            f"recipes_source/a.{part}.py": f'"""\nPart {part}\n======\n\nText.\n"""\n\nprint("{part}{part}{part}")\n'
            for part in "bc"
        },
        look=lambda bench, done: _dots(bench, done),
    ),
]


def _dots(bench: Bench, done: Done) -> Iterator[str]:
    built = build(bench)
    if built.status:
        if not re.search(r"a\.[bc]\.py", built.err):
            yield f"html names no file: {built.err[-200:]}"
        return
    for part in "bc":
        for ending in (".ipynb", ".py"):
            if f"{part}{part}{part}" not in read_page(bench, f"a.{part}", ending):
                yield f"a.{part}{ending} is lost, or another's"


CASES = [*PICTURES, *FORMS, *DISAGREE]
