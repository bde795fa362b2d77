"""Playing a script and collecting what comes."""

import asyncio
import json
from pathlib import Path
from typing import Any

from ferrule.providers.base import Endpoint, Profile
from ferrule.providers.scripted.provider import ScriptedProvider
from ferrule.types.messages import Assistant, Message, Results, Text, ToolResult, User
from ferrule.types.request import Request, ToolSchema
from ferrule.types.stream import Done, Failed, StreamEvent

GO = User((Text("go"),))


def write(folder: Path, *steps: dict[str, Any], **more: Any) -> Path:
    path = folder / "script.json"
    path.write_text(json.dumps({"version": 1, "steps": list(steps), **more}))
    return path


def provider(path: Path, profile: Profile | None = None) -> ScriptedProvider:
    return ScriptedProvider(Endpoint("scripted", str(path), "", profile=profile or Profile()))


def request(*messages: Message, system: tuple[str, ...] = (), tools: tuple[ToolSchema, ...] = ()) -> Request:
    return Request(system, messages or (GO,), tools)


def events(player: ScriptedProvider, asked: Request) -> list[StreamEvent]:
    async def collect() -> list[StreamEvent]:
        return [event async for event in player.stream(asked)]

    return asyncio.run(collect())


def play(player: ScriptedProvider, *messages: Message, **more: Any) -> Done | Failed:
    last = events(player, request(*messages, **more))[-1]
    assert isinstance(last, Done | Failed)
    return last


def done(player: ScriptedProvider, *messages: Message) -> Assistant:
    last = play(player, *messages)
    assert isinstance(last, Done), last
    return last.message


def results(answer: Assistant, *texts: str) -> Results:
    return Results(
        tuple(ToolResult(call.id, call.name, "ok", (Text(text),)) for call, text in zip(answer.calls, texts, strict=True))
    )
