"""Preflight of a long conversation: with one new turn, where results are to be cut, and after a resume."""

import statistics
import time
from dataclasses import dataclass, field

from ferrule.context.estimate import Estimator
from ferrule.context.preflight import Plan, plan
from ferrule.types.messages import Assistant, Message, Results, Text, ToolCall, ToolResult, User
from ferrule.types.records import Cut, Shrunk
from ferrule.types.request import Request
from ferrule.types.usage import Usage

from .rows import Row

TIMES = 7


@dataclass(frozen=True)
class Talk:
    messages: list[Message]
    cuts: dict[str, Cut] = field(default_factory=dict)
    compacted: Shrunk | None = None
    person: list[User] = field(default_factory=list)
    answers: dict[str, tuple[str, str]] = field(default_factory=dict)


def talk(messages: int) -> Talk:
    said: list[Message] = [User((Text("Find out why it fails."),))]
    text = "    for name, value in sorted(found.items()):\n        print(f'{name}: {value:.3f}')  # line {}\n" * 9
    while len(said) < messages:
        id = f"call_{len(said):05d}"
        call = ToolCall(id, "read_file", f'{{"path": "src/part_{len(said)}.py", "offset": 1}}')
        said.append(Assistant((Text("I read the next part to see where the value comes from."), call), "calls", "openai/m"))
        said.append(Results((ToolResult(id, "read_file", "ok", (Text(text * (5 if len(said) % 20 == 2 else 1) + id),)),)))
    return Talk(said[:messages])


def preflight() -> list[Row]:
    """Of 2,000 messages, results of 900 characters and every tenth of 4,500."""
    conversation = talk(2_001)
    before, whole = (Request(("You are a coding agent.",), tuple(conversation.messages[:end])) for end in (1_999, 2_001))

    def planned(estimator: Estimator, window: int) -> tuple[float, Plan]:
        began = time.process_time()
        made = plan(whole, conversation, estimator, window, 16_384)
        return (time.process_time() - began) * 1000, made

    cold, grown, cutting = [], [], []
    for _ in range(TIMES):
        estimator = Estimator()
        cold.append(planned(estimator, 1_000_000)[0])
        tokens = estimator.estimate(before)
        estimator = Estimator()
        estimator.observe(before, Usage(input=tokens))
        grown.append(planned(estimator, 1_000_000)[0])
        milliseconds, made = planned(estimator, tokens)
        assert made.cuts
        cutting.append(milliseconds)
    first, later, short = (statistics.median(each) for each in (cold, grown, cutting))
    return [
        Row("preflight of 2,000 messages, one new turn, CPU", f"{later:.1f} ms", "", "≤ 10 ms", later <= 10),
        Row("the same where results are cut", f"{short:.1f} ms", "", "≤ 10 ms", short <= 10),
        Row("the same with nothing counted yet", f"{first:.1f} ms", f"{first / later:.0f} × counted", "≤ 20 ms", first <= 20),
    ]
