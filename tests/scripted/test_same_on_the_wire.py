"""A script means the same inside Ferrule and through each vendor's dialect over HTTP."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from ferrule.providers.base import Dialect, Endpoint
from ferrule.providers.open import open_provider
from ferrule.types.messages import Reasoning, Text, ToolCall
from ferrule.types.stream import Done, Failed
from tests.fakes.server import FakeServer
from tests.scripted.playing import request, write

BASES: dict[Dialect, str] = {"openai": "/v1", "openai-responses": "/v1", "anthropic": "", "google": "/v1beta"}


def catalogue() -> list[dict[str, Any]]:
    page = (Path(__file__).parents[2] / "docs" / "scripted.md").read_text(encoding="utf-8")
    examples = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    steps = [step for example in examples for step in json.loads(example)["steps"] if "note" in step]
    plain: list[dict[str, Any]] = [
        {"note": "text", "text": "Grüße 😀", "chunk": 2},
        {
            "note": "parallel calls",
            "text": "both",
            "calls": [{"name": "f", "arguments": {"a": 1}}, {"name": "g", "id": "x"}],
            "chunk": 3,
        },
        {
            "note": "reasoning",
            "reasoning": "hm",
            "text": "so",
            "usage": {"input": 7, "output": 5, "cache_read": 3, "reasoning": 2},
        },
        {"note": "stopped by length", "text": "half", "stop": "length"},
    ]
    return plain + [{**step, "times": 1} for step in steps if step.get("fault", {}).get("kind") != "stall"]


def ask(endpoint: Endpoint) -> Done | Failed:
    async def last() -> Done | Failed:
        provider = open_provider(endpoint)
        try:
            events = [event async for event in provider.stream(request())]
        finally:
            await provider.close()
        assert isinstance(events[-1], Done | Failed)
        return events[-1]

    return asyncio.run(last())


def shown(last: Done | Failed) -> Any:
    if isinstance(last, Failed):
        return last.fault.code
    parts = [
        ("call", part.id, part.name, json.loads(part.arguments) if part.arguments.endswith("}") else part.arguments)
        if isinstance(part, ToolCall)
        else (type(part).__name__, part.text)
        for part in last.message.parts
        if isinstance(part, ToolCall | Text | Reasoning)
    ]
    return parts, last.message.stop


OTHERWISE: dict[tuple[str, Dialect], Any] = {
    ("overloaded", "openai"): "server_error",
    ("overloaded", "openai-responses"): "server_error",
    ("overloaded, Anthropic's status", "openai"): "server_error",
    ("overloaded, Anthropic's status", "openai-responses"): "server_error",
    ("an error in the stream", "openai"): "server_error",
    ("empty text", "openai"): ([], "end"),
    ("empty text", "openai-responses"): ([], "end"),
    ("empty text", "google"): ([], "end"),
    ("malformed arguments", "google"): "bad_response",
    ("truncated arguments", "google"): "bad_response",
}
"""What a dialect cannot say: OpenAI calls an overload a server error, an empty delta is none, Google sends calls whole."""
UNSAYABLE = (("double-encoded arguments", "google"), ("the same id twice", "openai"))
"""Google's arguments are objects; in chat completions an id that comes again continues its call."""


@pytest.mark.parametrize(
    ("step", "dialect"),
    [
        pytest.param(step, dialect, id=f"{dialect}-{step['note'].replace(' ', '-')}")
        for step in catalogue()
        for dialect in BASES
        if (step["note"], dialect) not in UNSAYABLE
    ],
)
def test_the_same_step_gives_the_same(tmp_path: Path, step: dict[str, Any], dialect: Dialect) -> None:
    inside = shown(ask(Endpoint("scripted", str(write(tmp_path, step)), "")))
    with FakeServer({"version": 1, "steps": [step]}) as server:
        outside = shown(ask(Endpoint(dialect, "m", server.url + BASES[dialect], "k")))
    assert outside == OTHERWISE.get((step["note"], dialect), inside)
