from collections.abc import Iterator

import pytest

from .world import World, folder_in


@pytest.fixture
def world() -> Iterator[World]:
    with folder_in("/var/tmp") as top:
        yield World(top)
