"""Messages for histories."""

from ferrule.context.pairing import INTERRUPTED, UNKNOWN
from ferrule.types.messages import Assistant, Results, Text, ToolCall, ToolResult, User


def user(text: str = "go") -> User:
    return User((Text(text),))


def calls(*ids: str, text: str = "") -> Assistant:
    said = (Text(text),) if text else ()
    return Assistant((*said, *(ToolCall(id, "read_file", "{}") for id in ids)), "calls", "openai/m")


def says(text: str) -> Assistant:
    return Assistant((Text(text),), "end", "openai/m")


def result(id: str, text: str = "done") -> ToolResult:
    return ToolResult(id, "read_file", "ok", (Text(text),))


def results(*ids: str) -> Results:
    return Results(tuple(result(id) for id in ids))


def interrupted(id: str) -> ToolResult:
    return ToolResult(id, "read_file", "interrupted", (Text(INTERRUPTED),))


def unknown(id: str) -> ToolResult:
    return ToolResult(id, "read_file", "unknown", (Text(UNKNOWN),))
