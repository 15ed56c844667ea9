"""What changed English means for translators: the templates here and those of another commit."""

import subprocess
from collections.abc import Mapping

import polib

from ..errors import GalleryError
from ..project import Project
from .catalogs import count_words, shorten
from .pot import read_pots
from .update import differ_in_marks_only, most_alike


def find_impact(project: Project, base: str) -> str:
    """Compare the templates with those of the commit ``base``; return Markdown for people.

    Raises ``GalleryError`` if git does not know it.
    """

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(project.locale), *arguments]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            reason = done.stderr.strip().partition("\n")[0]
            remedy = "name a commit or a branch, such as main"
            raise GalleryError(f"no commit {base!r} here ({reason})", remedy=remedy)
        return done.stdout

    files = git("ls-tree", "-r", "--name-only", base, "templates/").splitlines()
    old = {
        file.removeprefix("templates/").removesuffix(".pot"): [
            entry.msgid for entry in polib.pofile(git("show", f"{base}:./{file}") + "\n")
        ]
        for file in files
    }
    new = {name: [entry.msgid for entry in pot] for name, pot in read_pots(project).items()}
    return format_impact(old, new)


def format_impact(old: Mapping[str, list[str]], new: Mapping[str, list[str]]) -> str:
    """Return what changed, page by page, fit for a comment on a pull request."""
    before, after = ({text for texts in each.values() for text in texts} for each in (old, new))
    gone = before - after
    pairs = {text: most_alike(text, sorted(gone), gone, ()) for text in sorted(after - before)}
    to_do = {text for text, was in pairs.items() if not (was and differ_in_marks_only(was, text))}
    lines = ["| Page | New | Changed | Removed | Words to translate |", "|---|---:|---:|---:|---:|"]
    told = []
    for page in sorted({*old, *new}):
        added = [text for text in new.get(page, ()) if text in to_do]
        removed = [text for text in old.get(page, ()) if text in gone - {*pairs.values()}]
        changed = [text for text in added if pairs[text]]
        if added or removed:
            counts = len(added) - len(changed), len(changed), len(removed)
            words = sum(map(count_words, added))
            lines.append(f"| `{page}` | {' | '.join(map(str, counts))} | {words} |")
            told += [
                f"- {page}: {shorten(text)}, was {shorten(pairs[text] or '')}" for text in changed
            ]
    if len(lines) == 2:
        return "No message that translators see has changed."
    words = sum(map(count_words, to_do))
    return "\n".join([*lines, "", f"{words} words to translate in each language.", "", *told])
