"""``TRANSLATING.md``: the page for translators, for those who read it in the repository."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from recipe_gallery.errors import GalleryError

PAGE = "translating"
TARGET = "TRANSLATING.md"
_NOTE = f"<!-- Made from {PAGE}.rst by `make update-po`; edit that file. -->\n\n"


def make_guide(root: Path) -> str:
    """Return the page as Markdown, its links to other pages leading to their sources."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out")
        command = [sys.executable, "-m", "sphinx", "-q", "-b", "markdown", "-d", f"{folder}/d"]
        done = subprocess.run(
            [*command, str(root), str(out), str(root / f"{PAGE}.rst")],
            cwd=root,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise GalleryError(f"{PAGE}.rst cannot be rendered:\n{done.stderr.strip()}")
        text = (out / f"{PAGE}.md").read_text(encoding="utf-8")
    text = text.replace("](glossary.md)", "](locale/glossary.csv)")  # GitHub shows it as a table
    return _NOTE + re.sub(r"\]\((\w+)\.md\)", r"](\1.rst)", text).rstrip() + "\n"


def write_guide(root: Path) -> None:
    """Bring ``TRANSLATING.md`` up to date."""
    text, path = make_guide(root), root / TARGET
    if path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
        print(f"updated {path}")
