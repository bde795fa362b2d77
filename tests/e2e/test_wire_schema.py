"""A server that enforces a JSON schema and no tool calls: the reply is the call, and faults cost no more than elsewhere."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.wire import BAD, Home, Step

SMALL = """
[endpoints.small]
dialect = "openai"
base_url = "BASE_URL"
tools = "schema"
"""


def says(tool: str, **arguments: Any) -> Step:
    return {"text": json.dumps({"call": {"tool": tool, "arguments": arguments}}), "chunk": 5}


MAKE, END, RUN = (
    says("execute_command", command="echo ok > ok.txt"),
    says("attempt_completion", result="Made."),
    says("execute_command", command=BAD),
)
FAULTS: dict[str, Step] = {
    "cut": {**RUN, "fault": {"kind": "cut", "how": "drop"}},
    "cut_clean": {**RUN, "fault": {"kind": "cut", "how": "clean"}},
    "whole_at_the_limit": {**RUN, "stop": "length"},
    "truncated": {"text": RUN["text"][:-4], "stop": "length"},
    "no_json": {"text": "{oops"},
    "prose_around_it": {"text": f"Sure! {RUN['text']}"},
    "empty": {"text": ""},
    "unknown_tool": says("run_it_all", command=BAD),
    "no_arguments": {"text": '{"call": {"tool": "execute_command"}}'},
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_reply_that_is_no_whole_call_is_not_run_and_the_work_is_done(tmp_path: Path, name: str):
    played = Home(tmp_path).play("openai", FAULTS[name], MAKE, END, model="small/any", config=SMALL)

    assert (played.code, played.complaints()) == (0, []), played.err
    assert (played.lines("ok.txt"), played.lines("bad.txt"), played.steps) == (1, 0, [1, 2, 3])


def test_calls_and_results_go_back_as_the_text_that_they_were(tmp_path: Path):
    home = Home(tmp_path)
    (home.folder / "a.txt").write_text("a\n")
    played = home.play("openai", says("read_file", path="a.txt"), END, prompt=("-p", "look"), model="small/any", config=SMALL)
    first, second = played.bodies
    system, *said = second["messages"]

    assert (played.code, played.complaints()) == (0, []), played.err
    assert first == {**second, "messages": [system, said[0]]}
    assert second.keys() == {"model", "stream", "stream_options", "response_format", "messages", "temperature"}
    assert first["response_format"]["type"] == "json_schema"
    reply, result = said[1:]
    assert said[0] == {"role": "user", "content": "look"}
    assert (reply["role"], json.loads(reply["content"])) == ("assistant", json.loads(says("read_file", path="a.txt")["text"]))
    assert (result["role"], "1 | a" in result["content"]) == ("user", True)
    assert len(played.calls[0].raw) <= 16_000
