"""Opaque data goes back only to the dialect and model that made it: others refuse it (signatures, encrypted reasoning).
An answer that is reasoning and nothing else goes back to nobody: vendors want the part that it led to.

Pure and linear. Only the view of one request changes, the journal keeps everything, so that going back to the first model loses
nothing.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from ferrule.types.messages import Assistant, AssistantPart, Message, Reasoning, ToolCall


def portable(messages: Sequence[Message], dialect: str, model: str) -> Sequence[Message]:
    """The history without other models' opaque data and without mere thoughts; the same object where there is neither.

    A part that was nothing else goes.
    """
    answers = [message for message in messages if isinstance(message, Assistant)]
    if not any(_foreign(message, dialect, model) or _only_thought(message) for message in answers):
        return messages
    view = (_without(message, dialect, model) for message in messages)
    return tuple(message for message in view if not (isinstance(message, Assistant) and _only_thought(message)))


def _only_thought(message: Assistant) -> bool:
    return all(isinstance(part, Reasoning) for part in message.parts)


def _without(message: Message, dialect: str, model: str) -> Message:
    return replace(message, parts=_own(message, dialect, model)) if isinstance(message, Assistant) else message


def _foreign(message: Assistant, dialect: str, model: str) -> bool:
    return any(_is_foreign(part, dialect, model) for part in message.parts)


def _is_foreign(part: AssistantPart, dialect: str, model: str) -> bool:
    return part.opaque is not None and (part.opaque.dialect != dialect or part.opaque.model != model)


def _own(message: Assistant, dialect: str, model: str) -> tuple[AssistantPart, ...]:
    parts = (replace(part, opaque=None) if _is_foreign(part, dialect, model) else part for part in message.parts)
    return tuple(part for part in parts if isinstance(part, ToolCall) or part.text or part.opaque is not None)
