"""Releases of the package that a gallery measures: ``2.15`` stands for 2.15.0 and 2.15.1.

``recording.toml`` names the package. If it names none, releases are not told apart: every process
has the release "". So has a process whose recording does not name the package's version.
"""

import re
from collections.abc import Iterable, Mapping

_RELEASE = re.compile(r"v?(\d+(?:\.\d+)?)")


def find_release(versions: Mapping[str, str], package: str) -> str:
    """Return the first two components of a package's version; empty if it is unknown."""
    version = str(versions.get(package) or "")
    match = _RELEASE.match(version)
    if not package or not match:
        return ""
    return match[1]


def sort_releases(releases: Iterable[str]) -> list[str]:
    """Return each release once, the newest first."""
    return sorted(set(releases), key=_components, reverse=True)


def find_outdated(versions: Mapping[str, str], package: str, current: str) -> str:
    """Return the release of a package among versions if it is older than the current release.

    Empty if it is not, or if the versions do not name the package.
    """
    release = find_release(versions, package)
    newest, *_older = sort_releases([current, release])
    if newest == release:
        return ""
    return release


def _components(release: str) -> tuple[int, ...]:
    return tuple(int(component) for component in release.split(".") if component)
