"""What a commit has published: the recordings and figures that git keeps of it."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...errors import GalleryError
from ...recipes.measurements import Figures, figures_path, load_figures
from ...recipes.recording import name_device
from ...recipes.replicates import replicates_path
from ..programs import ask

ANSWER = 60  # seconds in which git has to answer


@dataclass(frozen=True, kw_only=True)
class Published:
    """What a commit has of one recipe."""

    figures: Figures
    notebook: str  # the text of the recording, empty if there is none
    replicates: frozenset[str]  # lines of its replicates

    @property
    def device(self) -> str:
        """The GPU or else the CPU of its recording, empty if it is not known."""
        try:
            return name_device(json.loads(self.notebook)["metadata"]["recording"]["device"])
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
            return ""


@dataclass(frozen=True, kw_only=True)
class Commit:
    """A commit of the repository around a folder."""

    root: Path
    name: str  # as it was asked for
    sha: str

    def load(self, recording: Path) -> Published:
        """Return what it has of a recipe; ``recording`` is where that lies in the working tree.

        Raises ``GalleryError`` if its figures are damaged.
        """
        stored, known = self._read(figures_path(recording)), Figures()
        try:
            if stored:
                known = load_figures(recording, stored.encode())
        except GalleryError as error:
            path = Path(f"{self.name}:{figures_path(recording)}")
            remedy = "compare with another commit"
            raise GalleryError(error.text, path=path, line=error.line, remedy=remedy) from None
        lines = self._read(replicates_path(recording)).splitlines()
        return Published(
            figures=known,
            notebook=self._read(recording),
            replicates=frozenset(line.strip() for line in lines),
        )

    def _read(self, path: Path) -> str:
        """Return the text of a file in the commit, empty if it has none."""
        place = os.path.relpath(path, self.root).replace(os.sep, "/")
        status, text = _ask_git(self.root, ["show", f"{self.sha}:./{place}"])
        return "" if status else text


def find_commit(root: Path, name: str) -> Commit:
    """Return a commit, or the one of a branch or tag; ``GalleryError`` if there is none."""
    question = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"]
    status, answer = _ask_git(root, question)
    if status:
        remedy = "name a branch, a tag or a commit of this repository"
        raise GalleryError(f"git knows no commit {name!r}", path=root, remedy=remedy)
    return Commit(root=root, name=name, sha=answer.strip())


def _ask_git(root: Path, question: Sequence[str]) -> tuple[int, str]:
    try:
        done = ask(["git", "-C", str(root), *question], seconds=ANSWER)
    except FileNotFoundError:
        raise GalleryError("git is not installed", remedy="install it") from None
    except (OSError, ValueError) as error:  # also of time; a null byte in a name
        raise GalleryError(f"git: {error}", path=root) from None
    return done.returncode, done.stdout
