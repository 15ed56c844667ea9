"""The page that tells strangers how to use the engine says what is true."""

import re

from sphinx_recorded_gallery.commands import PARSER
from sphinx_recorded_gallery.project import SETTINGS
from tests.helpers.gallery import ROOT

PAGE = (ROOT / "using.rst").read_text(encoding="utf-8")


def test_the_page_lists_all_settings_with_their_defaults() -> None:
    rows = re.findall(r"^   \* - ``(recorded_gallery_\w+)``\n     - ``(.*)``$", PAGE, re.MULTILINE)
    settings = [each for extension in SETTINGS.values() for each in extension.items()]
    assert rows == [(name, repr(default)) for name, (default, *_) in settings]


def test_the_page_names_only_commands_that_there_are() -> None:
    named = set(re.findall(r"recorded-gallery ([a-z-]+)", PAGE))
    assert {"record", "html", "check", "new-language", "update-po"} <= named
    usage = PARSER.format_help()
    assert all(re.search(rf"^ +{name}\b", usage, re.MULTILINE) for name in named), usage
