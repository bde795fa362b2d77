from pathlib import Path

import pytest

from ferrule.store.blobs import FileBlobs

from .bench import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    root = tmp_path.resolve() / "work"
    root.mkdir()
    return Bench(root, FileBlobs(tmp_path / "blobs"))
