"""What a model thought goes back as it came, and only to that model; what a run used and cost is told."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.wire import DIALECTS, MAKE, WIRES, Home, Step, ends, shell, spread
from tests.judge import violations

ARGUMENTS = '{"command": "echo ok > ok.txt"}'
CALL = {"name": "execute_command", "arguments": ARGUMENTS}


def raw(*events: Any) -> Step:
    """An answer given as the very events of the vendor."""
    lines = [f"event: {event.get('type', 'message')}\ndata: {json.dumps(event)}\n\n" for event in events]
    return {"fault": {"kind": "http", "status": 200, "headers": {"Content-Type": "text/event-stream"}, "body": "".join(lines)}}


def block(index: int, begun: Any, *deltas: Any) -> list[Any]:
    return [
        {"type": "content_block_start", "index": index, "content_block": begun},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


ENCRYPTED = {"id": "rs_7", "type": "reasoning", "summary": [], "encrypted_content": "Z0FBQUFBQm9="}
FUNCTION = {"id": "fc_7", "type": "function_call", "call_id": "c7", "name": "execute_command", "arguments": ARGUMENTS}
ANSWERS: dict[str, Step] = {
    "openai": raw(
        {"choices": [{"index": 0, "delta": {"role": "assistant", "reasoning_content": "Think "}}]},
        {"choices": [{"index": 0, "delta": {"reasoning_content": "twice."}}]},
        {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "c7", "type": "function", "function": CALL}]}}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
    ),
    "openai-responses": raw(
        {"type": "response.output_item.added", "output_index": 0, "item": {"id": "rs_7", "type": "reasoning", "summary": []}},
        {"type": "response.output_item.done", "output_index": 0, "item": ENCRYPTED},
        {"type": "response.output_item.added", "output_index": 1, "item": {**FUNCTION, "arguments": ""}},
        {"type": "response.output_item.done", "output_index": 1, "item": FUNCTION},
        {"type": "response.completed", "response": {"status": "completed", "output": [ENCRYPTED, FUNCTION]}},
    ),
    "anthropic": raw(
        {"type": "message_start", "message": {"usage": {"input_tokens": 10, "output_tokens": 1}}},
        *block(
            0,
            {"type": "thinking", "thinking": "", "signature": ""},
            {"type": "thinking_delta", "thinking": "Think "},
            {"type": "thinking_delta", "thinking": "twice."},
            {"type": "signature_delta", "signature": "c2lnbmF0dXJl"},
        ),
        *block(1, {"type": "redacted_thinking", "data": "cmVkYWN0ZWQ="}),
        *block(
            2,
            {"type": "tool_use", "id": "c7", "name": "execute_command", "input": {}},
            {"type": "input_json_delta", "partial_json": ARGUMENTS},
        ),
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ),
    "google": raw(
        {"candidates": [{"content": {"role": "model", "parts": [{"text": "Think twice.", "thought": True}]}}]},
        {
            "candidates": [
                {
                    "content": {
                        "role": "model",
                        "parts": [
                            {"text": "Now.", "thoughtSignature": "dGV4dA=="},
                            {
                                "functionCall": {"name": "execute_command", "args": {"command": "echo ok > ok.txt"}},
                                "thoughtSignature": "Y2FsbA==",
                            },
                        ],
                    },
                    "finishReason": "STOP",
                }
            ]
        },
    ),
}
BACK: dict[str, list[Any]] = {
    "openai": [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call00001", "type": "function", "function": CALL}],
            "reasoning_content": "Think twice.",
        }
    ],
    "openai-responses": [
        ENCRYPTED,
        {"type": "function_call", "call_id": "call_00001", "name": "execute_command", "arguments": ARGUMENTS},
    ],
    "anthropic": [
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Think twice.", "signature": "c2lnbmF0dXJl"},
                {"type": "redacted_thinking", "data": "cmVkYWN0ZWQ="},
                {
                    "type": "tool_use",
                    "id": "call_00001",
                    "name": "execute_command",
                    "input": {"command": "echo ok > ok.txt"},
                },
            ],
        }
    ],
    "google": [
        {
            "role": "model",
            "parts": [
                {"text": "Now.", "thoughtSignature": "dGV4dA=="},
                {
                    "functionCall": {"name": "execute_command", "args": {"command": "echo ok > ok.txt"}},
                    "thoughtSignature": "Y2FsbA==",
                },
            ],
        }
    ],
}
OPAQUE = ("Think twice.", "c2lnbmF0dXJl", "cmVkYWN0ZWQ=", "Z0FBQUFBQm9=", "dGV4dA==", "Y2FsbA==")
OTHER = {
    "openai": "openai/gpt-4.1",
    "openai-responses": "openai-responses/gpt-5-mini",
    "anthropic": "anthropic/claude-opus-5",
    "google": "google/gemini-3.1-pro-preview",
}


def conversation(dialect: str, body: Any) -> list[Any]:
    """The messages after the system prompt."""
    messages = body[{"openai-responses": "input", "google": "contents"}.get(dialect, "messages")]
    assert isinstance(messages, list)
    return messages[1:] if dialect == "openai" else messages


DEEP = """
[endpoints.deep]
dialect = "openai"
base_url = "BASE_URL"
reasoning = true
quirks = ["reasoning_content", "max_tokens"]
"""
"""A server that wants back what its model thought, as several do that copy OpenAI's chat dialect."""


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_a_model_thought_goes_back_as_it_came(tmp_path: Path, dialect: str):
    model = "deep/thinker" if dialect == "openai" else WIRES[dialect].default
    judge = None if dialect == "openai" else violations
    played = Home(tmp_path).play(dialect, ANSWERS[dialect], MAKE, ends(), model=model, config=DEEP, validate=judge)

    assert played.code == 0, played.err
    # OpenAI itself takes no reasoning_content
    assert [complaint for complaint in played.complaints() if "reasoning_content" not in complaint] == []
    for body in played.bodies[1:]:
        assert conversation(dialect, body)[1 : 1 + len(BACK[dialect])] == BACK[dialect]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_another_model_gets_none_of_it(tmp_path: Path, dialect: str):
    home = Home(tmp_path)
    first = home.play(dialect, ANSWERS[dialect], ends(), model=WIRES[dialect].default)
    second = home.play(dialect, MAKE, ends(), prompt=("-c", "-p", "again"), model=OTHER[dialect])

    assert (first.code, second.code, second.complaints()) == (0, 0, []), second.err
    assert [mark for mark in OPAQUE if mark in json.dumps(second.bodies)] == []


