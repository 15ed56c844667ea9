"""Settings of recording, read from ``recording.toml`` beside the recipes."""

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import GalleryError
from ..recipes.config_comments import is_seconds, is_strings

FILE_NAME = "recording.toml"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What recording is told about the libraries it runs; every part may be left out."""

    cell_timeout: float = 300  # seconds
    deadline: float = 900  # seconds
    environment: dict[str, str] = field(default_factory=dict)
    packages: tuple[str, ...] = ()
    probe: str = ""
    drop: tuple[re.Pattern[str], ...] = ()


def load_settings(recipes_folder: Path) -> Settings:
    """Read the settings of a folder of recipes; defaults where there is no file."""
    path = recipes_folder / FILE_NAME
    if not path.exists():
        return Settings()
    try:
        return _parse(tomllib.loads(path.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise GalleryError(f"not valid TOML: {error}", path=path) from None
    except re.error as error:
        raise GalleryError(f"[output] drop: not a regular expression: {error}", path=path) from None
    except (TypeError, AttributeError, KeyError, ValueError) as error:
        raise GalleryError(
            f"unexpected value: {error}", path=path, remedy="compare with CONTRIBUTING.md"
        ) from None


def _parse(data: dict[str, Any]) -> Settings:
    limits, provenance = data.get("limits", {}), data.get("provenance", {})
    packages, drop = provenance.get("packages", []), data.get("output", {}).get("drop", [])
    needed = {"number of seconds above 0": (is_seconds, limits.values())}
    needed |= {"list of strings": (is_strings, [packages, drop])}
    for kind, (is_right, values) in needed.items():
        for value in values:
            if not is_right(value):
                raise ValueError(f"{value!r} is not a {kind}")
    return Settings(
        **limits,
        environment={name: str(value) for name, value in data.get("environment", {}).items()},
        packages=tuple(packages),
        probe=provenance.get("probe", ""),
        drop=tuple(map(re.compile, drop)),
    )
