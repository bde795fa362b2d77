"""Every fault in every dialect that can express it, by the real command: the work is done, and no request would be refused.

The script is [the fault, a command that makes ok.txt, the end]. A command in the fault is run never or exactly as meant: the
files of the project are compared whole, so that a command that was cut short would show.
"""

from pathlib import Path

import pytest

from tests.e2e.wire import MAKE, Home, ends
from tests.judge import violations

from .table import BY_NAME, CELLS, Fault


def files(folder: Path) -> dict[str, str]:
    return {str(file.relative_to(folder)): file.read_text() for file in folder.rglob("*") if file.is_file()}


def left(fault: Fault) -> dict[str, str]:
    """What the project holds once the work is done."""
    return {"ok.txt": "ok\n"} | ({"bad.txt": "ran\n" * fault.runs} if fault.runs else {})


@pytest.mark.parametrize(("name", "dialect"), [pytest.param(*cell, id="-".join(cell)) for cell in CELLS])
def test_the_work_is_done_and_every_request_is_valid(tmp_path: Path, name: str, dialect: str) -> None:
    fault = BY_NAME[name]
    home = Home(tmp_path)
    validate = None if fault.lax else violations
    played = home.play(dialect, *fault.steps, MAKE, ends(), config=fault.config, validate=validate)

    assert played.complaints(shrunk=fault.shrinks) == []
    assert (played.code, files(home.folder)) == (0, left(fault)), played.err
    assert (played.result["outcome"], played.result["result"]) == ("finished", "Made it.")
    often = [step.get("times", 1) for step in fault.steps] + [1, 1]
    assert played.steps == [number for number, times in enumerate(often, 1) for _ in range(times)]
