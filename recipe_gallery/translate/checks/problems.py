"""The problems that checks find: as text, annotations of GitHub, or JSON."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...errors import GalleryError, visible


@dataclass(frozen=True, kw_only=True)
class Problem:
    """What is wrong at one line of a catalog."""

    path: Path
    line: int
    message: str
    check: str
    breaks: bool = False

    def __str__(self) -> str:
        return self.describe()

    def describe(self, root: Path | None = None) -> str:
        """Return one line; a path below ``root`` is shown relative to it."""
        text = f"{' '.join(self.message.split(chr(10)))} ({self.check})"
        return GalleryError(text, path=self.path, line=self.line).describe(root)


def format_problems(problems: Sequence[Problem], form: str) -> str:
    """Return the problems as text, as annotations of GitHub, or as JSON."""
    if form == "json":
        rows = [
            {
                "file": str(each.path),
                "line": each.line,
                "message": each.message,
                "check": each.check,
            }
            for each in problems
        ]
        return json.dumps(rows, ensure_ascii=False, indent=1)
    if form == "github":
        return "\n".join(
            f"::error file={_escape(str(each.path), ':,')},line={each.line},title={each.check}::"
            + _escape(each.message)
            for each in problems
        )
    counts = Counter(each.check for each in problems)
    names = ", ".join(f"{name}: {count}" for name, count in counts.most_common())
    count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
    total = f"{count} ({names})" if problems else "no problems"
    return "\n".join([*map(str, problems), total])


def _escape(text: str, others: str = "") -> str:
    """Escape what would end a text of an annotation, and ``others``."""
    for each in f"%\r\n{others}":
        text = text.replace(each, f"%{ord(each):02X}")
    return visible(text)
