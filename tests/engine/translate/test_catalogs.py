import time
from pathlib import Path

import polib
import pytest

from sphinx_recorded_gallery.errors import GalleryError
from sphinx_recorded_gallery.project import load_project
from sphinx_recorded_gallery.translate.catalogs import (
    WIDTH,
    find_catalogs,
    read_catalog,
    write_catalog,
)
from tests.helpers.gallery import ENGINE


def test_locks_copies_and_folders_are_no_catalogs(tmp_path: Path) -> None:
    folder = tmp_path / "ko/LC_MESSAGES"
    (folder / "part/of.po").mkdir(parents=True)
    for name in ("b.po", "a.po", "part/c.po", ".#a.po", ".a.po", "a.mo", "a.po~"):
        (folder / name).touch()
    (tmp_path / "conf.py").write_text(f"extensions = {[*ENGINE]}\nlocale_dirs = ['.']\n")
    project = load_project(tmp_path)
    assert [*find_catalogs(project, "ko")] == ["a", "b", "part/c"]
    assert find_catalogs(project, "ja") == {}


def test_a_device_is_told_and_not_read(tmp_path: Path) -> None:
    path = tmp_path / "page.po"
    path.symlink_to("/dev/null")  # another would be read without end
    with pytest.raises(GalleryError, match=r"page\.po: cannot be read: it is not a regular file"):
        read_catalog(path)


@pytest.mark.parametrize(
    ("content", "line", "told"),
    [
        ('msgid "a"\nmsgstr "b"\n\nnonsense\n', 4, "not a catalog from here on"),
        ('msgid "a"\n<<<<<<< HEAD\nmsgstr "b"\n', 2, "an unresolved merge conflict"),
        ('msgid "a"\nmsgstr “b”\n', 2, "the text stands in “, and not in straight quotes"),
        ("msgid 'a'\nmsgstr 'b'\n", 1, "the text stands in ', and not in straight quotes"),
        ('msgid "a"\nmsgstr b"\n', 2, "the text has to stand between two quotes"),
        ('msgid "a"\nmsgstr "b" c"\n', 2, "the text has to stand between two quotes"),
        ('msgid "a"\n\nmsgid "b"\nmsgstr "c"\n', 1, "no msgstr follows"),
        ('msgid "a"\nmsgstr "b"\n\nmsgid "c"\n', 4, "no msgstr follows"),
        ('msgid "a"\nmsgctxt "b"\nmsgstr "c"\n', 1, "no msgstr follows"),
        ('msgid "a"\nmsgstr "b"\nmsgstr "c"\n', 3, "a second msgstr"),
        (
            'msgid "a"\nmsgid_plural "b"\nmsgstr[%s] "c"\n' % ("9" * 5000),
            3,
            "the text has to stand between two quotes",
        ),
        ('msgid "a"\n=======\nmsgstr "b"\n', 2, "an unresolved merge conflict"),
    ],
)
def test_what_is_no_catalog_is_told_with_its_line(
    tmp_path: Path, content: str, line: int, told: str
) -> None:
    path = tmp_path / "page.po"
    path.write_text(content)
    with pytest.raises(GalleryError) as caught:
        read_catalog(path)
    assert str(caught.value).startswith(f"{path}:{line}: {told}; ")


HEADER = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\n'
SHAPES = {
    "sticky flags": ('#= no-wrap\nmsgid "A"\nmsgstr "B"', {"flags": ["no-wrap"]}),
    "sticky fuzzy": ('#= fuzzy\nmsgid "A"\nmsgstr "B"', {"flags": ["fuzzy"]}),
    "flags that touch": ('#,no-wrap,fuzzy\nmsgid "A"\nmsgstr "B"', {"flags": ["no-wrap", "fuzzy"]}),
    "a comment that touches": ('#why\nmsgid "A"\nmsgstr "B"', {"tcomment": "why"}),
    "odd comments": ('#! x\n##y\nmsgid "A"\nmsgstr "B"', {"tcomment": "! x\n#y"}),
    "a comment behind": ('msgid "A" # why\nmsgstr "B"', {}),
    "signs that touch": (
        '#:a.py:1\n#.note\n#|msgid "O"\nmsgid "A"\nmsgstr "B"',
        {"occurrences": [("a.py", "1")], "comment": "note", "previous_msgid": "O"},
    ),
    "file names with blanks": (
        '#: \u2068a b.py\u2069:1 c.py\nmsgid "A"\nmsgstr "B"',
        {"occurrences": [("\u2068a b.py\u2069", "1"), ("c.py", "")]},
    ),
    "indented by msgcat": ('msgid "A"\nmsgstr\n       "B"', {}),
    "all indented": ('  # why\n\tmsgid "A"\n  msgstr "B"', {"tcomment": "why"}),
    "a domain": ('domain "page"\n\nmsgid "A"\nmsgstr "B"', {}),
    "a domain in two lines": ('domain\n"page"\nmsgid "A"\nmsgstr "B"', {}),
    "one line": ('msgid "A" msgstr "B"', {}),
    "no blanks": ('msgid"A"\nmsgstr"B"', {}),
    "texts in a row": ('msgid "" "A"\nmsgstr "" "" "B"', {}),
    "empty lines": ('msgid ""\n\n"A"\n\nmsgstr\n\n"B"\n', {}),
    "a context": ('msgctxt\n"c"\nmsgid "A"\nmsgstr "B"', {"msgctxt": None}),
    "escapes": ('msgid "\\x41"\nmsgstr "\\102"', {}),
    "a second header": ('msgid ""\nmsgstr "Language: ko\\n"\n\nmsgid "A"\nmsgstr "B"', {}),
    "obsolete": ('#~msgid ""\n#~ "A"\n#~ msgstr "B"', {"obsolete": True}),
    "a former obsolete one": ('#~| msgid "O"\n#~ msgid "A"\n#~ msgstr "B"', {"obsolete": True}),
}


