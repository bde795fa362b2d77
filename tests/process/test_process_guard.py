import os
import subprocess
import sys
from pathlib import Path

import ferrule
from ferrule.process.guard.table import children, children_by_scan, descendants

from .probe import children_of, ended, wait_until


def modules(code: str) -> set[str]:
    """What an interpreter without site packages has loaded after `code`."""
    program = f"import os, sys; sys.path.append(sys.argv[1]); {code}; print(*sys.modules)"
    root = str(Path(ferrule.__file__).parents[1])
    return set(subprocess.check_output([sys.executable, "-I", "-S", "-c", program, root], text=True).split())


def test_supervisor_program_loads_nothing_heavy() -> None:
    added = modules("import ferrule.process.guard.supervise") - modules("pass")
    others = {name for name in added if name.split(".")[0] != "ferrule"}
    assert others <= {"_socket", "_signal", "gc", "marshal", "select", "time"}


def test_children_and_descendants_are_found_without_zombies() -> None:
    tree = subprocess.Popen(["sh", "-c", "(sleep 30; true) & (exit 0) & exec sleep 30"], start_new_session=True)
    try:
        assert wait_until(lambda: len(children_of(tree.pid)) == 2 and any(ended(pid) for pid in children(tree.pid)))
        assert sorted(children(tree.pid)) == sorted(children_by_scan(tree.pid)) == sorted(children_of(tree.pid))
        (living,) = (pid for pid in children(tree.pid) if not ended(pid))
        assert wait_until(lambda: len(children_of(living)) == 1)
        assert descendants(tree.pid) == [living, *children_of(living)]
    finally:
        os.killpg(tree.pid, 9)
        tree.wait()
    assert (children(tree.pid), descendants(tree.pid)) == ([], [])
