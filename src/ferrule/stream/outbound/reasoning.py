"""What a model thought goes back byte for byte as it came, together with what it led to, or not at all."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ferrule.providers.base import Endpoint
from ferrule.stream.filter import Sending
from ferrule.types.messages import Assistant, Message, User


class Readings(NamedTuple):
    """What `context.portable` knows about an answer: as a model may get it back, without anything signed, whether it is signed,
    and which of its calls are not what the model wrote."""

    for_model: Callable[[Assistant, str, str], Assistant | None]
    unsigned: Callable[[Assistant], Assistant | None]
    is_signed: Callable[[Assistant], bool]
    changed_calls: Callable[[Assistant], Sequence[str]]


class ReasoningBack:
    """Of one conversation. Signed reasoning beside a call that was changed goes: a provider may compare the two."""

    def __init__(self, endpoint: Endpoint, read: Readings) -> None:
        self._endpoint = endpoint
        self._read = read
        self._seen = 0
        self._in_turn = False

    def more(self, added: Sequence[Message], sending: Sending) -> tuple[Sequence[Message], Sequence[str]] | None:
        back = self._endpoint.profile.reasoning_back
        if back == "turn" and self._in_turn and any(isinstance(message, User) for message in added):
            return None
        turn = max((at for at, message in enumerate(added) if isinstance(message, User)), default=-1)
        made: list[Message] = []
        lines: list[str] = []
        for at, message in enumerate(added):
            if not isinstance(message, Assistant):
                made.append(message)
                continue
            bare = self._seen + at < sending.unsigned or back == "never" or (back == "turn" and at < turn)
            self._in_turn = self._in_turn or not bare
            answer = self._read.unsigned(message) if bare else self._answer(message, lines)
            made += [answer] if answer is not None else []
        self._seen += len(added)
        return tuple(made), lines

    def _answer(self, message: Assistant, lines: list[str]) -> Assistant | None:
        answer = self._read.for_model(message, self._endpoint.dialect, self._endpoint.model)
        if answer is None or not self._read.is_signed(answer):
            return answer
        changed = self._read.changed_calls(answer)
        if not changed:
            return answer
        lines.append(f"the signed reasoning before {', '.join(changed)} was left out: not all of it is what the model wrote")
        return self._read.unsigned(answer)
