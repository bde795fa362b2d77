"""What the filters around a model call cost: requests of long conversations, and the events of an answer."""

import gc
import importlib
import statistics
import time
from typing import Any

from ferrule.attempt.filters.catalog import FILTERS
from ferrule.providers.base import Endpoint, Profile
from ferrule.providers.catalog import profile
from ferrule.providers.memo import Memo
from ferrule.stream.chain import Chain
from ferrule.stream.filter import Answering, Sending
from ferrule.tools.catalog import coding_tools
from ferrule.tools.schema import schema
from ferrule.types.messages import Assistant, Message, Reasoning, Results, Text, ToolCall, ToolResult, User
from ferrule.types.request import Request
from ferrule.types.stream import Done, PartBegan, PartDelta, StreamEvent
from ferrule.types.usage import NOTHING

from .rows import Row

ENDPOINTS = (
    Endpoint("openai", "copy", "https://models.example/v1", profile=Profile(ids="strict9", window=1_000_000)),
    Endpoint("openai-responses", "gpt-5.1", "https://api.openai.com/v1", profile=profile("openai-responses", "gpt-5.1")),
    Endpoint("anthropic", "claude-opus-5-5", "https://api.anthropic.com", profile=profile("anthropic", "claude-opus-5-5")),
    Endpoint("google", "gemini-3.8-flash", "https://google.example", profile=profile("google", "gemini-3.8-flash")),
)
TOOLS = tuple(schema(tool) for tool in coding_tools())


def build_request() -> list[Row]:
    """The last of some turns, everything before it known: filters and the body as it is sent, the slowest dialect of the four."""
    few = {endpoint.dialect: _turn(endpoint, 2_000) for endpoint in ENDPOINTS}
    many = {endpoint.dialect: _turn(endpoint, 4_000) for endpoint in ENDPOINTS}
    slowest = max(few, key=lambda dialect: few[dialect])
    growth = sum(many.values()) / sum(few.values())
    shown = ", ".join(f"{dialect} {milliseconds:.1f}" for dialect, milliseconds in few.items())
    return [
        Row("request of 2,000 messages, warm, CPU", f"{few[slowest]:.1f} ms ({shown})", "", "≤ 20 ms", few[slowest] <= 20),
        Row("4,000 messages", f"{max(many.values()):.1f} ms", f"{growth:.2f} × 2,000", "≤ 2.2 ×", growth <= 2.2),
    ]


def chain_events() -> Row:
    """An answer of many small deltas of text, reasoning and arguments, with every filter that a profile can ask for."""
    endpoint = Endpoint("openai", "m", "https://models.example/v1", profile=Profile(promote=True, html_entities=True))
    events = _answer(10_000)
    chain = Chain(FILTERS, endpoint)

    def once() -> float:
        answer = chain.answer(Answering(TOOLS))
        began = time.process_time()
        for event in events:
            answer.take(event)
        return (time.process_time() - began) / len(events) * 1e6

    each = statistics.median(once() for _ in range(15))
    return Row(f"filters, {len(events):,} events, CPU an event", f"{each:.2f} µs", "", "≤ 3 µs", each <= 3)


def conversation(count: int) -> list[Message]:
    """Turns of a long task: an answer with a call, then its output of some lines."""
    messages: list[Message] = [User((Text("Do the work."),))]
    while len(messages) <= count:
        number = len(messages)
        id = f"call_{number:05d}"
        said = (Reasoning("So."), Text(f"Step {number}."), ToolCall(id, "execute_command", f'{{"command":"make part-{number}"}}'))
        output = "\n".join(f"part {number}: step {step} of 12 done, nothing to report" for step in range(12))
        messages.append(Assistant(said, "calls", "openai/m"))
        messages.append(Results((ToolResult(id, "execute_command", "ok", (Text(output),)),)))
    return messages


def _turn(endpoint: Endpoint, count: int) -> float:
    """Milliseconds of CPU for the next request once the ones before it were made."""
    module: Any = importlib.import_module(f"ferrule.providers.{endpoint.dialect.replace('-', '_')}")
    chain, memo = Chain(FILTERS, endpoint), Memo()
    messages = conversation(count)
    seconds = []
    for size in range(count - 39, count + 2, 2):
        gc.collect()
        began = time.process_time()
        view, _ = chain.messages(messages[:size], Sending())
        request, _ = chain.sent(Request(("You are Ferrule.",), view, chain.tools(TOOLS)[0], cache_key="key"))
        module.body(endpoint, request, memo)
        seconds.append(time.process_time() - began)
    return statistics.median(seconds[1:]) * 1000


def _answer(deltas: int) -> list[StreamEvent]:
    words = [f"word {number} " for number in range(deltas)]
    parts = (Reasoning("".join(words)), Text("".join(words)), ToolCall("x", "read_file", '{"path":"' + "".join(words) + '"}'))
    events: list[StreamEvent] = [PartBegan(0, "reasoning"), *(PartDelta(0, word) for word in words)]
    events += [PartBegan(1, "text"), *(PartDelta(1, word) for word in words)]
    events += [PartBegan(2, "call", "x", "read_file"), *(PartDelta(2, word) for word in words)]
    return [*events, Done(Assistant(parts, "calls", "openai/m"), NOTHING)]
