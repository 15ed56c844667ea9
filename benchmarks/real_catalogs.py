"""Catalogs that others translated, and which of their messages a build would refuse.

Takes the Korean translation of Python's documentation and the translations of the Python Packaging
User Guide from their repositories (it needs the network and git), and those of Sphinx's own labels
from the installed package. What is refused is shown in English, so each message is either wrong,
or a fault of the checks. Writes real_catalogs.md, with what is told of each refused message, and
with what a reader found in them: real_catalogs_read.toml has a verdict for each message that was
read, by a digest of its source text and translation.
"""

import hashlib
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import polib
import sphinx
from folder_and_report import open_folder, write_report

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from sphinx_recorded_gallery.languages import Language  # noqa: E402
from sphinx_recorded_gallery.translate.catalogs import Kind, line_of, read_catalog  # noqa: E402
from sphinx_recorded_gallery.translate.checks import examine  # noqa: E402

PYTHON = "https://github.com/python/python-docs-ko"
PACKAGING = "https://github.com/pypa/packaging.python.org"
LISTED = {"ko", "ja", "zh_CN", "zh_Hans"}  # whose refused messages are told one by one
LONGEST = 200  # characters of what is told
VERDICTS = Path(__file__).with_name("real_catalogs_read.toml")
# What `stand_ins` in languages.toml could name: no word here is one that a program reads. They were
# chosen after reading the refused messages.
STAND_INS = {
    "eo": {
        "Awesome_Package": "Bonega_Pako",
        "COOL_STUFF": "BONAJ_AJHOJ",
        "Cool-Stuff": "Bonaj-Ajhoj",
        "FILENAME": "DOSIERNOMO",
        "FRIENDLY-BARD": "AFABLA-BARDO",
        "Friendly-Bard": "Afabla-Bardo",
        "HolyGrail": "SanktaGralo",
        "LICENSE-ID": "LICENCA-IDENTIGILO",
        "awesome-package": "bonega-pako",
        "awesome_package": "mia_pako",
        "dist-name": "nomo-de-distribua-pako",
        "friendly-bard": "afabla-bardo",
        "friendly_bard": "afabla_bardo",
        "func": "funk",
        "import_name": "nomo_de_importa_pako",
        "mynamespace_subpackage_a": "mianomspaco_subpako_a",
        "package_name": "paknomo",
        "pkg": "pako",
        "silly-walk": "ridinda-piediro",
        "subpackage_a": "subpako_a",
        "your-project-name": "nomo-de-via-projekto",
    },
}
RIGHT = "right: "  # begins the verdicts of messages that should not be refused


@dataclass(frozen=True, kw_only=True)
class Source:
    """Catalogs of one language from one project."""

    project: str
    code: str
    paths: list[Path]
    kind: Kind


@dataclass(frozen=True, kw_only=True)
class Count:
    """What became of the messages of a source."""

    source: Source
    messages: int
    unreadable: int
    refused: list[str]  # what is told of each
    digests: list[str]  # of each refused message


def main() -> int:
    """Count, and write real_catalogs.md."""
    with open_folder(__doc__) as folder:
        is_there = clone(PYTHON, "3.13", folder / "python") and clone(
            PACKAGING, "translation/source", folder / "packaging"
        )
        if not is_there:
            print("skipped: the catalogs cannot be downloaded here")
            return 0
        sources = list(find_sources(folder))
        counts = [count(source) for source in sources]
        named = [
            count(source, STAND_INS[source.code])
            for source in sources
            if source.code in STAND_INS and source.kind is Kind.PROSE
        ]
    lines = list(tables(counts, named))
    write_report(Path(__file__), lines)
    print("\n".join(lines))
    return 0


def clone(address: str, branch: str, folder: Path) -> bool:
    """Clone a repository unless it is there; tell whether it is."""
    if not folder.exists():
        command = [
            "git",
            "clone",
            "--quiet",
            "--depth=1",
            f"--branch={branch}",
            address,
            str(folder),
        ]
        subprocess.run(command, capture_output=True)
    return folder.exists()


def find_sources(folder: Path) -> Iterator[Source]:
    """Yield the catalogs of each project and language."""
    python = sorted((folder / "python").rglob("*.po"))
    yield Source(project="Python", code="ko", paths=python, kind=Kind.PROSE)
    for path in sorted((folder / "packaging/locales").glob("*/LC_MESSAGES/messages.po")):
        code = path.parts[-3]
        yield Source(project="packaging.python.org", code=code, paths=[path], kind=Kind.PROSE)
    labels = Path(sphinx.__file__).parent / "locale"
    for path in sorted(labels.glob("*/LC_MESSAGES/sphinx.po")):
        yield Source(project="Sphinx", code=path.parts[-3], paths=[path], kind=Kind.LABEL)


