"""Which step answers a request.

Steps without `when` are played in order, one a model call; a step with `when` is played when a request matches it, before
the others. Two rules keep the order where a process ends or an answer gets lost:

- A provider that has not played anything takes its position from the conversation: it goes on after the last answer there
  that bears a mark (opaque data that says which step it came from). What left nothing there (a 429, an empty answer) and
  stands right after that step is played again. Answers without a mark are another model's and do not count. A request without
  answers that a `when` meets (a summary of a conversation that goes on) says nothing about the position.
- With `on_lost` "again", a sound answer that the next request of the same conversation does not hold was lost (its reader was
  killed while this player lived on, as a server does) and is given again. The same conversation: the same first user message
  and the same tools.
"""

import msgspec
from msgspec import Struct, UnsetType

from .script import Part, Script, Step
from .view import Mark, View

Conversation = tuple[str, tuple[str, ...]]


class Turn(Struct, frozen=True):
    """One play of one step."""

    mark: Mark
    step: Step


class Position:
    """How far a script has been played."""

    def __init__(self, script: Script) -> None:
        self._steps = script.steps
        self._order = tuple(index for index, step in enumerate(script.steps) if step.when is None)
        self._repeat = script.on_end == "repeat_last"
        self._lost_again = script.on_lost == "again"
        self._played: dict[int, int] = {}
        self._next = 0
        self._adopted = False
        self._given: dict[Conversation, tuple[Turn, int]] = {}

    def choose(self, view: View) -> Turn | None:
        """The turn for this request, which counts as played; None when the script has no step left for it."""
        if not self._adopted and view.answers:
            self._adopt(view.answers)
        turn = self._matching(view)
        if turn is None:
            self._adopted = True
            turn = self._lost(view) or self._in_order()
        if turn:
            self._played[turn.mark.step] = max(self._played.get(turn.mark.step, 0), turn.mark.time + 1)
            self._given[view.first_user, view.tools] = (turn, len(view.answers))
        return turn

    def _adopt(self, answers: tuple[Mark | None, ...]) -> None:
        self._adopted = True
        for mark in answers:
            if mark and mark.step < len(self._steps):
                self._played[mark.step] = max(self._played.get(mark.step, 0), mark.time + 1)
                if mark.step in self._order:
                    self._next = self._order.index(mark.step)

    def _used_up(self, index: int) -> bool:
        times = self._steps[index].times
        return times != "always" and self._played.get(index, 0) >= times

    def _matching(self, view: View) -> Turn | None:
        for index, step in enumerate(self._steps):
            if step.when and not self._used_up(index) and not view.failures(step.when):
                return self._turn(index)
        return None

    def _lost(self, view: View) -> Turn | None:
        turn, answers = self._given.get((view.first_user, view.tools), (None, 0))
        return turn if self._lost_again and turn and answers == len(view.answers) and is_sound(turn.step) else None

    def _in_order(self) -> Turn | None:
        while self._next < len(self._order) and self._used_up(self._order[self._next]):
            self._next += 1
        if self._next < len(self._order):
            return self._turn(self._order[self._next])
        return self._turn(self._order[-1]) if self._repeat and self._order else None

    def _turn(self, index: int) -> Turn:
        return Turn(Mark(index, self._played.get(index, 0)), self._steps[index])


def is_sound(step: Step) -> bool:
    """Whether a client that received this answer must have kept it: complete, nothing about it to repair or refuse."""
    calls = [part.call for part in step.content if not isinstance(part.call, UnsetType)]
    ids = [call.id for call in calls if not isinstance(call.id, UnsetType)]
    sound_ids = all(ids) and len(set(ids)) == len(ids)
    return (
        step.fault is None
        and step.stop not in ("length", "refusal")
        and any(map(_says_something, step.content))
        and sound_ids
        and all(not isinstance(call.arguments, str) or _is_object(call.arguments) for call in calls)
    )


def _says_something(part: Part) -> bool:
    return not isinstance(part.call, UnsetType) or bool(isinstance(part.text, str) and part.text.strip())


def _is_object(text: str) -> bool:
    try:
        return isinstance(msgspec.json.decode(text), dict)
    except msgspec.DecodeError:
        return False
