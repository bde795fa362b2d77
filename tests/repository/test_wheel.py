"""What an installed Ferrule consists of: the wheel as it is built, without the network."""

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_a_wheel_holds_every_file_of_the_package_and_the_command(tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    built = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=50, check=False)
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("ferrule-*-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (points,) = (archive.read(name).decode() for name in names if name.endswith(".dist-info/entry_points.txt"))
    listed = subprocess.run(["git", "ls-files", "-z", "src/ferrule"], cwd=ROOT, capture_output=True, check=True).stdout
    tracked = {name.removeprefix("src/") for name in listed.decode().split("\0") if name}
    assert {name for name in tracked if (ROOT / "src" / name).exists()} - names == set()
    for data in (
        "py.typed",
        "providers/catalog.json",
        "review/prompt/kickoff.md",
        "task/prompt/rules.md",
        "task/demo/script.json",
    ):
        assert f"ferrule/{data}" in names
    assert "ferrule = ferrule.main:main" in points
    assert [name for name in names if name.startswith("tests") or "__pycache__" in name] == []
