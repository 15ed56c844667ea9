"""Commands that record examples, and report the state of recordings."""

import argparse
import difflib
import shlex
import sys
from pathlib import Path

from ..errors import GalleryError, describe_error
from ..project import Project
from .arguments import RECIPES, RECORDINGS, argument, command, count


@command("check", RECORDINGS)
def check(project: Project, options: argparse.Namespace) -> bool:
    """Report which recordings are missing, stale or current, and what texts claim wrongly."""
    from ..record.check_claims import check_claims
    from ..record.check_recordings import (
        check_recordings,
        check_texts,
        describe_cost,
        format_reports,
    )
    from ..record.check_releases import find_unrecorded_releases, find_wrong_packages

    reports = check_recordings(project, options.recordings_folder)
    print(format_reports(reports))
    for line in describe_cost(reports):
        print(line)
    for note in find_unrecorded_releases(project, reports):
        print(f"note: {note.describe(Path.cwd())}")
    folder = options.recordings_folder or project.recordings
    wrong_packages = list(find_wrong_packages(project, reports))
    for error in wrong_packages:
        print(f"error: {error.describe(Path.cwd())}")
    problems = [error.describe(Path.cwd()) for error in check_claims(project, folder)]
    try:
        problems += check_texts(project)
    except GalleryError as error:
        if not any(describe_error(error) == report.detail for report in reports):
            raise
        return False  # the recipe that cannot be read is reported above
    for problem in problems:
        print(problem)
    if problems:
        texts = "text" if len(problems) == 1 else "texts"
        print(f"{len(problems)} {texts} to correct")
    are_current = all(report.status == "current" and not report.error for report in reports)
    has_wrong_units = any(report.has_wrong_units for report in reports)
    return are_current and not has_wrong_units and not problems and not wrong_packages


@command(
    "record",
    argument("recipes", nargs="*", help="names of examples; by default all that changed"),
    argument("--force", action="store_true", help="record current ones again"),
    argument("--replace-gpu", action="store_true", help="let a CPU recording replace a GPU one"),
    argument("--replicates", type=count, default=0, metavar="N", help="fresh processes of each"),
    argument(
        "--scheduler",
        metavar="ADDRESS",
        help="a Dask scheduler, such as tcp://host:8786",
    ),
    argument("--device", choices=("gpu", "cpu"), help="by default that of conf.py"),
    argument("--workers", type=count, metavar="N", help="tasks at once; by default one per GPU"),
    RECORDINGS,
)
def record(project: Project, options: argparse.Namespace) -> bool:
    """Run examples and record their outputs."""
    try:
        from ..record.record_recipes import Options
        from ..record.record_recipes import record as record_recipes

        wanted = Options(
            folder=options.recordings_folder,
            device=options.device or project.config.recorded_gallery_device,
            force=options.force,
            replace_gpu=options.replace_gpu,
            replicates=options.replicates,
            workers=options.workers,
            scheduler=options.scheduler,
        )
        return record_recipes(project, options.recipes, wanted)
    except ModuleNotFoundError as error:
        text = f"recording needs the package {error.name}"
        extra = "machines" if error.name in ("dask", "distributed") else "record"
        raise GalleryError(text, remedy=f"run: {_suggest_installation(extra)}") from None


def _suggest_installation(extra: str) -> str:
    """Return the command that installs an extra of the engine, also of a checkout."""
    source = "sphinx-recorded-gallery"
    folder = Path(__file__).parents[2]
    if (folder / "pyproject.toml").is_file():
        source = str(folder)
    return shlex.join([sys.executable, "-m", "pip", "install", f"{source}[{extra}]"])


@command(
    "drift",
    RECIPES,
    argument("--base", default="HEAD", help="the commit to compare with"),
    argument("--release", metavar="N", help="another release to compare with, such as 2.11"),
    RECORDINGS,
)
def drift(project: Project, options: argparse.Namespace) -> None:
    """Report measurements outside the ranges of a commit, or moved since a release."""
    from ..record.drift import describe_drift, describe_releases

    folder: Path | None = options.recordings_folder  # without one, that of conf.py
    if folder and not folder.is_dir():
        remedy = "name the folder of a recorded machine"
        machines = [path.name for path in folder.parent.glob("*/")]
        similar = difflib.get_close_matches(folder.name, machines, n=1)
        if similar:
            remedy = f"did you mean {similar[0]}?"
        raise GalleryError("no such folder of recordings", path=folder, remedy=remedy)
    if options.release:
        print(describe_releases(project, options.recipes, options.release, folder), end="")
        return
    print(describe_drift(project, options.recipes, options.base, folder), end="")
