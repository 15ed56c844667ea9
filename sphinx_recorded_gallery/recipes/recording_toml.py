"""Settings of recording, read from ``recording.toml`` beside the recipes; all are optional.

``[limits]``
    ``cell_timeout`` and ``deadline``, in seconds, for recipes that do not set them; the former also
    bounds the probe. ``output_limit``: MB of output that all cells of a recipe may have.
``[environment]``
    Variables to set for each recipe. ``{scratch}`` in a value is an empty folder for the recipe
    alone, ``{recipes}`` the folder of the recipes; other words in braces stay as they are.
    ``inherit``, a list of names such as ``["MY_TOKEN", "SLURM_*"]``, passes on more of the
    recorder's variables than those in ``PASSED`` of environment_variables.py.
``[provenance]``
    ``packages``: those whose versions a recording names. ``probe``: a program that prints a JSON
    object with ``gpu`` (whether libraries can use it) and ``versions``. ``release``: the package
    that the recipes measure; its releases are told apart, ``2.15`` for 2.15.0 and 2.15.1.
    ``current``: the release that pages should show.
``[output]``
    ``drop``: lines to leave out of outputs, as patterns with wildcards: ``AUTOTUNE *``.
"""

from __future__ import annotations

import difflib
import json
import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import GalleryError

if TYPE_CHECKING:
    from fastjsonschema import JsonSchemaValueException

FILE_NAME = "recording.toml"
SCRATCH, RECIPES = "scratch", "recipes"  # folders that values of variables name in braces
_FOLDERS = (SCRATCH, RECIPES)
_LEAST_LIKENESS = 0.77  # of a misspelled name of a folder


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of recording for one folder of recipes."""

    cell_timeout: float = 300  # seconds
    deadline: float = 900  # seconds
    output_limit: float = 20  # MB of output of a recipe
    environment: dict[str, str] = field(default_factory=dict)
    inherit: Sequence[str] = ()
    packages: Sequence[str] = ()
    probe: str = ""
    release: str = ""  # the package; without it, releases are not told apart
    current: str = ""  # the release that pages should show
    drop: Sequence[str] = ()


def load_settings(recipes_folder: Path) -> Settings:
    """Return the settings of a folder of recipes; the defaults without a file.

    Raises ``GalleryError`` if the file cannot be read or is invalid.
    """
    path = recipes_folder / FILE_NAME
    if not (path.exists() or path.is_symlink()):
        return Settings()
    from fastjsonschema import JsonSchemaValueException  # slow to import, for a file that few have

    try:
        data = tomllib.loads(path.read_text(encoding="utf-8-sig"), parse_float=_parse_float)
        _validator()(data)
    except OSError as error:
        text = f"cannot be read: {error.strerror}"
        raise GalleryError(text, path=path, remedy="mend or remove it") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        remedy = "mend the file; it is text in UTF-8"
        raise GalleryError(f"not valid TOML: {error}", path=path, remedy=remedy) from None
    except JsonSchemaValueException as error:
        if error.rule == "additionalProperties":
            raise _unknown_name(path, error) from None
        problem = error.message.removeprefix("data").removeprefix(".").strip()
        if error.rule == "propertyNames":
            problem = "environment names a variable with = or a zero byte in its name"
        text = f"unexpected value: {problem}"
        raise GalleryError(text, path=path, remedy="correct it in this file") from None
    variables = data.get("environment", {})
    inherit = variables.pop("inherit", ())
    environment = {name: str(value) for name, value in variables.items()}
    _refuse_misspelled_folders(path, environment)
    # Python refuses a setting that two of these tables have, rather than lose one of them.
    return Settings(
        environment=environment,
        inherit=inherit,
        **data.get("limits", {}),
        **data.get("provenance", {}),
        **data.get("output", {}),
    )


def _unknown_name(path: Path, error: JsonSchemaValueException) -> GalleryError:
    """Return the error of a name that a table or the whole file does not have."""
    known = error.definition["properties"]
    unknown = ", ".join(name for name in error.value if name not in known)
    table = ".".join(error.path[1:])
    if table:
        text = f"[{table}] has no setting {unknown}"
    else:
        text = f"there is no table [{unknown}]"
    return GalleryError(text, path=path, remedy=f"choose among: {', '.join(known)}")


def _refuse_misspelled_folders(path: Path, environment: Mapping[str, str]) -> None:
    """Raise ``GalleryError`` for a word in braces that is almost the name of a folder.

    The variable would have the braces in its value. Other words belong to whoever reads the
    variable, such as ``{message}`` to a logger.
    """
    for name, value in environment.items():
        for word in re.findall(r"\{([^{}]*)\}", value):
            similar = difflib.get_close_matches(
                word.strip().lower(), _FOLDERS, n=1, cutoff=_LEAST_LIKENESS
            )
            if similar and word not in _FOLDERS:
                text = f"environment.{name}: no folder is called {{{word}}}"
                raise GalleryError(text, path=path, remedy=f"did you mean {{{similar[0]}}}?")


def fill_folders(value: str, folders: Mapping[str, Path]) -> str:
    """Return the value of a variable with the paths of folders, by their names in braces."""
    for name, folder in folders.items():
        value = value.replace(f"{{{name}}}", str(folder))
    return value


@cache
def _validator() -> Any:
    import fastjsonschema

    schema = Path(__file__).with_name("recording_toml.schema.json").read_text(encoding="utf-8")
    return fastjsonschema.compile(json.loads(schema))


def _parse_float(text: str) -> float | str:
    """Return a float; nan and inf stay texts, so that the schema rejects them."""
    number = float(text)
    return number if math.isfinite(number) else text
