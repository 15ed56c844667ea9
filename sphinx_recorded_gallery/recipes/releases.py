"""Releases of the package that a gallery measures: ``2.15`` stands for 2.15.0 and 2.15.1.

``recording.toml`` names the package. Where it names none, there are no releases: all processes are
of the release "", and so are those whose recordings do not tell the package's version.
"""

import re
from collections.abc import Iterable, Mapping

_RELEASE = re.compile(r"v?(\d+(?:\.\d+)?)")


def find_release(versions: Mapping[str, str], package: str) -> str:
    """Return the first two components of the version of a package; empty if it is not told."""
    version = _RELEASE.match(str(versions.get(package) or "")) if package else None
    return version[1] if version else ""


def sort_releases(releases: Iterable[str]) -> list[str]:
    """Return each release once, the newest first."""
    return sorted(set(releases), key=_components, reverse=True)


def _components(release: str) -> tuple[int, ...]:
    return tuple(int(component) for component in release.split(".") if component)
