import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from ferrule.process.sandbox.scratch import Scratch


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path.resolve()


def grow_old(folder: Path) -> None:
    hour_ago = time.time() - 3600
    os.utime(folder, (hour_ago, hour_ago))


def left_by_a_killed_process(temporary: Path) -> Path:
    code = """
import os
from ferrule.process.sandbox.scratch import Scratch
print(Scratch().path, flush=True)
os.kill(os.getpid(), 9)
"""
    killed = subprocess.run([sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(temporary)}, stdout=subprocess.PIPE)
    assert killed.returncode == -9
    folder = Path(killed.stdout.decode().strip())
    (folder / "closed").mkdir(mode=0)
    grow_old(folder)
    return folder


def test_what_a_killed_process_left_is_removed_when_the_next_one_begins(temporary: Path) -> None:
    left = left_by_a_killed_process(temporary)
    assert left.parent == temporary
    scratch = Scratch()
    assert os.listdir(temporary) == [os.path.basename(scratch.path)]
    scratch.close()
    scratch.close()
    assert os.listdir(temporary) == []


def test_what_is_in_use_stays_however_old(temporary: Path) -> None:
    used = Scratch()
    grow_old(Path(used.path))
    Scratch().close()
    assert os.listdir(temporary) == [os.path.basename(used.path)]
    used.close()


def test_what_is_young_or_leads_elsewhere_stays(temporary: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "kept").touch()
    grow_old(elsewhere)
    (temporary / "ferrule-box-young").mkdir()
    (temporary / "ferrule-box-link").symlink_to(elsewhere)
    Scratch().close()
    assert sorted(os.listdir(temporary)) == ["ferrule-box-link", "ferrule-box-young"]
    assert os.listdir(elsewhere) == ["kept"]


def test_many_tasks_that_begin_and_end_at_once_do_not_meet(tmp_path: Path) -> None:
    program = (
        "from ferrule.process.sandbox.scratch import Scratch\n"
        "for _ in range(150):\n"
        "    scratch = Scratch()\n"
        "    open(f'{scratch.path}/own', 'x').close()\n"
        "    scratch.close()\n"
    )
    environ = {"PATH": os.environ["PATH"], "TMPDIR": str(tmp_path)}
    running = [subprocess.Popen([sys.executable, "-c", program], env=environ) for _ in range(4)]
    assert [process.wait(30) for process in running] == [0, 0, 0, 0]
    assert list(tmp_path.iterdir()) == []
