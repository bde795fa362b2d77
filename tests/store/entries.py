"""Arbitrary entries, drawn from the types themselves, and a few plain ones."""

import enum
import types
import typing
from typing import Any

import msgspec
from hypothesis import settings
from hypothesis import strategies as st

from ferrule.types.messages import Assistant, Text, ToolCall, ToolResult, User
from ferrule.types.records import AssistantSaid, CallFinished, CallStarted, Entry, UserSaid
from ferrule.types.tools import Effect
from ferrule.types.usage import NOTHING, Usage

law = settings(deadline=None, max_examples=60)
"""For property tests: the machine may be busy."""

SCALARS: dict[Any, st.SearchStrategy[Any]] = {
    str: st.text(max_size=12),
    int: st.integers(-(2**63), 2**63 - 1),
    float: st.floats(allow_nan=False, allow_infinity=False),
    bool: st.booleans(),
    type(None): st.none(),
}


def values(kind: Any) -> st.SearchStrategy[Any]:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind in SCALARS:
        return SCALARS[kind]
    if origin in (typing.Union, types.UnionType):
        return st.one_of([values(argument) for argument in arguments])
    if origin is typing.Literal:
        return st.sampled_from(arguments)
    if origin is tuple and arguments[1:] == (Ellipsis,):
        return st.lists(values(arguments[0]), max_size=3).map(tuple)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return st.sampled_from(list(kind))
    assert issubclass(kind, msgspec.Struct), kind
    fields = typing.get_type_hints(kind)
    return st.deferred(lambda: st.builds(kind, **{name: values(field) for name, field in fields.items()}))


KINDS: tuple[type[msgspec.Struct], ...] = typing.get_args(Entry)
ENTRIES = st.one_of([values(kind) for kind in KINDS])
BRANCHES = st.sampled_from(["main", "subtask-1", "subtask-2"])


def said(text: str) -> UserSaid:
    return UserSaid(User((Text(text),)), "person")


def answered(*ids: str, text: str = "", usage: Usage = NOTHING) -> AssistantSaid:
    calls = tuple(ToolCall(id, "read_file", f'{{"path": "{id}"}}') for id in ids)
    return AssistantSaid(Assistant(((Text(text),) if text else ()) + calls, "calls" if ids else "end", "scripted/x"), usage, 0.1)


def started(id: str) -> CallStarted:
    return CallStarted(id, "read_file", Effect.READ)


def result(id: str, text: str = "done") -> ToolResult:
    return ToolResult(id, "read_file", "ok", (Text(text),))


def finished(id: str, text: str = "done") -> CallFinished:
    return CallFinished(result(id, text), 0.1)
