"""One outbound filter on a conversation that grows: what was made of a message is not made again."""

from collections import Counter
from collections.abc import Callable
from operator import is_

from ferrule.types.messages import Message

from .filter import Rewriter, Sending


class Stage:
    """Remembers what it was given and what it gave. A conversation that changed other than by growing is looked at anew."""

    def __init__(self, begin: Callable[[], Rewriter]) -> None:
        self._begin = begin
        self._rewriter = begin()
        self._given: tuple[Message, ...] = ()
        self._made: tuple[Message, ...] = ()
        self._sending = Sending()
        self._said: Counter[str] = Counter()

    def of(self, messages: tuple[Message, ...], sending: Sending) -> tuple[tuple[Message, ...], tuple[str, ...]]:
        """The messages to send, and a line for each change that was not told before."""
        known = len(self._given)
        grown = len(messages) >= known and all(map(is_, messages, self._given)) and self._holds(sending)
        made = self._rewriter.more(messages[known:] if known else messages, sending) if grown else None
        if made is not None:
            after, lines = made
            same = self._made is self._given and _same(after, messages, known)
            self._made = messages if same else (*self._made, *after)
            self._said.update(lines)
        else:
            self._rewriter = self._begin()
            anew = self._rewriter.more(messages, sending)
            assert anew is not None, "a new rewriter takes whatever comes first"
            after, lines = anew
            self._made = messages if _same(after, messages, 0) else tuple(after)
            every = Counter(lines)
            lines = tuple((every - self._said).elements())
            self._said = every
        self._given, self._sending = messages, sending
        return self._made, tuple(lines)

    def _holds(self, sending: Sending) -> bool:
        """Whether what was made still holds: calls that began since then matter only where something was made up."""
        before = self._sending
        return sending.unsigned == before.unsigned and (self._made is self._given or sending.started == before.started)


def _same(made: object, messages: tuple[Message, ...], known: int) -> bool:
    """Whether the rewriter gave back what it was given."""
    if made is messages:
        return True
    return isinstance(made, tuple) and len(made) == len(messages) - known and all(map(is_, made, messages[known:]))
