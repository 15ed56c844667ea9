from collections.abc import Iterator
from pathlib import Path

import pytest

from chromium import serve


@pytest.fixture
def extensions() -> list[str]:
    return ["sphinx_recorded_gallery", "second_call"]


@pytest.fixture(scope="module")
def address(languages_site: Path) -> Iterator[str]:
    """The address of the site in all languages."""
    with serve(languages_site) as address:
        yield address
