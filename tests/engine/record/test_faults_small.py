"""A small case of each letter of faults, by the commands; `make faults` has the others."""

import sys
from typing import Any

import pytest

from gallery import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

from fault_cases import CASES
from fault_cases.case import NotRunError, run_case

QUICK = [case for case in CASES if case.quick]


def test_there_is_a_small_case_of_each_letter() -> None:
    # those of clusters (G) have tests of their own: test_cluster.py
    assert {case.kind[0] for case in CASES} - {case.kind[0] for case in QUICK} == {"G"}


@pytest.mark.slow
@pytest.mark.parametrize("case", QUICK, ids=lambda case: f"{case.kind}-{case.name}")
def test_a_fault_ends_as_it_has_to(case: Any) -> None:
    try:
        assert run_case(case) == []
    except NotRunError as error:
        pytest.skip(str(error))