@pytest.mark.parametrize("dialect", DIALECTS)
def test_another_dialect_goes_on_with_the_session(tmp_path: Path, dialect: str):
    home = Home(tmp_path)
    other = DIALECTS[(DIALECTS.index(dialect) + 1) % len(DIALECTS)]
    first = home.play(dialect, ANSWERS[dialect], ends(), model=WIRES[dialect].default)
    second = home.play(other, MAKE, ends(), prompt=("-c", "-p", "again"), model=WIRES[other].default)

    assert (first.code, second.code, second.complaints()) == (0, 0, []), second.err
    sent = json.dumps(second.bodies[0])
    assert "echo ok > ok.txt" in sent
    assert [mark for mark in OPAQUE[1:] if mark in sent] == []


def test_cache_marks_are_four_at_most_and_stand_where_the_last_request_had_one(tmp_path: Path):
    steps = [shell(f"echo {number}") for number in range(5)]
    played = Home(tmp_path).play("anthropic", *steps, ends(), model=WIRES["anthropic"].default)

    assert (played.code, played.complaints()) == (0, []), played.err
    marked = [
        [at for at, message in enumerate(body["messages"]) if "cache_control" in message["content"][-1]] for body in played.bodies
    ]
    assert marked == [[0], [0, 2], [2, 4], [4, 6], [6, 8], [8, 10]]
    assert [json.dumps(body).count("cache_control") for body in played.bodies] == [3, 4, 4, 4, 4, 4]


COSTS = {"openai": 350e-6, "openai-responses": 350e-6, "anthropic": 525e-6, "google": 375e-6}
"""Of one call with the usage below, at the catalog's prices."""


def used(dialect: str) -> dict[str, int]:
    written = {"cache_write": 50} if dialect == "anthropic" else {}
    thought = {"reasoning": 4} if dialect != "anthropic" else {}
    return {"input": 100, "output": 10, "cache_read": 1000, **written, **thought}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_usage_and_cost_of_all_calls_are_in_the_result(tmp_path: Path, dialect: str):
    usage = used(dialect)
    steps = [{**step, "usage": usage} for step in (MAKE, ends())]
    played = Home(tmp_path).play(dialect, *steps, model=WIRES[dialect].default)

    twice = {name: 2 * usage.get(name, 0) for name in ("input", "output", "cache_read", "cache_write", "reasoning")}
    assert {**played.result["usage"], "cost": None} == {**twice, "cost": None}
    assert played.result["cost_usd"] == pytest.approx(2 * COSTS[dialect])


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_limit_of_cost_ends_the_run_once_it_is_spent(tmp_path: Path, dialect: str):
    step = {**shell("echo x >> x.txt"), "usage": used(dialect), "times": "always"}
    limit = f"{1.5 * COSTS[dialect]:.6f}"
    played = Home(tmp_path).play(dialect, step, model=WIRES[dialect].default, arguments=("--max-cost", limit))

    assert (played.code, played.result["outcome"], len(played.calls), played.lines("x.txt")) == (4, "limit", 2, 2)


@spread(("price",))
def test_a_limit_of_cost_without_a_price_is_a_wrong_command_line(tmp_path: Path, name: str, dialect: str):
    played = Home(tmp_path).play(dialect, MAKE, ends(), arguments=("--max-cost", "1"))

    assert (played.code, played.calls, played.lines("ok.txt")) == (2, [], 0)
    assert "--max-cost needs a price" in played.err


@spread(("usage",))
def test_a_cost_that_was_not_reported_is_unknown_and_never_nothing(tmp_path: Path, name: str, dialect: str):
    played = Home(tmp_path).play(dialect, {**MAKE, "usage": None}, ends(), model=WIRES[dialect].default)

    assert (played.code, played.result["cost_usd"]) == (0, None)
