import pytest


@pytest.fixture
def extensions() -> list[str]:
    return ["recipe_gallery", "second_call"]