@pytest.mark.parametrize(("text", "fields"), SHAPES.values(), ids=SHAPES)
def test_what_gettext_reads_is_read(tmp_path: Path, text: str, fields: dict[str, object]) -> None:
    path = tmp_path / "page.po"
    path.write_text(f"{HEADER}{text}", encoding="utf-8")
    [entry] = read_catalog(path)
    assert (entry.msgid, entry.msgstr) == ("A", "B")
    assert {name: getattr(entry, name) for name in fields} == fields


def test_many_texts_in_a_line_take_no_time(tmp_path: Path) -> None:
    path = tmp_path / "page.po"
    path.write_text(HEADER + 'msgid "A"\nmsgstr ' + '"b" ' * 100_000 + "# why\n")
    start = time.process_time()
    [entry] = read_catalog(path)
    assert entry.msgstr == "b" * 100_000
    assert time.process_time() - start < 2


def test_bytes_in_escapes_are_read_as_utf8(tmp_path: Path) -> None:
    """``msgcat --escape`` writes all but ASCII so."""
    path = tmp_path / "page.po"
    path.write_text(f'{HEADER}msgid "A"\nmsgstr "\\354\\240\\234\\xeb\\xaa\\xa9 \\377"\n')
    [entry] = read_catalog(path)
    assert entry.msgstr == "제목 \\377"


@pytest.mark.parametrize("charset", ["CHARSET", "utf-8 ", "UTF-8; format=flowed"])
def test_only_the_header_names_the_encoding(tmp_path: Path, charset: str) -> None:
    path = tmp_path / "page.po"
    header = HEADER.replace("UTF-8", charset)
    path.write_text(f'# charset=latin-1\n{header}msgid "charset=cp949"\nmsgstr "B"\n')
    assert [entry.msgid for entry in read_catalog(path)] == ["charset=cp949"]


def test_another_encoding_in_any_header_is_told(tmp_path: Path) -> None:
    path = tmp_path / "page.po"
    path.write_text(f'{HEADER}msgid ""\nmsgstr "char"\n"set=EUC-KR\\n"\n')
    with pytest.raises(GalleryError, match=r"page\.po:4: the charset is EUC-KR, not UTF-8; write"):
        read_catalog(path)


def test_a_message_knows_its_line_and_the_header_its_fields(tmp_path: Path) -> None:
    path = tmp_path / "page.po"
    path.write_text(
        f'# by Kim\n{HEADER}# why\n# and how\nmsgid "A"\nmsgstr "B"\n\nmsgid "C"\nmsgstr "D"'
    )
    catalog = read_catalog(path)
    assert [entry.linenum for entry in catalog] == [5, 10]
    assert (catalog.header, catalog[0].tcomment) == ("by Kim", "why\nand how")
    assert catalog.metadata == {"Content-Type": "text/plain; charset=UTF-8"}


def test_a_catalog_is_read_as_it_was_written(tmp_path: Path) -> None:
    catalog = polib.POFile(wrapwidth=WIDTH)
    catalog.header = "by Kim\nand Lee"
    catalog.metadata = {"Language": "ko", "Content-Type": "text/plain; charset=UTF-8"}
    catalog.append(
        polib.POEntry(
            msgid='A "quoted" text with a \\ and\ta line\nor two. ' * 5,
            msgstr="번역",
            tcomment="why\n\nso",
            comment="Title",
            occurrences=[("a.py", "1"), ("b.rst", "")],
            flags=["fuzzy", "python-format"],
            previous_msgid="An older text. " * 9,
        )
    )
    catalog.append(polib.POEntry(msgid="One", msgid_plural="Ones", msgstr_plural={0: "하나"}))
    catalog.append(polib.POEntry(msgid="Gone", msgstr="감", obsolete=True))
    path = tmp_path / "page.po"
    assert write_catalog(path, catalog)
    assert str(read_catalog(path)) == str(catalog)
    assert not write_catalog(path, read_catalog(path))
