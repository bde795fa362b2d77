"""The fake itself: bytes, faults, records, and the process that serves it."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.fakes.conftest import Serve
from tests.fakes.server import FakeServer

PATHS = {
    "openai": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "google": "/v1beta/models/m:streamGenerateContent?alt=sse",
}
ASKS: dict[str, dict[str, Any]] = {
    "openai": {"model": "m", "messages": [{"role": "user", "content": "go"}], "stream": True},
    "openai-responses": {"model": "m", "input": [{"role": "user", "content": "go"}], "stream": True},
    "anthropic": {"model": "m", "messages": [{"role": "user", "content": "go"}], "max_tokens": 9, "stream": True},
    "google": {"contents": [{"role": "user", "parts": [{"text": "go"}]}]},
}
dialects = pytest.mark.parametrize("dialect", list(PATHS))


def post(server: FakeServer, dialect: str, body: Any = None) -> httpx2.Response:
    asked = ASKS[dialect] if body is None else body
    return httpx2.post(server.url + PATHS[dialect], json=asked, timeout=10, verify=False)


def read_what_comes(server: FakeServer, dialect: str, client: httpx2.Client) -> tuple[int, bytes]:
    status, got = 0, bytearray()
    try:
        with client.stream("POST", server.url + PATHS[dialect], json=ASKS[dialect]) as response:
            status = response.status_code
            for part in response.iter_raw():
                got += part
    except httpx2.TransportError:
        return status, bytes(got)
    return status, bytes(got)


@dialects
@pytest.mark.parametrize("how", [{"kind": "cut"}, {"kind": "cut", "how": "drop"}, {"kind": "reset"}])
def test_a_stream_can_end_after_any_byte(serve: Serve, dialect: str, how: dict[str, Any]) -> None:
    step = {"text": "half way", "calls": [{"name": "f", "arguments": {"a": 1}}], "chunk": 3}
    with httpx2.Client(verify=False) as client:
        whole = read_what_comes(serve(step), dialect, client)[1]
        for size in (0, 1, len(whole) // 2, len(whole) - 1):
            server = serve({**step, "fault": {**how, "bytes": size}})
            assert read_what_comes(server, dialect, client) == (200, whole[:size])


@dialects
def test_a_stall_is_silent_and_then_goes_on(serve: Serve, dialect: str) -> None:
    step = {"text": "half way"}
    plain = post(serve({**step, "chunk": 4}), dialect).content
    for place in ({"at": "headers"}, {"at": "start"}, {"at": "middle"}, {"at": "end"}, {"bytes": 5}):
        server = serve({**step, "chunk": 4, "fault": {"kind": "stall", "seconds": 0.15, **place}})
        begun = time.monotonic()
        assert post(server, dialect).content == plain
        assert time.monotonic() - begun >= 0.15


def test_a_stall_ends_when_the_client_gives_up(serve: Serve) -> None:
    server = serve({"text": "x", "fault": {"kind": "stall", "seconds": 60}}, {"text": "y"})
    with pytest.raises(httpx2.ReadTimeout):
        httpx2.post(server.url + PATHS["openai"], json=ASKS["openai"], timeout=0.3)
    assert b'"y"' in post(server, "openai").content


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_framing_is_as_asked(serve: Serve, newline: str) -> None:
    wire = {"newline": newline, "comments": True, "data_lines": True, "end_marker": False}
    text = post(serve({"text": "hi", "wire": wire}), "openai").text
    events = text.split(newline * 2)
    assert events.pop() == ""
    assert events[0::2] == [": keep-alive"] * 3
    data = [[line.removeprefix("data: ") for line in event.split(newline)] for event in events[1::2]]
    assert [len(lines) for lines in data] == [2, 2, 2]
    assert json.loads("\n".join(data[1]))["choices"][0]["delta"] == {"content": "hi"}


def test_halves_of_a_pair_arrive_in_two_deltas_and_lone_halves_as_escapes(serve: Serve) -> None:
    text = post(serve({"text": "a😀", "chunk": 1, "wire": {"halves": True}}), "openai").text
    assert re.findall(r'"delta":\{"content":("[^"]*")', text) == ['"a"', r'"\ud83d"', r'"\ude00"']
    lone = post(serve({"text": "a\ud83d"}), "openai").text
    assert r'{"content":"a\ud83d"}' in lone


def test_ids_indexes_and_content_can_be_missing(serve: Serve) -> None:
    step = {
        "text": None,
        "calls": [{"name": "f", "id": None}, {"name": "functions.g h"}],
        "wire": {"index": False},
        "stop": "end",
    }
    lines = post(serve(step), "openai").text.split("\n\n")
    choices = [json.loads(line.removeprefix("data: "))["choices"][0] for line in lines if line.startswith("data: {")]
    assert [choice["delta"] for choice in choices] == [
        {"role": "assistant", "content": None},
        {"tool_calls": [{"type": "function", "function": {"name": "f", "arguments": ""}}]},
        {"tool_calls": [{"function": {"arguments": "{}"}}]},
        {"tool_calls": [{"id": "call_1_1_2", "type": "function", "function": {"name": "functions.g h", "arguments": ""}}]},
        {"tool_calls": [{"function": {"arguments": "{}"}}]},
        {},
    ]
    assert choices[-1]["finish_reason"] == "stop"


@dialects
def test_the_hooks_violations_are_the_vendors_400_and_use_up_no_step(serve: Serve, dialect: str) -> None:
    asked: list[Any] = []

    def validate(name: str, body: dict[str, Any]) -> list[str]:
        asked.append((name, body))
        return ["first", "second"] if len(asked) == 1 else []

    server = serve({"text": "fine"}, validate=validate)
    refused = post(server, dialect)
    assert (refused.status_code, refused.json()["error"]["message"]) == (400, "first; second")
    assert post(server, dialect).status_code == 200
    assert asked == [(dialect, ASKS[dialect])] * 2
    assert [(one.step, one.violations) for one in server.calls] == [(None, ("first", "second")), (1, ())]
    assert server.problems == ["first", "second"]


@dialects
def test_a_script_that_is_over_or_expects_otherwise_refuses_and_says_so(serve: Serve, dialect: str) -> None:
    server = serve({"text": "x", "expect": {"last_user": "stop"}})
    for said in ("step 1 of the script expects another request", "the script has no step left"):
        refused = post(server, dialect)
        assert refused.status_code == 400
        assert said in refused.json()["error"]["message"]
    assert len(server.problems) == 2


def test_requests_are_recorded_whole_with_times(serve: Serve, tmp_path: Path) -> None:
    record = tmp_path / "record.jsonl"
    server = serve({"text": "one"}, {"text": "two"}, record=record)
    with httpx2.Client() as client:
        for key in ("a", "b"):
            client.post(server.url + PATHS["openai"], json=ASKS["openai"], headers={"X-Key": key})
    assert server.bodies == [ASKS["openai"]] * 2
    assert [one.headers["x-key"] for one in server.calls] == ["a", "b"]
    first, second = server.calls
    assert first.ended
    assert first.arrived < first.ended < second.arrived
    assert server.gaps() == [second.arrived - first.ended]
    server.close()
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    assert [(line["step"], json.loads(line["body"]), line["arrived"]) for line in lines] == [
        (1, ASKS["openai"], first.arrived),
        (2, ASKS["openai"], second.arrived),
    ]


def test_a_lost_answer_is_given_again_when_the_script_says_so(serve: Serve) -> None:
    steps = [{"text": "one"}, {"text": "two"}]
    keeps = serve(*steps, script={"on_lost": "again"})
    post(keeps, "openai")
    assert b'"one"' in post(keeps, "openai").content
    grown = {**ASKS["openai"], "messages": [*ASKS["openai"]["messages"], {"role": "assistant", "content": "one"}]}
    assert b'"two"' in post(keeps, "openai", grown).content
    goes_on = serve(*steps)
    post(goes_on, "openai")
    assert b'"two"' in post(goes_on, "openai").content


def test_the_process_prints_its_url_and_records(tmp_path: Path) -> None:
    script, record = tmp_path / "script.json", tmp_path / "record.jsonl"
    script.write_text(json.dumps({"version": 1, "steps": [{"text": "hi"}]}))
    command = [sys.executable, "-m", "tests.fakes.server", str(script), "--port", "0", "--record", str(record)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            url = process.stdout.readline().strip()
            assert b'"hi"' in httpx2.post(url + PATHS["openai"], json=ASKS["openai"]).content
        finally:
            process.terminate()
    assert json.loads(record.read_text())["step"] == 1


def test_big_arguments_in_small_deltas_cost_little(serve: Serve) -> None:
    content = "x" * 200_000
    server = serve({"calls": [{"name": "write", "arguments": {"content": content}}], "chunk": 24})
    begun = time.process_time()
    received = post(server, "openai").content
    assert received.count(b'"arguments"') == len(json.dumps({"content": content})) // 24 + 2
    assert time.process_time() - begun < 1.0


RESULTS: dict[str, dict[str, Any]] = {
    "openai": {
        "messages": [
            {"role": "system", "content": "be good"},
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": "x", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}] * 2},
            {"role": "tool", "tool_call_id": "a", "content": "first"},
            {"role": "tool", "tool_call_id": "b", "content": [{"type": "text", "text": "second"}]},
        ],
        "tools": [{"type": "function", "function": {"name": "f"}}],
    },
    "openai-responses": {
        "instructions": "be good",
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "go"}]},
            {"type": "reasoning", "id": "rs", "summary": []},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]},
            {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
            {"type": "function_call", "call_id": "b", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "a", "output": "first"},
            {"type": "function_call_output", "call_id": "b", "output": [{"type": "input_text", "text": "second"}]},
        ],
        "tools": [{"type": "function", "name": "f"}],
    },
    "anthropic": {
        "system": [{"type": "text", "text": "be good"}],
        "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]},
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "a", "content": "first"},
                    {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": "second"}]},
                ],
            },
        ],
        "tools": [{"name": "f"}],
    },
    "google": {
        "systemInstruction": {"parts": [{"text": "be good"}]},
        "contents": [
            {"role": "user", "parts": [{"text": "go"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"name": "f", "response": {"output": "first"}}},
                    {"functionResponse": {"name": "f", "response": {"output": "second"}}},
                ],
            },
        ],
        "tools": [{"functionDeclarations": [{"name": "f"}]}],
    },
}


@dialects
def test_a_script_sees_the_same_of_a_conversation_in_every_dialect(serve: Serve, dialect: str) -> None:
    holds = {"last": "results", "last_user": "go", "last_result": "first\nsecond", "system": "be good", "tool": "f", "answers": 1}
    server = serve(
        {"text": "wrong", "when": {"last": "user", "answers": 1}},
        {"text": "{{word}}", "copy": {"word": "sec.*"}, "expect": holds},
    )
    assert b'"second"' in post(server, dialect, RESULTS[dialect]).content
    assert server.problems == []


def catalogue() -> list[dict[str, Any]]:
    page = (Path(__file__).parents[2] / "docs" / "scripted.md").read_text(encoding="utf-8")
    steps = [step for example in re.findall(r"```json\n(.*?)```", page, re.DOTALL) for step in json.loads(example)["steps"]]
    noted = [{**step, "times": 1} for step in steps if "note" in step]
    return [
        {**step, "fault": {**step["fault"], "seconds": 0.01}} if "seconds" in step.get("fault", {}) else step for step in noted
    ]


@dialects
def test_every_fault_of_the_documentation_can_be_played(serve: Serve, dialect: str) -> None:
    steps = catalogue()
    server = serve(*steps)
    with httpx2.Client(verify=False) as client:
        for number, step in enumerate(steps, 1):
            fault = step.get("fault", {})
            status, got = read_what_comes(server, dialect, client)
            assert status == (fault["status"] if fault.get("kind") == "http" else 0 if fault == {"kind": "reset"} else 200), step
            assert (got == b"") == (fault == {"kind": "reset"}), step
            assert server.calls[-1].step == number
    assert server.problems == []
