"""What else goes wrong between an agent and a model, in every dialect: the work is done, once, and no request is refused.

The script is [what goes wrong, a command that makes ok.txt, the end]. One dialect meets every fault in an ordinary run of the
tests, each of the others a third of them; `-m long` has the rest. The faults that other agents were measured on are those of
`tests/faults`.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

from tests.e2e.wire import BAD, MAKE, Home, Step, call, ends, http, shell, spread

BAD_ARGUMENTS = json.dumps({"command": BAD})


class Fault(NamedTuple):
    """The steps before the work, and how often the command in them has to be run.

    `strict` where Google, which parses arguments itself, reports a malformed call that others send as it is.
    """

    name: str
    steps: tuple[Step, ...]
    runs: int = 0
    strict: bool = False


def named(name: str) -> Step:
    return {"calls": [call(name, command=BAD)]}


def arguments(text: str, **step: Any) -> Step:
    return {"calls": [{"name": "execute_command", "arguments": text}], **step}


TWIN = {**call("execute_command", command=BAD), "id": "same"}
WAVE = json.dumps({"command": f"{BAD} # \N{WAVING HAND SIGN}"}, ensure_ascii=False)
QUOTA = {
    "error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "You exceeded your current quota. Please retry in 0.1s."}
}

FAULTS = (
    Fault("quota_by_the_minute", (http(429, None, body=QUOTA),)),
    Fault("reset_in_stream", ({**shell(BAD), "fault": {"kind": "reset", "bytes": 200}},)),
    Fault("cut_before_the_end_mark", ({**shell(BAD), "fault": {"kind": "cut", "at": "end"}},)),
    Fault("stall", ({**shell(BAD), "fault": {"kind": "stall", "seconds": 0.4}},), 1),
    Fault("error_in_stream", ({**shell(BAD), "fault": {"kind": "error"}},)),
    Fault("whole_args_at_the_limit", (arguments(BAD_ARGUMENTS, stop="length"),)),
    Fault("list_args", (arguments(json.dumps([BAD])),)),
    Fault("reasoning_only", ({"reasoning": "hm"},)),
    Fault("name_empty", (named(""),)),
    Fault("name_of_nothing_storable", (named("\u2026 / \u2026"),)),
    Fault("name_zero_width", (named("execute\u200b_command"),), 1),
    Fault("dup_ids_over_turns", (shell(BAD, id="same"), shell(BAD, id="same")), 2),
    Fault("empty_id", (shell(BAD, id=""),), 1),
    Fault("id_that_no_vendor_takes", (shell(BAD, id="a b/\N{WAVING HAND SIGN}" * 30),), 1),
    Fault("raw_breaks_in_args", (arguments('{"command": "' + BAD + '\n"}'),), 1, strict=True),
    Fault("half_surrogates", ({**arguments(WAVE), "chunk": 1, "wire": {"halves": True}},), 1),
    Fault("lone_surrogate", ({"text": "so \ud83d", **shell(f"{BAD} # \udc4b")},), 1),
    Fault("lines_ended_by_crlf", ({**shell(BAD), "wire": {"newline": "\r\n"}},), 1),
    Fault("lines_ended_by_cr", ({**shell(BAD), "wire": {"newline": "\r"}},), 1),
    Fault("comments_and_split_data", ({**shell(BAD), "wire": {"comments": True, "data_lines": True}},), 1),
    Fault("one_byte_a_write", ({**shell(BAD), "wire": {"bytes": 1}},), 1),
    Fault("calls_that_take_turns", ({"calls": [shell(BAD)["calls"][0]] * 2, "chunk": 4, "wire": {"interleave": True}},), 2),
    Fault("twins_that_take_turns", ({"calls": [TWIN, TWIN], "chunk": 4, "wire": {"interleave": True}},), 2),
    Fault("calls_without_index", ({"calls": [shell(BAD)["calls"][0]] * 2, "chunk": 4, "wire": {"index": False}},), 2),
)
BY_NAME = {fault.name: fault for fault in FAULTS}


@spread(BY_NAME)
def test_the_work_is_done_once_and_no_request_is_refused(tmp_path: Path, name: str, dialect: str):
    fault = BY_NAME[name]
    played = Home(tmp_path).play(dialect, *fault.steps, MAKE, ends())

    assert (played.code, played.complaints()) == (0, []), played.err
    assert played.result["outcome"] == "finished"
    assert (played.lines("ok.txt"), played.lines("bad.txt")) == (1, 0 if fault.strict and dialect == "google" else fault.runs)
    often = [step.get("times", 1) for step in fault.steps] + [1, 1]
    assert played.steps == [number for number, times in enumerate(often, 1) for _ in range(times)]
