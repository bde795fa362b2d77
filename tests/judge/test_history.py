from typing import Any

import pytest

from . import violations_history
from .case import but
from .cases_anthropic import LOOP as ANTHROPIC
from .cases_anthropic import assistant, text, user
from .cases_chat import LOOP as CHAT
from .cases_google import LOOP as GOOGLE
from .cases_google import declare
from .cases_responses import LOOP as RESPONSES

MARK = {"cache_control": {"type": "ephemeral"}}
MESSAGES = {"anthropic": "messages", "openai": "messages", "openai-responses": "input", "google": "contents"}
BODIES: dict[str, dict[str, Any]] = {
    "anthropic": ANTHROPIC,
    "openai": CHAT,
    "openai-responses": RESPONSES,
    "google": GOOGLE | {"tools": declare()["tools"]},
}


def longer(dialect: str) -> dict[str, Any]:
    key = MESSAGES[dialect]
    return BODIES[dialect] | {key: [*BODIES[dialect][key], {"role": "user", "new": True}]}


@pytest.mark.parametrize("dialect", BODIES)
def test_a_request_that_only_adds_is_a_continuation(dialect: str) -> None:
    assert violations_history(dialect, [BODIES[dialect], longer(dialect), longer(dialect)]) == []


@pytest.mark.parametrize("dialect", BODIES)
@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_message_that_changed_is_named(dialect: str, at: int) -> None:
    key = MESSAGES[dialect]
    after = but(longer(dialect), (f"{key}.{at}", {"role": "user", "changed": True}))
    assert violations_history(dialect, [BODIES[dialect], after]) == [f"H3 request 1: {key}[{at}] has changed"]


@pytest.mark.parametrize("dialect", BODIES)
def test_a_message_that_is_gone_is_named_unless_the_history_was_rewritten(dialect: str) -> None:
    key = MESSAGES[dialect]
    after = but(BODIES[dialect], (key, BODIES[dialect][key][:2]))
    assert violations_history(dialect, [BODIES[dialect], after]) == [f"H3 request 1: {key}[2] is gone"]
    assert violations_history(dialect, [BODIES[dialect], after], rewritten={1}) == []


@pytest.mark.parametrize("dialect", BODIES)
def test_tools_that_changed_are_named_even_where_the_history_was_rewritten(dialect: str) -> None:
    after = but(BODIES[dialect], ("tools", []))
    assert violations_history(dialect, [BODIES[dialect], after], rewritten={1}) == ["H2 request 1: tools have changed"]


@pytest.mark.parametrize(
    ("dialect", "path"),
    [
        ("anthropic", "system.0.text"),
        ("openai", "messages.0.content"),
        ("openai-responses", "instructions"),
        ("google", "systemInstruction.parts.0.text"),
    ],
)
def test_a_system_prompt_that_changed_is_named(dialect: str, path: str) -> None:
    found = violations_history(dialect, [BODIES[dialect], but(BODIES[dialect], (path, "Be verbose."))])
    assert found == [
        "H3 request 1: messages[0] has changed" if dialect == "openai" else f"H1 request 1: {path.split('.')[0]} has changed"
    ]


def test_keys_in_another_order_are_a_change() -> None:
    call = CHAT["messages"][2]["tool_calls"][0]
    after = but(CHAT, ("messages.2.tool_calls.0", dict(reversed(call.items()))))
    assert violations_history("openai", [CHAT, after]) == ["H3 request 1: messages[2] has changed"]


def test_marks_for_the_cache_may_move() -> None:
    before = but(ANTHROPIC, ("messages.2.content.0", ANTHROPIC["messages"][2]["content"][0] | MARK))
    assert violations_history("anthropic", [before, ANTHROPIC]) == []


def test_blocks_may_be_added_to_the_last_message_only() -> None:
    one, two = user(text("a")), user(text("a"), text("b"))
    start = {"messages": [one]}
    assert violations_history("anthropic", [start, {"messages": [two, assistant(text("x"))]}]) == []
    assert violations_history("anthropic", [{"messages": [{"role": "user", "content": "a"}]}, {"messages": [two]}]) == []
    assert violations_history("anthropic", [{"messages": [one, one]}, {"messages": [two, one]}]) == [
        "H3 request 1: messages[0] has changed"
    ]
    assert violations_history("anthropic", [{"messages": [two]}, {"messages": [one]}]) == [
        "H3 request 1: messages[0] has changed"
    ]


def test_bytes_are_read() -> None:
    assert violations_history("openai", [b'{"messages": [1]}', b'{"messages": [2]}']) == ["H3 request 1: messages[0] has changed"]
    assert violations_history("openai", [b"{", b"{}"]) == ["H3 request 1: not an object"]
