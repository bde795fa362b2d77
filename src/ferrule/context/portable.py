"""Opaque data goes back only to the dialect and model that made it: others refuse it (signatures, encrypted reasoning).
An answer that is reasoning and nothing else goes back to nobody: vendors want the part that it led to.

Pure and linear. Only the view of one request changes, the journal keeps everything, so that going back to the first model loses
nothing.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from ferrule.types.messages import Assistant, AssistantPart, Message, Reasoning, Text, ToolCall


def portable(messages: Sequence[Message], dialect: str, model: str) -> Sequence[Message]:
    """The history without other models' opaque data and without mere thoughts; the same object where there is neither."""
    view = [for_model(message, dialect, model) if isinstance(message, Assistant) else message for message in messages]
    if all(one is other for one, other in zip(view, messages, strict=True)):
        return messages
    return tuple(message for message in view if message is not None)


def for_model(answer: Assistant, dialect: str, model: str) -> Assistant | None:
    """The answer as that model may get it back; None where nothing is left. Parts that were only foreign data go."""
    parts = tuple(_without_data(part) if _is_foreign(part, dialect, model) else part for part in answer.parts)
    return _of(answer, tuple(part for part in parts if part is not None))


def unsigned(answer: Assistant) -> Assistant | None:
    """Without reasoning, signatures and whatever else only a provider understands; None where nothing is left."""
    parts = (_without_data(part) for part in answer.parts if not isinstance(part, Reasoning))
    return _of(answer, tuple(part for part in parts if part is not None))


def is_signed(answer: Assistant) -> bool:
    return any(isinstance(part, Reasoning) and part.opaque is not None for part in answer.parts)


def changed_calls(answer: Assistant) -> tuple[str, ...]:
    """The ids of calls that are not what the model wrote: they were mended, renamed, or can't be run."""
    return tuple(call.id for call in answer.calls if call.problem is not None or call.promoted or _differs(call))


def _differs(call: ToolCall) -> bool:
    if call.raw is None:
        return False
    empty = call.arguments == "{}" and call.raw.arguments.strip() in ("", "null")
    return call.raw.name != call.name or not (empty or call.raw.arguments == call.arguments)


def _is_foreign(part: AssistantPart, dialect: str, model: str) -> bool:
    return part.opaque is not None and (part.opaque.dialect != dialect or part.opaque.model != model)


def _without_data(part: AssistantPart) -> AssistantPart | None:
    if part.opaque is None:
        return part
    return replace(part, opaque=None) if isinstance(part, ToolCall) or part.text else None


def _is_thought(part: AssistantPart) -> bool:
    """Reasoning, and the blank text beside it."""
    return isinstance(part, Reasoning) or (isinstance(part, Text) and part.opaque is None and not part.text.strip())


def _of(answer: Assistant, parts: tuple[AssistantPart, ...]) -> Assistant | None:
    if not parts or (any(isinstance(part, Reasoning) for part in parts) and all(map(_is_thought, parts))):
        return None
    same = len(parts) == len(answer.parts) and all(one is other for one, other in zip(parts, answer.parts, strict=True))
    return answer if same else replace(answer, parts=parts)
