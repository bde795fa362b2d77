"""The reviewer that needs no model: plays the model's part with the same tools under the same contract, and always the same way.

It decides only from the results in the conversation: run the checks, stage what they found, submit.
"""

import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

import msgspec

from ferrule.providers.base import Endpoint, Profile
from ferrule.tools.checks.text import path_of
from ferrule.types.messages import Assistant, Message, Results, ToolCall, ToolResult
from ferrule.types.request import Request
from ferrule.types.stream import Done, PartBegan, PartDelta, StreamEvent
from ferrule.types.usage import NOTHING

NAME = "builtin/checks"
MODEL = Endpoint("builtin", "checks", "", profile=Profile(images=False, reasoning=False))

LINE = re.compile(
    r" *(?P<where>file|\d+(?:-\d+)?) \| (?P<severity>blocking|should-fix|nit) \| (?P<text>.*) \[(?P<source>\S+ \S+)\]"
)
SUGGESTED = re.compile(r" {6}> (?P<text>.*)")
MORE = re.compile(r"^Findings \d+ to (?P<shown>\d+) of \d+ are shown; `skip`", re.MULTILINE)
UNDONE = ("interrupted", "skipped", "unknown")
"""A call that ended like this has told nothing and is made again."""

Call = tuple[str, dict[str, Any]]


class BuiltinReviewer:
    """Implements `Provider`."""

    @property
    def endpoint(self) -> Endpoint:
        return MODEL

    async def stream(self, request: Request) -> AsyncIterator[StreamEvent]:
        parts: list[ToolCall] = []
        for index, (name, arguments) in enumerate(decide(request.messages)):
            text = msgspec.json.encode(arguments).decode()
            id = f"step_{len(request.messages)}_{index}"
            yield PartBegan(index, "call", id, name)
            yield PartDelta(index, text)
            parts.append(ToolCall(id, name, text))
        yield Done(Assistant(tuple(parts), "calls", NAME), NOTHING)

    async def close(self) -> None:
        """Nothing is held."""


def decide(messages: tuple[Message, ...]) -> list[Call]:
    """The next calls. What a result says is all that is known."""
    results = [result for message in messages if isinstance(message, Results) for result in message.parts]
    checks = [at for at, result in enumerate(results) if result.name == "run_checks" and result.kind not in UNDONE]
    if not checks:
        return [("run_checks", {})]
    last, report = results[checks[-1]], results[checks[-1]].text
    if last.kind != "ok":
        return [("abort_task", {"reason": f"The checks could not be run: {last.text}"})]
    answers = [result for result in results[checks[-1] :] if result.name == "review_comment"]
    comments = list(comments_in(report))
    if comments and (not answers or any(answer.kind in UNDONE for answer in answers[-len(comments) :])):
        return [("review_comment", comment) for comment in comments]
    if more := MORE.search(report):
        return [("run_checks", {"skip": int(more["shown"])})]
    reports = [results[at].text for at in checks]
    staged = [result for result in results if result.name == "review_comment" and result.kind not in UNDONE]
    return [("submit_review", {"summary": summary(reports, staged)})]


def comments_in(report: str) -> Iterator[dict[str, Any]]:
    """The findings of a report of `run_checks`, as arguments of `review_comment`."""
    path = ""
    comment: dict[str, Any] | None = None
    suggested: list[str] = []
    for line in [*report.split("\n"), ""]:
        if comment is not None and (more := SUGGESTED.fullmatch(line)):
            suggested.append(more["text"])
            continue
        if comment is not None:
            yield comment | ({"suggestion": "\n".join(suggested)} if suggested else {})
            comment, suggested = None, []
        if found := LINE.fullmatch(line):
            comment = _comment(path, found)
        elif line.startswith("# "):
            path = path_of(line.removeprefix("# "))


def _comment(path: str, found: re.Match[str]) -> dict[str, Any]:
    comment: dict[str, Any] = {
        "path": path,
        "severity": found["severity"],
        "text": found["text"],
        "source": found["source"].replace(" ", "/"),
    }
    if found["where"] != "file":
        first, _, last = found["where"].partition("-")
        comment["line"] = int(last or first)
        if last:
            comment["start_line"] = int(first)
    return comment


def summary(reports: list[str], staged: list[ToolResult]) -> str:
    comments = [comment for report in reports for comment in comments_in(report)]
    refused = sum(result.kind != "ok" for result in staged)
    counts = {level: sum(comment["severity"] == level for comment in comments) for level in ("blocking", "should-fix", "nit")}
    said = ", ".join(f"{count} {level}" for level, count in counts.items() if count)
    lines = [f"The checks found {said}." if said else "The checks found nothing."]
    if refused:
        lines.append(f"{refused} could not be placed on lines of the change.")
    lines.append(reports[-1].rstrip().rpartition("\n")[2])
    lines.append("This review was made by checks alone; nobody read the change for what it means.")
    return "\n".join(lines)
