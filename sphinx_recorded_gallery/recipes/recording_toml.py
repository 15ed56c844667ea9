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
    object with ``gpu`` (whether the libraries can use it) and ``versions``. ``release`` names the
    package that the recipes measure: its releases are told apart, ``2.15`` for 2.15.0 and 2.15.1.
    ``current`` is the release that pages should show.
``[output]``
    ``drop``: lines that are left out of outputs, in patterns as ``inherit`` has: ``AUTOTUNE *``.
"""

import json
import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import GalleryError

FILE_NAME = "recording.toml"


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
    release: str = ""  # the package; without one no releases are told apart
    current: str = ""  # release of it that pages should show
    drop: Sequence[str] = ()


def load_settings(recipes_folder: Path) -> Settings:
    """Read the settings of a folder of recipes; defaults where there is no file.

    Raises ``GalleryError`` if the file cannot be read or says something else.
    """
    path = recipes_folder / FILE_NAME
    if not (path.exists() or path.is_symlink()):
        return Settings()
    from fastjsonschema import JsonSchemaValueException  # slow to import, for a file that few have

    remedy = "mend or remove it"
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8-sig"), parse_float=_read_number)
        _validator()(data)
    except OSError as error:
        text = f"cannot be read: {error.strerror}"
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        text, remedy = f"not valid TOML: {error}", "mend the file; it is text in UTF-8"
    except JsonSchemaValueException as error:
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


@cache
def _validator() -> Any:
    import fastjsonschema

    schema = Path(__file__).with_name("recording.schema.json").read_text(encoding="utf-8")
    return fastjsonschema.compile(json.loads(schema))


def _read_number(text: str) -> float | str:
    """Return a number, and as text what no schema can refuse: nan."""
    number = float(text)
    return number if math.isfinite(number) else text
