import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from ferrule.workspace.together import Put, Remove, Unwritten, write_together
from ferrule.workspace.writing import ABSENT, see, version
from tests.tools.bench import snapshot


def put(path: Path, content: bytes, mode: int | None = None, like: Path | None = None) -> Put:
    return Put(path, content, see(path), mode, like)


def remove(path: Path) -> Remove:
    return Remove(path, version(path.lstat()))


def refused(*steps: Put | Remove) -> Unwritten:
    with pytest.raises(Unwritten) as caught:
        write_together(steps)
    return caught.value


def test_files_are_added_changed_removed_and_nothing_else_is_left(tmp_path: Path) -> None:
    old, gone = tmp_path / "old", tmp_path / "gone"
    old.write_bytes(b"old")
    old.chmod(0o6751)
    gone.touch()
    write_together([put(tmp_path / "new" / "deep" / "file", b"new"), put(old, b"changed"), remove(gone)])
    assert (tmp_path / "new/deep/file").read_bytes() == b"new"
    assert (old.read_bytes(), stat.S_IMODE(old.stat().st_mode)) == (b"changed", 0o6751)
    assert sorted(os.listdir(tmp_path)) == ["new", "old"]


def test_a_file_may_take_over_what_another_one_is(tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.write_bytes(b"old")
    old.chmod(0o700)
    write_together([put(tmp_path / "new", b"moved", like=old), remove(old)])
    assert ((tmp_path / "new").read_bytes(), stat.S_IMODE((tmp_path / "new").stat().st_mode)) == (b"moved", 0o700)
    assert os.listdir(tmp_path) == ["new"]


def test_a_link_goes_alone(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"x")
    (tmp_path / "link").symlink_to("real")
    write_together([remove(tmp_path / "link")])
    assert os.listdir(tmp_path) == ["real"]


def test_hard_links_are_written_in_place(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_bytes(b"old")
    two.hardlink_to(one)
    write_together([put(one, b"new"), put(tmp_path / "three", b"3")])
    assert (two.read_bytes(), one.stat().st_ino) == (b"new", two.stat().st_ino)


@pytest.mark.parametrize("fault", ["protected", "changed", "appeared", "vanished", "directory"])
def test_what_cannot_be_written_leaves_everything_as_it_was(tmp_path: Path, fault: str) -> None:
    paths = [tmp_path / name for name in ("a", "hard", "c", "gone")]
    for path in paths:
        path.write_bytes(path.name.encode())
        path.chmod(0o640)
    (tmp_path / "other").hardlink_to(tmp_path / "hard")
    steps = [*(put(path, b"new") for path in paths[:3]), remove(paths[3]), put(tmp_path / "deep" / "new", b"n")]
    match fault:
        case "protected":
            paths[2].chmod(0o440)
        case "changed":
            paths[2].write_bytes(b"changed")
        case "appeared":
            steps.append(put(tmp_path / "new", b"n"))
            (tmp_path / "new").touch()
        case "vanished":
            paths[3].unlink()
        case "directory":
            steps.append(Put(tmp_path / "folder", b"n", ABSENT))
            (tmp_path / "folder").mkdir()
    before = snapshot(tmp_path)
    failed = refused(*steps)
    assert failed.changed == ()
    assert snapshot(tmp_path) == before


LIMITED = """
import resource, signal, sys
from pathlib import Path
from ferrule.workspace.together import Put, Unwritten, write_together
from ferrule.workspace.writing import see
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
contents = {"new": b"n", "one": b"short", "two": b"x" * 5000}
paths = {name: Path(sys.argv[1], name) for name in contents}
steps = [Put(paths[name], content, see(paths[name])) for name, content in contents.items()]
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    write_together(steps)
except Unwritten as failed:
    print(failed.path.name, failed, failed.changed)
"""


def test_writes_in_place_are_taken_back_too(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).write_bytes(b"old content of " + name.encode())
        (tmp_path / f"{name}-other").hardlink_to(tmp_path / name)
    before = snapshot(tmp_path)
    done = subprocess.run([sys.executable, "-c", LIMITED, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout == "two File too large ()\n"
    assert snapshot(tmp_path) == before


FULL = """
import os, sys
from pathlib import Path
from ferrule.workspace.together import Put, Unwritten, write_together
from ferrule.workspace.writing import see
root = Path(sys.argv[1])
os.system(f"mount -t tmpfs -o size=1m tmpfs {root}")
first, second, third = root / "first", root / "second", root / "third"
first.write_bytes(b"a" * 400_000)
second.write_bytes(b"b" * 100_000)
inode = first.stat().st_ino
steps = [Put(path, b"x" * size, see(path)) for path, size in ((first, 390_000), (second, 120_000), (third, 300_000))]
try:
    write_together(steps)
    print("written")
except Unwritten as failed:
    print(failed.path.name, failed, failed.changed)
print(first.read_bytes() == b"a" * 400_000, second.read_bytes() == b"b" * 100_000)
print(first.stat().st_ino == inode, sorted(os.listdir(root)))
"""


def test_a_full_disk_changes_nothing(tmp_path: Path) -> None:
    argv = ["unshare", "--user", "--map-root-user", "--mount", sys.executable, "-c", FULL, str(tmp_path)]
    done = subprocess.run(argv, capture_output=True, text=True)
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip(f"no file system of one's own here: {done.stderr}")
    assert done.stdout == "third No space left on device ()\nTrue True\nTrue ['first', 'second']\n", done.stderr
