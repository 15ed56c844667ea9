from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.chromium import serve
from tests.helpers.gallery import ENGINE


@pytest.fixture
def extensions() -> list[str]:
    return [*ENGINE, "second_call"]


@pytest.fixture(scope="module")
def address(languages_site: Path) -> Iterator[str]:
    """The address of the site in all languages."""
    with serve(languages_site) as address:
        yield address
