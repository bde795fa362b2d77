"""The conversation as text that can be summarised: opaque data, reasoning and pictures stay out, long texts are clipped."""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from ferrule.types.messages import Assistant, Image, Message, Results, Text, ToolCall, ToolResult, User

from .groups import Group

CLIPS = (4_000, 1_200, 300)
"""Characters that a result or the arguments of a call keep; the next smaller one where that is
too long, one passage or everything together."""


class Passage(NamedTuple):
    """One group as text, with its tokens; `left_out`: the text only says how long it was."""

    group: Group
    text: str
    tokens: int
    left_out: bool = False


def passages(
    messages: Sequence[Message],
    found: Sequence[Group],
    person: Collection[int],
    clip_at: int,
    mask: Callable[[str], str],
    tokens: Callable[[str], int],
    oversized: int,
) -> tuple[Passage, ...]:
    """Each group as text without secrets, what the person said marked `user`.

    What has more than `oversized` tokens is left out, and its size is said instead.
    """
    made = []
    for group in found:
        said = "user" if group.start in person else "note"
        text = "\n".join(_message(message, said, clip_at, mask) for message in messages[group.start : group.end])
        size = tokens(text)
        left_out = size > oversized
        if left_out:
            text = f"[left out: {_who(messages[group.start])} of about {size} tokens, too long to be summarised]"
        made.append(Passage(group, text, tokens(text) if left_out else size, left_out))
    return tuple(made)


def clip(text: str, most: int) -> str:
    """The beginning and the end of a text, two to one, with the number of characters between them."""
    if len(text) <= most:
        return text
    tail = most // 3
    left_out = len(text) - most
    return f"{text[: most - tail]}\n[… {left_out} characters left out …]\n{text[len(text) - tail :]}"


def _message(message: Message, who: str, clip_at: int, mask: Callable[[str], str]) -> str:
    match message:
        case User(parts=parts):
            said = "\n".join(mask(part.text) if isinstance(part, Text) else "(a picture)" for part in parts)
            return f"[{who}]\n{said}"
        case Assistant(calls=calls):
            text = mask(message.text).strip()
            return "\n".join(["[assistant]", *([text] if text else []), *(_call(call, clip_at, mask) for call in calls)])
        case Results(parts=results):
            return "\n".join(_result(result, clip_at, mask) for result in results)


def _call(call: ToolCall, clip_at: int, mask: Callable[[str], str]) -> str:
    return f"[calls {call.name}] {clip(mask(call.arguments), clip_at)}"


def _result(result: ToolResult, clip_at: int, mask: Callable[[str], str]) -> str:
    pictures = sum(isinstance(part, Image) for part in result.parts)
    text = clip(mask(result.text), clip_at) + ("\n(a picture)" * pictures)
    return f"[result of {result.name}: {result.kind}]\n{text}"


def _who(message: Message) -> str:
    return "a message of the user" if isinstance(message, User) else "an answer with its results"
