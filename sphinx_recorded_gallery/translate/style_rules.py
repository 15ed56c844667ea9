"""Style rules in the form of patterns, for all languages of a script or one language of a site.

``script_rules.toml`` has the rules of scripts. How a site addresses its readers is decided by its
translators, in ``locale/<language>/style.toml``. A rule describes words that a translation may only
have if its source has them. Its findings are advice, and can be excused at the message like those
of any other check::

    [[rule]]
    name = "register"        # name of the check; several rules may share it
    pattern = "..."          # a regular expression of Python
    message = "another style: ...{found}; write 합니다, as all pages do"
    bad = "빠르다."          # the pattern must match here
    good = "빠릅니다."       # and must not match here

Optional fields:

- ``kinds``, a list: the kinds of messages to check (prose, comment, formula, name, label); by
  default all but formulas
- ``scripts``, a list: the scripts of the languages to check; by default all languages of the file
- ``in_markup = true``: check the text with its markup instead of the words alone
- ``around``: the number of characters to show on both sides of a match
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

from ..errors import GalleryError
from .catalogs import Kind
from .checks import ALL, Check, Message

FILE_NAME = "style.toml"
_SCRIPT_RULES = Path(__file__).with_name("script_rules.toml")
_FIELDS = {"name": str, "pattern": str, "message": str, "bad": str, "good": str}
_FURTHER_FIELDS = {"kinds": list, "scripts": list, "in_markup": bool, "around": int}
_TYPE_NAMES = {str: "a text", list: "a list of texts", bool: "true or false", int: "a number"}
_MAX_PLACES = 5  # that one message shows


@dataclass(frozen=True, kw_only=True)
class StyleRule:
    """One rule of a language or of a script."""

    name: str
    pattern: re.Pattern[str]
    message: str  # {found} stands for the words
    bad: str
    good: str
    kinds: frozenset[Kind] = ALL - {Kind.FORMULA}
    scripts: tuple[str, ...] = ()
    in_markup: bool = False
    around: int = 0

    def find(self, message: Message) -> Iterator[str]:
        """Yield the advice on a message; nothing if its translation follows the rule."""
        _source, text = message.plain_words
        if self.in_markup:
            text = message.translation
        places: dict[str, None] = {}
        for match in self.pattern.finditer(text):
            start = max(0, match.start() - self.around)
            place = text[start : match.end() + self.around].strip()
            if place not in message.text:
                places[place] = None
        if places:
            yield self.message.format(found=" ".join([*places][:_MAX_PLACES]))

    @property
    def check(self) -> Check:
        """The rule as one of the checks."""
        return Check(
            name=self.name,
            run=self.find,
            kinds=self.kinds,
            scripts=self.scripts,
            needs_intact_markup=True,
        )


@cache
def load_script_rules() -> list[StyleRule]:
    """Return the rules of scripts."""
    data = _read_script_rules()
    return [_parse(_SCRIPT_RULES, number, rule) for number, rule in enumerate(data["rule"], 1)]


@cache
def load_sentence_ends() -> dict[str, re.Pattern[str]]:
    """Return a pattern by script, where phrases have no mark at their end but sentences have.

    It finds the end of a sentence whose mark is missing.
    """
    ends = _read_script_rules()["sentence_ends"]
    return {script: re.compile(pattern) for script, pattern in ends.items()}


def _read_script_rules() -> dict[str, Any]:
    return tomllib.loads(_SCRIPT_RULES.read_text(encoding="utf-8"))


def load_style_rules(locale: Path, language: str) -> list[StyleRule]:
    """Return the rules of a language in a folder of catalogs; none without a file.

    Raises ``GalleryError`` for a file that is not a list of rules, and for a rule that misses its
    bad example or finds something in its good one.
    """
    path = locale / language / FILE_NAME
    if not path.exists():
        return []
    return _read_rules(path)


def _read_rules(path: Path) -> list[StyleRule]:
    """Return the rules of a file of TOML; raise ``GalleryError`` if it holds something else."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise GalleryError(f"not valid TOML: {error}", path=path) from None
    rules = data.get("rule")
    if data.keys() != {"rule"} or not isinstance(rules, list):
        raise GalleryError("not a list of rules", path=path, remedy="begin each with [[rule]]")
    return [_parse(path, number, rule) for number, rule in enumerate(rules, 1)]


def _parse(path: Path, number: int, fields: Any) -> StyleRule:
    """Return the rule that a table of the file describes; raise ``GalleryError`` if none."""

    def error(text: str, remedy: str) -> GalleryError:
        return GalleryError(f"rule {number}: {text}", path=path, remedy=remedy)

    _check_fields(fields, error)
    _check_message(fields["message"], error)
    try:
        pattern = re.compile(fields["pattern"])
    except re.error as pattern_error:
        raise error(f"invalid pattern: {pattern_error}", "correct it") from None
    if not pattern.search(fields["bad"]):
        raise error("the pattern finds nothing in the bad example", "correct one of them")
    if pattern.search(fields["good"]):
        raise error("the pattern finds something in the good example", "correct one of them")
    kinds_by_name = {kind.name.lower(): kind for kind in Kind}
    kinds = []
    for name in fields.get("kinds", []):
        if name not in kinds_by_name:
            raise error("an unknown kind", f"choose among {', '.join(kinds_by_name)}")
        kinds.append(kinds_by_name[name])
    arguments = dict(fields)
    arguments["pattern"] = pattern
    arguments["scripts"] = tuple(fields.get("scripts", ()))
    arguments.pop("kinds", None)
    if kinds:
        arguments["kinds"] = frozenset(kinds)
    return StyleRule(**arguments)


def _check_fields(fields: Any, error: Callable[[str, str], GalleryError]) -> None:
    """Raise an error unless a value is a table with the fields of a rule, each of its type."""
    if not isinstance(fields, Mapping):
        raise error("not a table", "begin it with [[rule]]")
    types = _FIELDS | _FURTHER_FIELDS
    missing = sorted(_FIELDS.keys() - fields.keys())
    if missing:
        raise error(f"no {', '.join(missing)}", "add it as a text")
    unknown = sorted(fields.keys() - types.keys())
    if unknown:
        raise error(f"an unknown field: {', '.join(unknown)}", f"choose among {', '.join(types)}")
    for name, value in fields.items():
        if type(value) is not types[name]:  # isinstance takes true for an int
            raise error(f"{name} has the wrong type", f"write {_TYPE_NAMES[types[name]]}")
        if isinstance(value, list) and not all(isinstance(item, str) for item in value):
            raise error(f"{name} has the wrong type", f"write {_TYPE_NAMES[list]}")


def _check_message(message: str, error: Callable[[str, str], GalleryError]) -> None:
    """Raise an error unless ``{found}`` is all that a message of a rule has to fill in."""
    if "{found}" not in message:
        raise error("the message does not show what was found", "write {found} into it")
    try:
        parts = list(Formatter().parse(message))
    except ValueError:
        parts = [("", "", "", "")]
    for _text, name, layout, conversion in parts:
        if name not in (None, "found") or layout or conversion:
            text = "the message has other braces than those of {found}"
            raise error(text, "write each of them twice")
