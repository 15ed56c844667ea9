"""Hostile translations, and a small site on which they show what they can do.

One build takes a batch of them: titles, paragraphs, formulas and comments of a recipe, and labels.
Then the finished files are looked at, and compared with those of the same site without a catalog.
"""

import ast
import json
import pickle
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from pathlib import Path

import jupytext
import polib
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.helpers.gallery import Gallery

PARTS = 12  # of the recipe, each with a message of every kind
PAGE = "recipes/hostile"
SECRET = "opensesame"
LABELS = (
    *("Notebook", "Script", "%(percent)s of this page is translated; the rest is in English."),
    *("Help translate", "Recorded on %(device)s, %(date)s", "Evidence", "Unfold all"),
    "This page has not been recorded yet, so it shows no results.",
)
BORROWED = (
    "Search",
    "Index",
    "Navigation",
    "Next",
    "Previous",
    "Show Source",
    "Quick search",
    "Note",
)
# Prose of the recipe: what a translation has to keep, and may put anywhere
PROSE = (
    "A paragraph of words alone.",
    "A paragraph with ``code`` and **bold** words.",
    "See :doc:`/index` and :ref:`the search <search>`.",
    "See `Python <https://www.python.org>`__ or https://docs.python.org/3/ for it.",
    "The formula :math:`x^2` and the file :download:`own.txt`.",
    r"As :math:`\text{time} + 1` says, and no words.",
    "Press :kbd:`Ctrl` or choose :guilabel:`&Open`, an :abbr:`IDE (editor)`.",
)
# What somebody would try. Each stands alone, before, behind, inside of or between what is kept.
EVIL = [
    text
    for line in Path(__file__).with_name("evil.jsonl").read_text().splitlines()
    for text in json.loads(line)
]
UNREADABLE = re.compile("[\0\x1c-\x1e\x85\u2028\u2029\ud800-\udfff]")
EMPHASIS = {("em",), ("strong",)}  # which a translation may have, and which does nothing
# Tags that show words otherwise, and that the writer of Markdown uses itself
PLAIN = {("br",), ("em",), ("s",), ("span",), ("strong",), ("sup",)}
WORDS = ("번역", "문장입니다.", "수 더하기", "x", "2", "를", "。", "(", ")", "굵게", "a b", "...")
JOINTS = ("", "", " ", " ", "\n", "\n\n", "\\ ", "\u2028", "\x0c", "\r", "\t")


@dataclass(frozen=True)
class Hostile:
    """A translation, and what its catalog says of it."""

    translation: str
    comment: str = ""
    tcomment: str = ""
    plural: str = ""


def make_sources() -> list[str]:
    """Return the messages of the recipe."""
    texts = []
    for part in range(PARTS):
        texts += [
            f"Section {part}",
            prose(part),
            formula(part),
            f"Comment {part}.",
            f"Behind {part}.",
        ]
    return ["A hostile page", *texts, "Three folded lines."]


def prose(part: int) -> str:
    return f"{PROSE[part % len(PROSE)]} In part {part}."


def formula(part: int) -> str:
    return f"x_{{{part}}} = \\text{{time}} + {part}"


def make_recipe() -> str:
    """Return the recipe."""
    lines = ['"""', "A hostile page", "==============", '"""', ""]
    for part in range(PARTS):
        lines += ["# %%", f"# Section {part}", "# -----------", "#", f"# {prose(part)}", "#"]
        lines += ["# .. math::", "#", f"#    {formula(part)}", ""]
        if not part:
            lines += ['# sphinx_gallery_fold = "Three folded lines."', ""]
        lines += [
            f"# Comment {part}.",
            f'x_{part} = "a # b"  # Behind {part}.',
            f"y_{part} = [{part},",
            "]",
            "",
        ]
    return "\n".join(lines)


