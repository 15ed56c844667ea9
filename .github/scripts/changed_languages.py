"""Tell a workflow which languages a change concerns.

Reads the names of the changed files, each ended by a zero byte as ``git diff -z`` writes them, and
prints the outputs of the step: ``languages`` for LANGUAGES of `make html`, and ``name``, the same
with hyphens. Both are empty if no page changes.
"""

import re
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

# What the pages of every language are made from. The rest, such as tests, changes no page.
SHARED = re.compile(
    r"[^/]+\.rst|languages\.toml|locale/(glossary|synonyms)\.csv|conf\.py|Makefile"
    r"|requirements\.txt|constraints\.txt"
    r"|(_static|_templates|sphinx_recorded_gallery|second_call|recipes_source|recordings)/.+",
    re.DOTALL,
)
CATALOG = re.compile(r"locale/(?P<language>[^/]+)/.+", re.DOTALL)


def find_changed(files: Iterable[str]) -> list[str]:
    """Return the codes of the languages whose pages change, in the order of ``languages.toml``."""
    known = tomllib.loads(Path("languages.toml").read_text(encoding="utf-8"))
    changed = set()
    for file in files:
        if SHARED.fullmatch(file):
            changed |= {code for code, entry in known.items() if entry.get("published", True)}
        elif match := CATALOG.fullmatch(file):
            code = match["language"]
            if code not in known and Path("locale", code).is_dir():  # a removed one is no mistake
                sys.exit(
                    f"error: {file!r}: no language {code!r} in languages.toml; "
                    "to add one: make new-language LANGUAGES=ja"
                )
            changed.add(code)
    return [code for code in known if code in changed]


if __name__ == "__main__":
    names = sys.stdin.buffer.read().decode("utf-8", errors="replace")
    languages = find_changed(name for name in names.split("\0") if name)
    print(f"languages={' '.join(languages)}")
    print(f"name={'-'.join(languages)}")
