import os
from pathlib import Path

import pytest

from ferrule.tools.seen import HASHED, SeenFiles
from ferrule.types.errors import ToolError
from ferrule.workspace.writing import see


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path.resolve() / "a"
    path.write_text("one\n")
    return path


def refused(seen: SeenFiles, path: Path) -> str:
    with pytest.raises(ToolError) as caught:
        seen.check(path, see(path), path.name)
    return str(caught.value)


def test_a_file_that_was_never_shown_may_be_edited(file: Path) -> None:
    SeenFiles().check(file, see(file), "a")


def test_a_change_behind_the_models_back_is_told_and_reading_again_ends_it(file: Path) -> None:
    seen = SeenFiles()
    seen.showing(file)
    seen.check(file, see(file), "a")
    file.write_text("two\n")
    assert refused(seen, file) == (
        "a was changed by something else since you last read or wrote it. Nothing was changed. "
        "Read it again, then repeat the edit against what it holds."
    )
    assert seen.outdated() == (file,)
    seen.showing(file)
    seen.check(file, see(file), "a")
    assert seen.outdated() == ()


def test_a_new_time_over_the_same_content_is_no_change(file: Path) -> None:
    seen = SeenFiles()
    seen.showing(file)
    os.utime(file, (1, 1))
    seen.check(file, see(file), "a")
    assert seen.outdated() == ()


def test_another_content_with_the_same_time_and_size_is_a_change(file: Path) -> None:
    seen = SeenFiles()
    seen.showing(file)
    info = file.stat()
    file.write_text("two\n")
    os.utime(file, ns=(info.st_atime_ns, info.st_mtime_ns))
    assert refused(seen, file)


def test_a_large_file_is_known_by_time_and_size(file: Path) -> None:
    file.write_bytes(b"x" * (HASHED + 1))
    seen = SeenFiles()
    seen.showing(file)
    seen.check(file, see(file), "a")
    with file.open("ab") as more:
        more.write(b"y")
    assert refused(seen, file)
    assert seen.outdated() == (file,)


def test_a_deletion_is_told_once(file: Path) -> None:
    seen = SeenFiles()
    seen.showing(file)
    file.unlink()
    assert seen.outdated() == (file,)
    assert refused(seen, file).startswith("a was deleted by something else since you last read or wrote it.")
    seen.check(file, see(file), "a")


def test_what_the_model_wrote_itself_is_no_change(file: Path) -> None:
    seen = SeenFiles()
    seen.showing(file)
    file.write_text("two\n")
    seen.wrote(file, see(file).digest)
    seen.check(file, see(file), "a")
    file.unlink()
    seen.wrote(file, None)
    assert seen.outdated() == ()


def test_what_is_no_file_is_not_kept(tmp_path: Path) -> None:
    seen = SeenFiles()
    seen.showing(tmp_path / "missing")
    seen.showing(tmp_path)
    (tmp_path / "new").touch()
    assert seen.outdated() == ()
