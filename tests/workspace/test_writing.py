import hashlib
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from ferrule.types.errors import ToolError
from ferrule.workspace.writing import ABSENT, replace, see


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_a_new_file_gets_the_usual_mode_and_its_folders(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "file"
    usual = tmp_path / "usual"
    usual.touch()
    assert replace(path, b"new", see(path)) == digest(b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode == usual.stat().st_mode


def test_mode_bits_stay_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o6751)
    seen = see(path)
    assert seen.digest == digest(b"old")
    replace(path, b"new", seen)
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o6751
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_the_owner_stays(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    os.chown(path, 1234, 2345)
    replace(path, b"new", see(path))
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 2345)


def test_extended_attributes_stay(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    try:
        os.setxattr(path, "user.note", b"kept")
    except OSError:
        pytest.skip("this file system has no extended attributes")
    replace(path, b"new", see(path))
    assert os.getxattr(path, "user.note") == b"kept"


def test_hard_links_stay_one_file(tmp_path: Path) -> None:
    path, other = tmp_path / "file", tmp_path / "other"
    path.write_bytes(b"a longer old content")
    other.hardlink_to(path)
    replace(path, b"new", see(path))
    assert other.read_bytes() == b"new"
    assert path.samefile(other)


def test_a_write_protected_file_is_refused_even_for_root(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o444)
    with pytest.raises(ToolError, match="write-protected"):
        replace(path, b"new", see(path))
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("before", [b"old", None])
def test_what_somebody_else_wrote_meanwhile_is_not_lost(tmp_path: Path, before: bytes | None) -> None:
    path = tmp_path / "file"
    if before is not None:
        path.write_bytes(before)
    seen = see(path)
    path.write_bytes(b"somebody else's")
    with pytest.raises(ToolError, match="meantime"):
        replace(path, b"new", seen)
    assert path.read_bytes() == b"somebody else's"
    assert os.listdir(tmp_path) == ["file"]


def test_a_file_that_vanished_meanwhile_is_not_made_again(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    seen = see(path)
    path.unlink()
    with pytest.raises(ToolError, match="meantime"):
        replace(path, b"new", seen)
    assert os.listdir(tmp_path) == []


def test_only_regular_files_are_seen(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", Path("/dev/null")):
        with pytest.raises(ToolError):
            see(path)
    assert see(tmp_path / "none") == ABSENT


IN_A_MOUNT = """
mount --bind "$1" "$2" && exec "$3" -c '
import sys
from pathlib import Path
from ferrule.workspace.writing import replace, see
path = Path(sys.argv[1])
replace(path, b"new", see(path))
' "$2"
"""


def test_a_file_that_is_mounted_by_itself_is_written_in_place(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "folder" / "target"
    target.parent.mkdir()
    source.write_bytes(b"old content")
    target.touch()
    command = ["unshare", "--mount", "sh", "-c", IN_A_MOUNT, "sh", str(source), str(target), sys.executable]
    try:
        ran = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("there is no unshare")
    if "unshare failed" in ran.stderr or "permission denied" in ran.stderr:
        pytest.skip("mounting is not allowed here")
    assert (ran.stderr, source.read_bytes(), os.listdir(target.parent)) == ("", b"new", ["target"])


IN_READ_ONLY_FOLDER = """
import os, sys
from pathlib import Path
from ferrule.workspace.writing import replace, see
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
there, new, foreign = Path("there"), Path("new"), Path("sticky/foreign")
replace(foreign, b"new content", see(foreign))
replace(there, b"new content", see(there))
try:
    replace(new, b"", see(new))
except PermissionError:
    print("refused")
"""


def test_in_a_read_only_folder_and_of_another_owner_a_file_is_written_in_place(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    there = folder / "there"
    there.write_bytes(b"old")
    there.chmod(0o666)
    foreign = folder / "sticky" / "foreign"
    foreign.parent.mkdir()
    foreign.parent.chmod(0o1777)
    foreign.touch()
    foreign.chmod(0o666)
    folder.chmod(0o555)
    owner = foreign.stat().st_uid
    inode = there.stat().st_ino
    fd = os.open(folder, os.O_RDONLY)
    try:
        ran = subprocess.run(
            [sys.executable, "-c", f"import os; os.fchdir({fd})\n{IN_READ_ONLY_FOLDER}"],
            pass_fds=[fd],
            capture_output=True,
            text=True,
        )
    finally:
        os.close(fd)
        folder.chmod(0o755)
    assert (ran.stdout, ran.stderr) == ("refused\n", "")
    assert (there.read_bytes(), there.stat().st_ino) == (b"new content", inode)
    assert (foreign.read_bytes(), foreign.stat().st_uid) == (b"new content", owner)