def translations(text: str) -> st.SearchStrategy[Hostile]:
    """Return translations of a message: its own parts, words, any text and what is evil."""
    own = re.findall(
        r"``.*?``|:\w+:`.*?`|`.*?`__|https://\S+|\*\*.*?\*\*|\\text\{\w*\}|%\(\w+\)s", text
    )
    pieces = st.one_of(
        st.sampled_from(EVIL),
        st.sampled_from(EVIL),
        st.sampled_from(WORDS),
        st.text(max_size=6),
        st.sampled_from(own or WORDS),
        st.just(text),
    )
    parts = st.lists(st.tuples(st.sampled_from(JOINTS), pieces), min_size=1, max_size=5)
    words = parts.map(lambda found: "".join(map("".join, found)))
    kept = st.tuples(st.sampled_from(EVIL), st.booleans()).map(
        lambda found: (
            f"{found[0]} {' '.join(own)}" if found[1] else f"{' '.join(own) or text} {found[0]}"
        )
    )
    # The source with one more thing behind it, or in the place of a word: inside of markup, too
    behind = st.sampled_from(EVIL).map(lambda evil: f"{text} {evil}")
    word = st.sampled_from(re.findall(r"[a-z]{2,}", text) or [text])
    inside = st.tuples(word, st.sampled_from(EVIL)).map(lambda pair: text.replace(*pair, 1))
    return st.builds(
        Hostile,
        translation=st.one_of(words, kept, st.sampled_from(EVIL), behind, inside),
        comment=st.sampled_from(["", "", "Comment in code", "Formula", "Label", "Title"]),
        tcomment=st.sampled_from(
            [
                "",
                "",
                "check-po: allow markup-changed (so)",
                "check-po: allow line-break (so)",
                "check-po: allow raw-html (so)",
                "check-po: allow comment (so)",
                "check-po: allow plural (so)",
            ]
        ),
        plural=st.sampled_from(["", "", "", "", text, "x"]),
    )


def batches() -> st.SearchStrategy[dict[str, Hostile]]:
    """Return a translation for each message of the site."""
    texts = [*make_sources(), *LABELS, *BORROWED]
    batch = st.fixed_dictionaries({text: translations(text) for text in texts})
    return st.one_of(batch, batch.map(_make_readable), batch.map(_make_readable))


def _make_readable(batch: dict[str, Hostile]) -> dict[str, Hostile]:
    """Leave out what makes a whole catalog unreadable, and its other messages harmless with it."""
    return {
        text: replace(each, translation=UNREADABLE.sub("", each.translation))
        for text, each in batch.items()
    }


class HostileSite:
    """The site, and what its files hold without a catalog."""

    def __init__(self, root: Path, language: str = "ko") -> None:
        root.mkdir()
        self.site, self.language = Gallery(root), language
        self.site.set_languages(language)
        self.site.write("hostile", make_recipe())
        for folder in (root, self.site.recipes):
            for name in ("secret.txt", "own.txt"):
                folder.joinpath(name).write_text(SECRET if name == "secret.txt" else "own")
        self.clean = Finished(self.site.build(language=self.language).out)
        self.tried = self.shown = 0  # translations, and those that the checks let through

    def find_instruction(self, batch: dict[str, Hostile]) -> list[str]:
        """Build with a batch of translations; return what they did to somebody."""
        sources = make_sources()
        for domain, texts in (
            (PAGE, sources),
            ("sphinx_recorded_gallery", LABELS),
            ("sphinx", BORROWED),
        ):
            catalog = polib.pofile(str(self.site.translate(domain, {}, self.language)))
            for text in texts:
                if text in batch:
                    catalog.append(_entry(text, batch[text]))
            catalog.save()
        built = self.site.build(language=self.language)
        finished = Finished(built.out)
        self.tried += len(batch)
        self.shown += len(batch) - built.warnings.count("shown in English")
        return list(finished.harm(self.clean))


def _entry(text: str, hostile: Hostile) -> polib.POEntry:
    said = {"comment": hostile.comment, "tcomment": hostile.tcomment}
    if hostile.plural:
        forms = {0: hostile.translation}
        return polib.POEntry(msgid=text, msgid_plural=hostile.plural, msgstr_plural=forms, **said)
    return polib.POEntry(msgid=text, msgstr=hostile.translation, **said)


