"""Settings of recording, read from ``recording.toml`` beside the recipes; each may be left out.

``[limits]``
    ``cell_timeout`` and ``deadline``, in seconds, for recipes that set none; ``cell_timeout`` also
    bounds the probe. ``output_limit``: how many MB all cells of a recipe may print and show.
``[environment]``
    Variables to set for each recipe. ``{scratch}`` in a value is a folder of the recipe's own,
    empty at its start, ``{recipes}`` that of the recipes. ``inherit``, a list of names such as
    ``["HF_TOKEN", "SLURM_*"]``, passes on more of the recorder's variables than those that
    ``PASSED`` in environment_variables.py lists.
``[provenance]``
    ``packages``, whose versions a recording names, and ``probe``: a program that prints one JSON
    object with ``gpu`` (whether the libraries can use it) and ``versions``.
``[output]``
    ``drop``: lines that are left out of outputs, in patterns as ``inherit`` has: ``AUTOTUNE *``.
"""

import json
import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import fastjsonschema

from ..errors import GalleryError

FILE_NAME = "recording.toml"
_SCHEMA = Path(__file__).with_name("recording.schema.json").read_text(encoding="utf-8")
_validate = fastjsonschema.compile(json.loads(_SCHEMA))


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What recording is told about the libraries it runs."""

    cell_timeout: float = 300  # seconds
    deadline: float = 900  # seconds
    output_limit: float = 20  # MB that a recipe may print and show
    environment: dict[str, str] = field(default_factory=dict)
    inherit: Sequence[str] = ()
    packages: Sequence[str] = ()
    probe: str = ""
    drop: Sequence[str] = ()


def load_settings(recipes_folder: Path) -> Settings:
    """Read the settings of a folder of recipes; defaults where there is no file.

    Raises ``GalleryError`` if the file cannot be read or says something else.
    """
    path = recipes_folder / FILE_NAME
    if not (path.exists() or path.is_symlink()):
        return Settings()
    remedy = "mend or remove it"
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8-sig"), parse_float=_read_number)
        _validate(data)
    except OSError as error:
        text = f"cannot be read: {error.strerror}"
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        text, remedy = f"not valid TOML: {error}", "mend the file; it is text in UTF-8"
    except fastjsonschema.JsonSchemaValueException as error:
        said = error.message.removeprefix("data").removeprefix(".").strip()
        if error.rule == "propertyNames":
            said = "environment names a variable with = or a zero byte in its name"
        text, remedy = f"unexpected value: {said}", "correct it in this file"
    else:
        variables = data.get("environment", {})
        inherit = variables.pop("inherit", ())
        named = data.get("limits", {}) | data.get("provenance", {}) | data.get("output", {})
        environment = {name: str(each) for name, each in variables.items()}
        return Settings(environment=environment, inherit=inherit, **named)
    raise GalleryError(text, path=path, remedy=remedy) from None


def _read_number(text: str) -> float | str:
    """Return a number, and as text what no schema can refuse: nan."""
    number = float(text)
    return number if math.isfinite(number) else text
