"""Rules of style that are patterns: for the languages of a script, and for one language of a site.

``script_rules.toml`` has what a script asks for. How a site addresses its readers is for its
translators to say, in ``locale/<language>/style.toml``. A rule names words that no translation has
unless its source does. What it finds is advice, and can be excused at the message like that of any
other check::

    [[rule]]
    name = "register"        # of the check; several rules may share it
    pattern = "..."          # a regular expression of Python
    message = "another style: ...{found}; write 합니다, as all pages do"
    bad = "빠르다."          # the pattern has to find something here
    good = "빠릅니다."       # and nothing here

These may follow:

- ``kinds``, a list: the messages that it is for (prose, comment, formula, name, label); else all
  but formulas
- ``scripts``, a list: the languages that it is for, by script; else all of the file
- ``in_markup = true``: it looks at the text with its markup, not at the words alone
- ``around``: how many characters on both sides are shown
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import GalleryError
from .catalogs import Kind
from .checks import ALL, Check, Message

FILE_NAME = "style.toml"
_SCRIPT_RULES = Path(__file__).with_name("script_rules.toml")
_FIELDS = {"name": str, "pattern": str, "message": str, "bad": str, "good": str}
_FURTHER_FIELDS = {"kinds": list, "scripts": list, "in_markup": bool, "around": int}
_SHOWN = 5  # places that one message tells of


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
        """Yield what to say of a message; nothing if its translation follows the rule."""
        text = message.translation if self.in_markup else message.wording[1]
        places: dict[str, None] = {}
        for match in self.pattern.finditer(text):
            start = max(0, match.start() - self.around)
            place = text[start : match.end() + self.around].strip()
            if place not in message.text:
                places[place] = None
        if places:
            yield self.message.format(found=" ".join([*places][:_SHOWN]))

    @property
    def check(self) -> Check:
        """The rule as one of the checks."""
        return Check(name=self.name, run=self.find, of=self.kinds, scripts=self.scripts, whole=True)


@cache
def load_script_rules() -> list[StyleRule]:
    """Return the rules that scripts ask for."""
    return _read_rules(_SCRIPT_RULES)


def load_style_rules(locale: Path, language: str) -> list[StyleRule]:
    """Return the rules of a language in a folder of catalogs; none without a file.

    Raises ``GalleryError`` for a file that is no such list, and for a rule that does not find its
    bad example, or finds its good one.
    """
    path = locale / language / FILE_NAME
    return _read_rules(path) if path.exists() else []


def _read_rules(path: Path) -> list[StyleRule]:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise GalleryError(f"not valid TOML: {error}", path=path) from None
    rules = data.get("rule")
    if data.keys() != {"rule"} or not isinstance(rules, list):
        raise GalleryError("not a list of rules", path=path, remedy="begin each with [[rule]]")
    return [_parse(path, number, rule) for number, rule in enumerate(rules, 1)]


def _parse(path: Path, number: int, fields: Any) -> StyleRule:
    def wrong(text: str, remedy: str) -> GalleryError:
        return GalleryError(f"rule {number}: {text}", path=path, remedy=remedy)

    types = _FIELDS | _FURTHER_FIELDS
    is_table = isinstance(fields, dict) and _FIELDS.keys() <= fields.keys() <= types.keys()
    if not is_table or not all(isinstance(value, types[name]) for name, value in fields.items()):
        raise wrong("not as a rule is written", f"give it {', '.join(sorted(_FIELDS))} as texts")
    try:
        pattern = re.compile(fields["pattern"])
    except re.error as error:
        raise wrong(f"the pattern is none: {error}", "correct it") from None
    names = {kind.name.lower(): kind for kind in Kind}
    kinds = fields.get("kinds", [])
    if not all(kind in names for kind in kinds):
        raise wrong("a kind that there is not", f"choose among {', '.join(names)}")
    if "{found}" not in fields["message"]:
        raise wrong("the message does not show what was found", "write {found} into it")
    if not pattern.search(fields["bad"]):
        raise wrong("the pattern finds nothing in the bad example", "correct one of them")
    if pattern.search(fields["good"]):
        raise wrong("the pattern finds something in the good example", "correct one of them")
    further = {"kinds": frozenset(names[kind] for kind in kinds)} if kinds else {}
    scripts = tuple(fields.get("scripts", ()))
    return StyleRule(**{**fields, "pattern": pattern, "scripts": scripts, **further})
