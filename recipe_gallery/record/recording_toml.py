"""Settings of recording, read from ``recording.toml`` beside the recipes; each may be left out.

``[limits]``
    ``cell_timeout`` and ``deadline``, in seconds, for recipes that set none; ``cell_timeout`` also
    bounds the probe. ``output_limit``: how many MB all cells of a recipe may print and show;
    a single picture may take a quarter of it.
``[environment]``
    Variables to set for each recipe. ``{scratch}`` in a value is a folder of the recipe's own,
    empty at its start, ``{recipes}`` that of the recipes. ``inherit``, a list of names such as
    ``["HF_TOKEN", "SLURM_*"]``, passes on more of the recorder's variables than those that
    ``PASSED`` in environment.py lists.
``[provenance]``
    ``packages``, whose versions a recording names, and ``probe``: a program that prints one JSON
    object with ``gpu`` (whether the libraries can use it) and ``versions``.
``[output]``
    ``drop``: regular expressions; lines that begin like one of them are left out of outputs.
"""

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import GalleryError
from ..recipes.settings import is_seconds, is_strings

FILE_NAME = "recording.toml"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What recording is told about the libraries it runs."""

    cell_timeout: float = 300  # seconds
    deadline: float = 900  # seconds
    output_limit: float = 20  # MB that a recipe may print and show
    environment: dict[str, str] = field(default_factory=dict)
    inherit: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    probe: str = ""
    drop: tuple[re.Pattern[str], ...] = ()


def _is_value(value: object) -> bool:
    return type(value) in (str, int, float) and "\0" not in str(value)


_Kind = tuple[Callable[[Any], bool], str]
_SECONDS: _Kind = is_seconds, "a number of seconds above 0, at most 1,000,000"
_SIZE: _Kind = is_seconds, "a number of MB above 0"
_STRINGS: _Kind = is_strings, "a list of strings"
_VALUE: _Kind = _is_value, "a string or a number"
# What each table may hold; "*" stands for any name of a variable.
_TABLES: dict[str, dict[str, _Kind]] = {
    "limits": {"cell_timeout": _SECONDS, "deadline": _SECONDS, "output_limit": _SIZE},
    "environment": {"inherit": _STRINGS, "*": _VALUE},
    "provenance": {
        "packages": _STRINGS,
        "probe": (lambda value: isinstance(value, str) and "\0" not in value, "a program"),
    },
    "output": {"drop": _STRINGS},
}


def load_settings(recipes_folder: Path) -> Settings:
    """Read the settings of a folder of recipes; defaults where there is no file.

    Raises ``GalleryError`` if the file cannot be read or says something else.
    """
    path = recipes_folder / FILE_NAME
    try:
        return _parse(tomllib.loads(path.read_text(encoding="utf-8-sig")))
    except FileNotFoundError:
        if not path.is_symlink():
            return Settings()
        remedy = "remove it or put the file there"
        raise GalleryError("a link that leads nowhere", path=path, remedy=remedy) from None
    except OSError as error:
        remedy = "mend or remove it"
        raise GalleryError(f"cannot be read: {error.strerror}", path=path, remedy=remedy) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        remedy = "mend the file; it is text in UTF-8"
        raise GalleryError(f"not valid TOML: {error}", path=path, remedy=remedy) from None
    except re.error as error:
        text = f"[output] drop: not a regular expression: {error}"
        raise GalleryError(text, path=path, remedy="mend the pattern") from None
    except ValueError as error:
        remedy = "compare with CONTRIBUTING.md"
        raise GalleryError(f"unexpected value: {error}", path=path, remedy=remedy) from None


def _parse(data: dict[str, Any]) -> Settings:
    for table, values in data.items():
        known = _TABLES.get(table)
        if known is None or not isinstance(values, dict):
            raise ValueError(f"{table}; there are the tables {', '.join(_TABLES)}")
        for name, value in values.items():
            is_right, needed = known.get(name) or known.get("*") or (None, "")
            if is_right is None:
                raise ValueError(f"[{table}] {name}; there are {', '.join(known)}")
            if not is_right(value):
                raise ValueError(f"[{table}] {name} = {value!r} is not {needed}")
    variables = dict(data.get("environment", {}))
    inherit = variables.pop("inherit", [])
    for name in variables:
        if not name or "=" in name or "\0" in name:
            raise ValueError(f"[environment] {name!r} cannot be the name of a variable")
    provenance = data.get("provenance", {})
    return Settings(
        **data.get("limits", {}),
        environment={name: str(value) for name, value in variables.items()},
        inherit=tuple(inherit),
        packages=tuple(provenance.get("packages", ())),
        probe=provenance.get("probe", ""),
        drop=tuple(re.compile(each) for each in data.get("output", {}).get("drop", ())),
    )
