"""All faults that leave something in the conversation, in one run: what each left behind is sent with every later request."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.wire import BAD, DIALECTS, MAKE, Home, Step, ends

from .table import FAULTS, Fault

REMINDED = {"text_xml", "text_json", "empty", "null_content"}
"""They end in a reminder, and those are counted."""


def leaves_something(fault: Fault) -> bool:
    """Whether its answer is whole, so that it is stored."""
    return fault.name not in REMINDED and not fault.lax and not any("fault" in step for step in fault.steps)


def own(fault: Fault) -> list[Step]:
    """Its steps with a command that no other fault has: the same one over and over would be stuck."""
    steps: list[Step] = json.loads(json.dumps(fault.steps).replace(BAD, f"{BAD} # {fault.name}"))
    return steps


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_work_is_done_after_every_fault_in_one_run(tmp_path: Path, dialect: str) -> None:
    faults = [fault for fault in FAULTS if leaves_something(fault) and dialect not in fault.without]
    steps: list[dict[str, Any]] = [step for fault in faults for step in own(fault)]
    played = Home(tmp_path).play(dialect, *steps, MAKE, ends())

    assert len(faults) >= 10
    assert played.complaints() == []
    assert (played.code, played.lines("ok.txt")) == (0, 1), played.err
    assert played.lines("bad.txt") == sum(fault.runs or 0 for fault in faults)