class _Elements(HTMLParser):
    """What a browser would make of a page, but its words."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: set[tuple[str, ...]] = set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.add((tag,))
        for name, value in attrs:
            free = name in (
                "alt",
                "aria-label",
                "title",
                "data-fold",
                "content",
                "value",
                "placeholder",
            )
            free |= name == "class" or name.startswith("data-")
            self.found.add((tag, name) if free else (tag, name, value or ""))

    def handle_comment(self, data: str) -> None:
        self.found.add(("comment", data if "[" in data else ""))

    def handle_pi(self, data: str) -> None:
        self.found.add(("pi", data))


class Finished:
    """The files of a build, as those who open them would read them."""

    def __init__(self, out: Path) -> None:
        self.files = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
        self.files -= {".buildinfo.bak"}  # of the build before
        self.pages = {path.name: path.read_text(encoding="utf-8") for path in out.rglob("*.html")}
        self.elements = set.union(*(_Elements(text).found for text in self.pages.values()))
        script = out / f"{PAGE}.py"
        self.script = script.read_bytes()
        cells = json.loads((out / f"{PAGE}.ipynb").read_text(encoding="utf-8"))["cells"]
        self.cells = [(cell["cell_type"], "".join(cell["source"])) for cell in cells]
        self.markdown = [text for kind, text in self.cells if kind == "markdown"]
        shown = (MarkdownIt("gfm-like", {"linkify": False}).render(text) for text in self.markdown)
        self.noted = set.union(*(_Elements(text).found for text in shown))
        environment = pickle.loads((out.parent / "doctrees/environment.pickle").read_bytes())
        self.named = {str(file) for files in environment.dependencies.values() for file in files}
        self.named |= {*environment.images, *environment.dlfiles}

    @property
    def bare_addresses(self) -> set[str]:
        """What Jupyter makes links of, outside of code and formulas."""
        text = re.sub(
            r"(?s)`+[^`]*`+|\$\$.*?\$\$|\]\([^)]*\)|<https?:[^>]*>", "", "\n\n".join(self.markdown)
        )
        return set(
            re.findall(r"(?:https?|ftp)://[^\s<]*|(?i:www)\.[^\s<]*|[\w.+-]+@[\w-]+\.\w+", text)
        )

    def harm(self, clean: "Finished") -> Iterator[str]:
        """Yield what is worse than without a catalog."""
        if self.files - clean.files:
            yield f"files: {self.files - clean.files}"
        if new := self.elements - clean.elements - EMPHASIS:
            yield f"pages: {new}"
        if self.noted - clean.noted - PLAIN:
            yield f"notebook: {self.noted - clean.noted}"
        if self.bare_addresses - clean.bare_addresses:
            yield f"addresses in the notebook: {self.bare_addresses - clean.bare_addresses}"
        if self.named - clean.named or any(SECRET in text for text in self.pages.values()):
            yield f"files that the page does not name were read: {self.named - clean.named}"
        kinds = [kind for kind, _text in self.cells]
        if kinds != [kind for kind, _text in clean.cells]:
            yield f"cells of the notebook: {kinds}"
        again = [
            cell.cell_type for cell in jupytext.reads(self.script.decode(), "py:percent").cells
        ]
        if again != kinds:
            yield f"cells of the script: {Counter(again)} for {Counter(kinds)}"
        if _programs(self.cells) != _programs(clean.cells):
            yield "the notebook's program"
        try:
            if ast.dump(ast.parse(self.script)) != ast.dump(ast.parse(clean.script)):
                yield "the script's program"
        except (SyntaxError, ValueError) as error:
            yield f"the script is no program: {error}"
        if SECRET in self.script.decode():
            yield "a file in the script"


def _programs(cells: list[tuple[str, str]]) -> list[str]:
    return [ast.dump(ast.parse(text)) for kind, text in cells if kind == "code"]