def count(source: Source, stand_ins: Mapping[str, str] = MappingProxyType({})) -> Count:
    """Look at each translated message as a build does, with these ``stand_ins`` of the language."""
    language = Language(code=source.code, name=source.code, stand_ins=tuple(stand_ins.items()))
    messages = unreadable = 0
    refused: list[str] = []
    digests: list[str] = []
    for path in source.paths:
        try:
            catalog = read_catalog(path)
        except Exception as error:
            unreadable += 1
            print(error, file=sys.stderr)
            continue
        entries = [entry for entry in catalog if is_counted(entry, source.kind)]
        messages += len(entries)
        kinds = {entry.msgid: {source.kind} for entry in entries}
        problems: dict[int, str] = {}  # the first of each message, by its line
        for problem in examine(path, entries, kinds, language):
            problems.setdefault(problem.line, problem.message)
        refused += problems.values()
        for entry in entries:
            if line_of(entry) in problems:
                digests.append(digest(entry))
                told = f"{path}:{line_of(entry)}: {problems[line_of(entry)]}"
                texts = f"  {entry.msgid}\n  {entry.msgstr}"
                print(f"{told}\n  {digests[-1]}\n{texts}", file=sys.stderr)
    return Count(
        source=source,
        messages=messages,
        unreadable=unreadable,
        refused=refused,
        digests=digests,
    )


def digest(entry: polib.POEntry) -> str:
    """Return 12 hexadecimal digits that a verdict has instead of the texts of others."""
    texts = f"{entry.msgid}\0{entry.msgstr}".encode()
    return hashlib.sha256(texts).hexdigest()[:12]


def is_counted(entry: polib.POEntry, kind: Kind) -> bool:
    """Tell a translated message; code of several lines is none, of which comments alone are."""
    is_code = kind is Kind.PROSE and "\n" in entry.msgid
    is_in_use = entry.msgstr and not (entry.obsolete or entry.fuzzy)
    return bool(entry.msgid and is_in_use and not is_code)


def tables(counts: list[Count], named: list[Count]) -> Iterator[str]:
    """Yield the lines of real_catalogs.md below its text; ``named`` are with ``STAND_INS``."""
    yield "| Catalogs | Language | Messages | Refused | Catalogs that cannot be read |"
    yield "|---|---|---:|---:|---:|"
    for each in counts:
        if each.messages >= 100:
            source = each.source
            numbers = f"{each.messages:,} | {len(each.refused):,} | {each.unreadable}"
            yield f"| {source.project} | {source.code} | {numbers} |"
    yield ""
    yield from tables_of_verdicts(counts)
    yield ""
    yield from describe_stand_ins(counts, named)
    yield "| Language | What is told of each refused message |"
    yield "|---|---|"
    for each in counts:
        if each.source.code in LISTED:
            for told in each.refused:
                flat = " ".join(told.split()).replace("|", "\\|")
                short = flat if len(flat) <= LONGEST else f"{flat[:LONGEST]}…"
                yield f"| {each.source.code} | <code>{escape(short)}</code> |"


def tables_of_verdicts(counts: list[Count]) -> Iterator[str]:
    """Yield what reading refused messages showed, of the languages that were read."""
    verdicts = tomllib.loads(VERDICTS.read_text(encoding="utf-8"))
    kinds: dict[str, Counter[str]] = {}
    yield "| Catalogs | Language | Refused | Read | Wrong | Right |"
    yield "|---|---|---:|---:|---:|---:|"
    for each in counts:
        found = [verdicts[digits] for digits in each.digests if digits in verdicts]
        if not found:
            continue
        name = f"{each.source.project} {each.source.code}"
        kinds[name] = Counter(found)
        right = sum(verdict.startswith(RIGHT) for verdict in found)
        numbers = f"{len(each.refused)} | {len(found)} | {len(found) - right} | {right}"
        yield f"| {each.source.project} | {each.source.code} | {numbers} |"
    read = sum(sum(found.values()) for found in kinds.values())
    refused_right = 0
    for found in kinds.values():
        refused_right += sum(count for kind, count in found.items() if kind.startswith(RIGHT))
    yield ""
    yield f"By reading, **{refused_right} of {read} refused messages are right**."
    yield ""
    yield f"| What was found | {' | '.join(kinds)} |"
    yield f"|---|{'---:|' * len(kinds)}"
    for kind in sorted({kind for found in kinds.values() for kind in found}):
        yield f"| {kind} | {' | '.join(str(found[kind]) for found in kinds.values())} |"


def describe_stand_ins(counts: list[Count], named: list[Count]) -> Iterator[str]:
    """Yield what ``STAND_INS`` changes in a language, each with an empty line."""
    verdicts = tomllib.loads(VERDICTS.read_text(encoding="utf-8"))
    before = {(each.source.project, each.source.code): each for each in counts}
    for each in named:
        refused = Counter(before[each.source.project, each.source.code].digests)
        shown = [
            verdicts.get(digits, "") for digits in (refused - Counter(each.digests)).elements()
        ]
        right = sum(verdict.startswith(RIGHT) for verdict in shown)
        all_right = sum(verdicts.get(digits, "").startswith(RIGHT) for digits in refused.elements())
        names = len(STAND_INS[each.source.code])
        yield (
            f"With {names} names as `stand_ins`, {right} of the {all_right} right messages in "
            f"{each.source.code} are shown, and {len(shown) - right} of the "
            f"{refused.total() - all_right} wrong ones."
        )
        yield ""


def escape(text: str) -> str:
    """Return a text as Markdown shows it inside of HTML."""
    return (
        text.replace("&", "&amp;").replace("<", "&lt;").replace("`", "&#96;").replace("*", "&#42;")
    )


if __name__ == "__main__":
    sys.exit(main())
