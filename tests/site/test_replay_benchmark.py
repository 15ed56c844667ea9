import sys
from pathlib import Path

import pytest

from tests.helpers.gallery import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

import replay


@pytest.mark.nightly
def test_stock_sphinx_gallery_and_replay_show_the_same_page(tmp_path: Path) -> None:
    replay.compare(tmp_path, "compiling_optimizer")
