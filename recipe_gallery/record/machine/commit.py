"""The commit of what is recorded, as git tells it, or why there is none."""

import os
import re
from pathlib import Path
from typing import Any

from ..programs import ask

ANSWER = 60  # seconds in which git has to answer


def describe_commit(path: Path) -> tuple[dict[str, Any], str]:
    """Return the commit checked out around ``path`` and whether files below it differ from it.

    Where no commit is known, ``commit_unknown`` says why. The second value is what to tell the
    person who records, if anything.
    """
    git = ["git", "-C", str(path)]
    # Of the repository around the path, also where hooks of git name another.
    elsewhere = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")
    variables = {name: value for name, value in os.environ.items() if name not in elsewhere}
    answers = []
    try:
        for question in (
            ["rev-parse", "HEAD"],
            ["status", "--porcelain", "--untracked-files=normal", "."],
            ["ls-files", "."],
        ):
            done = ask([*git, *question], seconds=ANSWER, environment=variables | {"LC_ALL": "C"})
            if done.returncode:
                return _no_commit(done.stderr)
            answers.append(done.stdout)
    except FileNotFoundError:
        return _no_commit("git is not installed")
    except (OSError, TimeoutError) as error:
        return _no_commit(str(error))
    commit, changes, files = answers
    if not (changes or files):  # the commit of whatever lies around it
        return _no_commit("git ignores it")
    note = f"{path} has uncommitted changes; the recordings will say so" if changes else ""
    return {"commit": commit.strip(), "modified": bool(changes)}, note


def _no_commit(answer: str) -> tuple[dict[str, Any], str]:
    """Return what is told instead of a commit, by what git said."""
    reasons = {
        "not a git repository": "no git repository",
        "ambiguous argument 'HEAD'": "no commit yet",
        "git is not installed": "git is not installed",
        "git ignores it": "git ignores it",
    }
    why = next((why for said, why in reasons.items() if said in answer), "git refuses")
    note = f"the recordings will name no commit: {why}"
    if why == "git refuses":
        note += f": {(answer.strip() or 'no answer').splitlines()[0].removeprefix('fatal: ')}"
        if remedy := re.search(r"git config --global --add safe\.directory .+", answer):
            note += f"; if you trust it, run: {remedy[0].strip()}"
    return {"commit": None, "modified": False, "commit_unknown": why}, note
