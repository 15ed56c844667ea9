"""Settings of recording, read from ``recording.toml`` beside the recipes."""

import math
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..project import GalleryError

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

    def kernel_environment(self, *, scratch: Path, recipes: Path) -> dict[str, str]:
        """Return the variables to set for one recipe, folders filled in."""
        return {
            name: value.replace("{scratch}", str(scratch)).replace(
                "{recipes}", str(recipes.resolve())
            )
            for name, value in self.environment.items()
        }


def load_settings(recipes_folder: Path) -> Settings:
    """Read the settings of a folder of recipes; defaults where there is no file."""
    path = recipes_folder / FILE_NAME
    if not path.exists():
        return Settings()
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        return _parse(data)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise GalleryError(f"not valid TOML: {error}", path=path) from None
    except re.error as error:
        raise GalleryError(f"[output] drop: not a regular expression: {error}", path=path) from None
    except (TypeError, AttributeError, KeyError, ValueError) as error:
        raise GalleryError(
            f"unexpected value: {error}", path=path, remedy="compare with CONTRIBUTING.md"
        ) from None


def _parse(data: dict[str, Any]) -> Settings:
    provenance = data.get("provenance", {})
    return Settings(
        **{name: _seconds(value) for name, value in data.get("limits", {}).items()},
        environment={name: str(value) for name, value in data.get("environment", {}).items()},
        packages=_strings(provenance.get("packages", [])),
        probe=provenance.get("probe", ""),
        drop=tuple(re.compile(p) for p in _strings(data.get("output", {}).get("drop", []))),
    )


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise ValueError(f"{value!r} is not a number of seconds above 0")
    return float(value)


def _strings(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"{value!r} is not a list of strings")
    return tuple(value)
