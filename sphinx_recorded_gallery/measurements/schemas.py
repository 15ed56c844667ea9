"""Check what recipes publish for programs by schemas, and describe mistakes in words.

Descriptions in a schema complete the sentence "it has to be ...".
"""

import json
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent
_SHARED = "rows"  # the schema whose definitions all may use


def validate(value: Any, schema: str) -> None:
    """Raise ``ValueError`` with the mistake of a value, by a schema of this folder."""
    from fastjsonschema import JsonSchemaValueException

    try:
        _validator(schema)(value)
    except JsonSchemaValueException as error:
        raise ValueError(_describe(error)) from None


@cache
def _validator(name: str) -> Any:
    import fastjsonschema  # slow to import and to use, and most pages publish nothing

    schema = _read(name)
    return fastjsonschema.compile({**schema, "definitions": _read(_SHARED)["definitions"]})


def _read(name: str) -> dict[str, Any]:
    text = (_FOLDER / f"{name}.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def _describe(error: Any) -> str:
    """Return the mistake of a value in words, from the descriptions in the schema."""
    text = "a huge number"  # an integer of thousands of digits
    with suppress(ValueError):
        text = repr(error.value)
    needed = error.definition.get("description", error.message)
    what = f"{text:.200}, which has to be {needed}"
    _data, *place = error.path
    if not place:
        return f"it is {what}"
    if place[0] != "rows" or len(place) not in (2, 3):
        name = ".".join(str(part) for part in place)
        return f"{name} is {what}"
    row = f"row {int(place[1]) + 1}"
    if len(place) == 2:
        return f"{row}: it is {what}"
    return f"{row}: {place[2]} is {what}"
