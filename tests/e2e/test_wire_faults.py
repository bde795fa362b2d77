"""Each thing that goes wrong between an agent and a model, in every dialect: the work is done, once, and no request is refused.

The script is [what goes wrong, a command that makes ok.txt, the end]. One dialect meets every fault in an ordinary run of the
tests, each of the others a third of them; `-m long` has the rest.
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


CUT = {"kind": "cut", "how": "drop"}
CLEAN = {"kind": "cut", "how": "clean"}
TWIN = {**call("execute_command", command=BAD), "id": "same"}
XML = f"<execute_command><command>{BAD}</command></execute_command>"
WAVE = json.dumps({"command": f"{BAD} # \N{WAVING HAND SIGN}"}, ensure_ascii=False)
QUOTA = {
    "error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "You exceeded your current quota. Please retry in 0.1s."}
}

FAULTS = (
    Fault("http429", (http(429),)),
    Fault("http429x3", (http(429, times=3),)),
    Fault("quota_by_the_minute", (http(429, None, body=QUOTA),)),
    Fault("http500", (http(500),)),
    Fault("http503", (http(503, None),)),
    Fault("http503_html", (http(503, body="<html><h1>Service Unavailable</h1></html>"),)),
    Fault("http529", (http(529),)),
    Fault("reset", ({"fault": {"kind": "reset"}},)),
    Fault("reset_in_stream", ({**shell(BAD), "fault": {"kind": "reset", "bytes": 200}},)),
    Fault("cut_args", ({**shell(BAD), "fault": CUT},)),
    Fault("cut_args_clean", ({**shell(BAD), "fault": CLEAN},)),
    Fault("cut_before_the_end_mark", ({**shell(BAD), "fault": {**CLEAN, "at": "end"}},)),
    Fault("cut_text", ({"text": "I am about to", "fault": CUT},)),
    Fault("cut_text_clean", ({"text": "I am about to", "fault": CLEAN},)),
    Fault("stall", ({**shell(BAD), "fault": {"kind": "stall", "seconds": 0.4}},), 1),
    Fault("error_in_stream", ({**shell(BAD), "fault": {"kind": "error"}},)),
    Fault("malformed_args", (arguments('{"command": ' + BAD),)),
    Fault("truncated_args", (arguments(BAD_ARGUMENTS[:-3], stop="length"),)),
    Fault("whole_args_at_the_limit", (arguments(BAD_ARGUMENTS, stop="length"),)),
    Fault("list_args", (arguments(json.dumps([BAD])),)),
    Fault("empty", ({"parts": []},)),
    Fault("empty_text", ({"text": ""},)),
    Fault("null_content", ({"text": None},)),
    Fault("reasoning_only", ({"reasoning": "hm"},)),
    Fault("unknown_tool", (named("run_it_all"),)),
    Fault("name_empty", (named(""),)),
    Fault("name_of_nothing_storable", (named("\u2026 / \u2026"),)),
    Fault("name_spaces", (named(" execute_command "),), 1),
    Fault("name_case", (named("Execute_Command"),), 1),
    Fault("name_prefix", (named("functions.execute_command"),), 1),
    Fault("name_zero_width", (named("execute\u200b_command"),), 1),
    Fault("text_xml", ({"text": XML},)),
    Fault("text_json", ({"text": json.dumps(call("execute_command", command=BAD))},)),
    Fault("dup_ids", ({"calls": [TWIN, TWIN]},), 2),
    Fault("dup_ids_over_turns", (shell(BAD, id="same"), shell(BAD, id="same")), 2),
    Fault("missing_id", (shell(BAD, id=None),), 1),
    Fault("empty_id", (shell(BAD, id=""),), 1),
    Fault("id_that_no_vendor_takes", (shell(BAD, id="a b/\N{WAVING HAND SIGN}" * 30),), 1),
    Fault("double_encoded", (arguments(json.dumps(BAD_ARGUMENTS)),), 1),
    Fault("raw_breaks_in_args", (arguments('{"command": "' + BAD + '\n"}'),), 1, strict=True),
    Fault("stop_with_calls", ({**shell(BAD), "stop": "end"},), 1),
    Fault("no_usage", ({**shell(BAD), "usage": None},), 1),
    Fault("half_surrogates", ({**arguments(WAVE), "chunk": 1, "wire": {"halves": True}},), 1),
    Fault("lone_surrogate", ({"text": "so \ud83d", **shell(f"{BAD} # \udc4b")},), 1),
    Fault("lines_ended_by_crlf", ({**shell(BAD), "wire": {"newline": "\r\n"}},), 1),
    Fault("lines_ended_by_cr", ({**shell(BAD), "wire": {"newline": "\r"}},), 1),
    Fault("comments_and_split_data", ({**shell(BAD), "wire": {"comments": True, "data_lines": True}},), 1),
    Fault("one_byte_a_write", ({**shell(BAD), "wire": {"bytes": 1}},), 1),
    Fault("calls_that_take_turns", ({"calls": [shell(BAD)["calls"][0]] * 2, "chunk": 4, "wire": {"interleave": True}},), 2),
    Fault("twins_that_take_turns", ({"calls": [TWIN, TWIN], "chunk": 4, "wire": {"interleave": True}},), 2),
    Fault("calls_without_index", ({"calls": [shell(BAD)["calls"][0]] * 2, "chunk": 4, "wire": {"index": False}},), 2),
    Fault("reset_x3", ({"fault": {"kind": "reset"}, "times": 3},)),
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
