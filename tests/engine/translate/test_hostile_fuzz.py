"""Random hostile translations; the nightly workflow tries more of them.

FUZZ says how many, FUZZ_LANGUAGE into which language.
"""

import os
import time
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.helpers.hostile import (
    BORROWED,
    LABELS,
    UNREADABLE,
    Hostile,
    HostileSite,
    batches,
    make_sources,
)

MESSAGES = [*make_sources(), *LABELS, *BORROWED]
WANTED = int(os.environ.get("FUZZ", 2 * len(MESSAGES)))

# What did harm before the checks knew it; at night each stands once for every kind of message.
FOUND = [
    Hostile("<svg/onload=alert(1)>", plural="x"),
    Hostile("<?php x ?>", plural="x"),
    Hostile("![x](//evil.example/t.png)"),
    Hostile(":download:`secret.txt`", comment="Comment in code"),
    Hostile("`x <javascript:alert(1)>`__", tcomment="check-po: allow markup-changed (so)"),
    Hostile("x\n\n.. include:: secret.txt", tcomment="check-po: allow line-break (so)"),
    Hostile("x\n\n- x", tcomment="check-po: allow line-break (so)"),
    Hostile("x (coding: x)"),
    Hostile("x (encoding: raw-unicode-escape) \\u000aimport os"),
    Hostile("%% [markdown]"),
    Hostile("In[1]:"),
    Hostile("www.evil.example"),
    Hostile("http\\://evil.example"),
    Hostile("_`search`"),
    Hostile("\\text{` :download:`secret.txt`}", comment="Formula"),
    Hostile("x\u2028import os"),
    Hostile("` "),
    Hostile("As :math:`\\text{[x](//evil.example)} + 1` says, and no words. In part 5."),
    Hostile("As :math:`\\text{<svg/onload=x>} + 1` says, and no words. In part 5."),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostileSite]:
    language = os.environ.get("FUZZ_LANGUAGE") or "ko"
    site = HostileSite(tmp_path_factory.mktemp("hostile") / "site", language)
    began = time.monotonic()
    yield site
    seconds = time.monotonic() - began
    print(f"\n{site.tried} translations, {site.shown} of them shown, in {seconds:.0f} s")


@pytest.mark.nightly
@pytest.mark.parametrize("found", FOUND, ids=lambda found: repr(found.translation))
def test_what_was_found_hurts_nobody_any_more(site: HostileSite, found: Hostile) -> None:
    assert site.find_instruction(dict.fromkeys(MESSAGES, found)) == []


@pytest.mark.slow
@pytest.mark.parametrize("first", range(3))
def test_what_was_found_hurts_nobody_side_by_side(site: HostileSite, first: int) -> None:
    readable = [each for each in FOUND if not UNREADABLE.search(each.translation)]
    batch = {
        text: readable[(first + number) % len(readable)] for number, text in enumerate(MESSAGES)
    }
    assert site.find_instruction(batch) == []


@pytest.mark.slow
@settings(
    max_examples=-(-WANTED // len(MESSAGES)),
    print_blob=True,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # each example is a build
    suppress_health_check=list(HealthCheck),
)
@given(batch=batches())
def test_random_translations_hurt_nobody(site: HostileSite, batch: dict[str, Hostile]) -> None:
    assert site.find_instruction(batch) == []
    assert site.shown  # else nothing would have been tried
