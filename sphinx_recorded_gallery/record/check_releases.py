"""Whether recordings have the package and the release that ``recording.toml`` names."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ..errors import GalleryError, visible
from ..project import Project
from ..recipes.recording_toml import FILE_NAME, load_settings
from ..recipes.releases import find_release, sort_releases
from .check_recordings import Report


def find_wrong_packages(project: Project, reports: Sequence[Report]) -> Iterator[GalleryError]:
    """Yield an error for each ``release`` of a package whose version no recording lists.

    All releases would be pooled as one that is unknown.
    """
    for _pages, recipes in project.galleries:
        settings = load_settings(recipes)
        packages: set[str] = set()
        for versions in _list_versions(reports, recipes):
            packages.update(name for name, version in versions.items() if version)
        if settings.release and packages and settings.release not in packages:
            yield GalleryError(
                f"no recording lists a version of {settings.release}, the package of release",
                path=recipes / FILE_NAME,
                remedy=f"choose among: {visible(', '.join(sorted(packages)))}",
            )


def find_unrecorded_releases(project: Project, reports: Sequence[Report]) -> Iterator[GalleryError]:
    """Yield a note for each ``current`` release that no recording or replicate has.

    It may be right: a maintainer sets it before the first recording of a new release.
    """
    for _pages, recipes in project.galleries:
        settings = load_settings(recipes)
        releases: set[str] = set()
        for versions in _list_versions(reports, recipes):
            releases.add(find_release(versions, settings.release))
        releases.discard("")
        if settings.current and releases and settings.current not in releases:
            recorded = ", ".join(sort_releases(releases))
            yield GalleryError(
                f"no recording has {settings.release} {settings.current}, the current release",
                path=recipes / FILE_NAME,
                remedy=f"record with it, or choose among: {recorded}",
            )


def _list_versions(reports: Sequence[Report], recipes: Path) -> Iterator[Mapping[str, str]]:
    """Yield the versions of packages in each process that recorded a recipe of a folder."""
    for report in reports:
        if report.recipe and report.recipe.path.is_relative_to(recipes):
            yield from report.versions
