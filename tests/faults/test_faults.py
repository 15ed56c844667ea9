"""Every fault ends as it has to: all of them at night, and by day one of each kind.

By day, other tests hide code, lose workers of a cluster and record in folders with odd names.
"""

import os

import pytest

from tests.faults import CASES
from tests.faults.case import Case, NotRunError, run_case
from tests.faults.random_damage import change_bytes
from tests.faults.storms import LOADED, Shot, busy, choose_shots, shoot

SEED = int(os.environ.get("SEED", "12"))  # other signals and other bytes with each one
NAMES = """
late-thread bad-mathtext home-inside-paths startup-file surrogate-in-print endless-print
headline-nan token-printed mimebundle-dict disk-full
nul-in-input probe-fails conf-syntax unknown-recipe png-no-base64
recipe-called-index env-i-setsid recorder-killed terminated kills-itself failed-after-prints
html-onerror changed-published pip-and-magics
"""
BY_DAY = set(NAMES.split())


def name(case: Case) -> str:
    return f"{case.kind}-{case.name}"


def require_right(case: Case) -> None:
    try:
        assert run_case(case) == []
    except NotRunError as error:
        pytest.skip(str(error))


def test_each_fault_of_the_day_is_one() -> None:
    assert {case.name for case in CASES} >= BY_DAY


@pytest.mark.slow
@pytest.mark.parametrize("case", [each for each in CASES if each.name in BY_DAY], ids=name)
def test_a_fault_ends_as_it_has_to(case: Case) -> None:
    require_right(case)


@pytest.mark.nightly
@pytest.mark.parametrize("case", [each for each in CASES if each.name not in BY_DAY], ids=name)
def test_a_fault_of_the_night_ends_as_it_has_to(case: Case) -> None:
    require_right(case)


@pytest.mark.nightly
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("case", LOADED, ids=name)
def test_nothing_printed_is_lost_on_busy_cores(case: Case) -> None:
    with busy(8):  # processes that compete with the recorder for two cores
        require_right(case)


@pytest.mark.nightly
@pytest.mark.parametrize("shot", choose_shots(20, SEED), ids=Shot.__str__)
def test_a_signal_at_any_moment_leaves_nothing(shot: Shot) -> None:
    assert shoot(shot) == []


@pytest.mark.nightly
@pytest.mark.timeout(1200)
def test_a_damaged_recording_is_never_shown_in_silence() -> None:
    assert change_bytes(100, SEED) == []
