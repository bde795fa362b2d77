"""Every fault in every dialect that can express it, by the real command: the work is done, and no request would be refused.

The script is [the fault, a command that makes ok.txt, the end]. A command in the fault is run never or exactly as meant: the
files of the project are compared whole, so that a command that was cut short would show.
"""

from pathlib import Path

import pytest

from tests.e2e.wire import MAKE, Home, Step, ends
from tests.judge import violations

from .table import BY_NAME, CELLS, Fault


def files(folder: Path) -> dict[str, str]:
    return {str(file.relative_to(folder)): file.read_text() for file in folder.rglob("*") if file.is_file()}


def left(fault: Fault) -> dict[str, str]:
    """What the project holds once the work is done."""
    return {"ok.txt": "ok\n"} | ({"bad.txt": "ran\n" * fault.runs} if fault.runs else {})


HAND_OVER = """\
## Progress
- Six commands ran.
## Decisions
- None.
## Open TODOs
- Make ok.txt.
## Constraints/Rules
- None.
## Pending user asks
- Make ok.txt.
## Exact identifiers
- ok.txt"""
SUMMARY: Step = {"when": {"system": "hand-over"}, "text": HAND_OVER, "times": "always"}
"""What is answered to a request for a summary, whenever one comes."""


@pytest.mark.parametrize(("name", "dialect"), [pytest.param(*cell, id="-".join(cell)) for cell in CELLS])
def test_the_work_is_done_and_every_request_is_valid(tmp_path: Path, name: str, dialect: str) -> None:
    fault = BY_NAME[name]
    home = Home(tmp_path)
    script = (*fault.steps, MAKE, ends(), SUMMARY)
    played = home.play(dialect, *script, config=fault.config, validate=None if fault.lax else violations)

    assert played.complaints(shrunk=fault.shrinks) == []
    assert (played.code, files(home.folder)) == (0, left(fault)), played.err
    assert (played.result["outcome"], played.result["result"]) == ("finished", "Made it.")
    order = [number for number, step in enumerate(script[:-1], 1) for _ in range(step.get("times", 1))]
    assert [step for step in played.steps if step != len(script)] == order
    assert len(played.steps) - len(order) <= (8 if fault.shrinks else 0)
