"""Write the map of the two packages into README.md: each folder and module with what it is for.

``--check`` writes nothing and fails if the map is not current. The texts are the first lines of
the modules' docstrings.
"""

import ast
import re
import sys
from pathlib import Path

PACKAGES = ("recipe_gallery", "second_call")
START, END = "<!-- map: made by `make map` -->\n", "<!-- end of the map -->\n"


def main() -> int:
    """Bring README.md up to date, or tell that it is not."""
    path = Path("README.md")
    text = path.read_text(encoding="utf-8")
    before, _start, rest = text.partition(START)
    _old, end, after = rest.partition(END)
    if not end:
        sys.exit(f"error: README.md: no lines {START.strip()} and {END.strip()}; put them back")
    new = f"{before}{START}{make_map()}{END}{after}"
    if new == text:
        return 0
    if "--check" in sys.argv:
        sys.exit("error: README.md: its map is not that of the modules; run: make map")
    path.write_text(new, encoding="utf-8")
    return 0


def make_map() -> str:
    """Return a table for each package, a row for each module, folder by folder."""
    lines = []
    for package in PACKAGES:
        lines += ["", f"| `{package}/` | {summary(Path(package, '__init__.py'))} |", "|---|---|"]
        lines += list(rows(Path(package), ""))
    return "\n".join([*lines, "", ""])


def rows(folder: Path, prefix: str) -> list[str]:
    """Return the rows of a folder: its modules first, then its folders."""
    found = []
    for path in sorted(folder.glob("*.py")):
        if path.name != "__init__.py":
            found.append(f"| `{prefix}{path.stem}` | {summary(path)} |")
    for inner in sorted(path for path in folder.iterdir() if (path / "__init__.py").exists()):
        found.append(f"| **`{prefix}{inner.name}/`** | **{summary(inner / '__init__.py')}** |")
        found += rows(inner, f"{prefix}{inner.name}/")
    return found


def summary(path: Path) -> str:
    """Return the first line of a module's docstring."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    if not text:
        sys.exit(f"error: {path}: no docstring; say in one line what the module is for")
    return re.sub(r"``", "`", text.partition("\n")[0]).replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main())
