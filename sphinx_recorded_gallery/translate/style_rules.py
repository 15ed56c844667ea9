"""Rules of a site's style, which stand beside its catalogs: ``locale/<language>/style.toml``.

The engine knows what a script asks for; how a site addresses its readers is for its translators to
say. A rule names words that no translation has unless its source does. What it finds is advice, and
can be excused at the message like that of any other check::

    [[rule]]
    name = "register"
    pattern = "..."          # a regular expression of Python
    message = "another style: ...{found}; write 합니다, as all pages do"
    bad = "빠르다."          # the pattern has to find something here
    good = "빠릅니다."       # and nothing here
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import GalleryError
from .catalogs import Kind
from .checks import ALL, Check, Message

FILE_NAME = "style.toml"
_FIELDS = {"name", "pattern", "message", "bad", "good"}


@dataclass(frozen=True, kw_only=True)
class StyleRule:
    """One rule of a language."""

    name: str
    pattern: re.Pattern[str]
    message: str  # {found} stands for the words
    bad: str
    good: str

    def find(self, message: Message) -> Iterator[str]:
        """Yield what to say of a message; nothing if its translation follows the rule."""
        matches = (match[0].strip() for match in self.pattern.finditer(message.wording[1]))
        words = [text for text in dict.fromkeys(matches) if text not in message.text]
        if words:
            yield self.message.format(found=" ".join(words[:5]))

    @property
    def check(self) -> Check:
        """The rule as one of the checks."""
        return Check(name=self.name, run=self.find, of=ALL - {Kind.FORMULA}, whole=True)


def load_style_rules(locale: Path, language: str) -> list[StyleRule]:
    """Return the rules of a language in a folder of catalogs; none without a file.

    Raises ``GalleryError`` for a file that is no such list, and for a rule that does not find its
    bad example, or finds its good one.
    """
    path = locale / language / FILE_NAME
    if not path.exists():
        return []
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

    is_table = isinstance(fields, dict) and fields.keys() == _FIELDS
    if not is_table or not all(isinstance(value, str) for value in fields.values()):
        raise wrong("not as a rule is written", f"give it {', '.join(sorted(_FIELDS))} as texts")
    try:
        pattern = re.compile(fields["pattern"])
    except re.error as error:
        raise wrong(f"the pattern is none: {error}", "correct it") from None
    if "{found}" not in fields["message"]:
        raise wrong("the message does not show what was found", "write {found} into it")
    if not pattern.search(fields["bad"]):
        raise wrong("the pattern finds nothing in the bad example", "correct one of them")
    if pattern.search(fields["good"]):
        raise wrong("the pattern finds something in the good example", "correct one of them")
    return StyleRule(**{**fields, "pattern": pattern})
