"""The judge: says which rules of docs/wire-rules.md a request to a vendor breaks. It shares no code with the engine.

violations("anthropic", body)            -> ["A19 messages[1]: tool_use 'a' without a tool_result in the next message"]
violations_history("anthropic", bodies)  -> ["H3 request 2: messages[0] has changed"]
sdk_accepts("anthropic", body)           -> ["messages[0].role: 'robot' is not one of 'user', 'assistant', 'system'"]
"""

from typing import Any

from . import anthropic_fields, chat, google_fields, responses
from .body import read
from .history import violations_history
from .rule import Rule

RULES: dict[str, tuple[Rule, ...]] = {
    "openai": chat.RULES,
    "openai-responses": responses.RULES,
    "anthropic": anthropic_fields.RULES,
    "google": google_fields.RULES,
}
LETTERS = {"openai": "C", "openai-responses": "R", "anthropic": "A", "google": "G"}


def violations(dialect: str, body: dict[str, Any] | bytes, *, portable: bool = False) -> list[str]:
    """Every violation, each beginning with the number of its rule; an empty list for a request that the vendor takes.

    `body` is the decoded body, or the bytes as sent, which are judged as JSON text as well. `portable` adds the rules that
    the vendor does not enforce, but servers that copy its protocol do.
    """
    decoded, problems = read(body)
    found = [f"{LETTERS[dialect]}1 {problem}" for problem in problems]
    if not isinstance(decoded, dict):
        return found or [f"{LETTERS[dialect]}1 the body is not an object"]
    for rule in RULES[dialect]:
        if portable or not rule.portable:
            found += [f"{rule.number} {problem}" for problem in rule.check(decoded)]
    return found


def sdk_accepts(dialect: str, body: dict[str, Any] | bytes) -> list[str]:
    """What the types of the vendor's own SDK object to; an empty list if they take the body whole."""
    from .sdk import complaints

    return complaints(dialect, body)


__all__ = ["LETTERS", "RULES", "Rule", "sdk_accepts", "violations", "violations_history"]
