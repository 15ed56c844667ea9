"""Check what recipes publish for programs by schemas, and describe mistakes in words.

Descriptions in a schema complete the sentence "it has to be ...".
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent
_SHARED = "rows"  # the schema whose definitions all may use


def validate(value: Any, schema: str) -> None:
    """Raise ``ValueError`` with the mistake of a value, by a schema of this folder."""
    from fastjsonschema import JsonSchemaValueException

    if isinstance(value, str):
        raise ValueError("they are a text; display the object itself, without json.dumps")
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
    try:
        text = repr(error.value)
    except ValueError:  # an integer of thousands of digits
        text = "a huge number"
    needed = error.definition.get("description", error.message)
    what = f"{text:.200}, which has to be {needed}"
    _data, *place = error.path
    match place:
        case []:
            return f"it is {what}"
        case ["rows", index]:
            return f"row {int(index) + 1}: it is {what}"
        case ["rows", index, name]:
            return f"row {int(index) + 1}: {name} is {what}"
        case _:
            name = ".".join(str(part) for part in place)
            return f"{name} is {what}"
