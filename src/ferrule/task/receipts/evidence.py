"""Gathers what a run did, for its receipt and its result; what a run that was killed did counts with the one that goes on.

The same fold makes a receipt when a run ends and makes it again, from the journal, when the receipt is verified.
"""

from dataclasses import dataclass, field

from ferrule.types.outcome import Outcome
from ferrule.types.records import (
    Answered,
    Approval,
    AssistantSaid,
    AttemptEnded,
    AttemptStarted,
    CallFinished,
    CallStarted,
    DeniedCall,
    ModelChosen,
    Receipt,
    Record,
    Retried,
    RunEnded,
    Shrunk,
    Undone,
    UserSaid,
    outermost,
)
from ferrule.types.result import RecordAdded, TaskEvent
from ferrule.types.tools import End, FileChange, GateResult
from ferrule.types.usage import NOTHING, Limits, Usage

from .tested import marked


@dataclass
class Evidence:
    """A listener of the log. A file changed several times counts once, from its first `before` to its last `after`. `begun` has
    the files that a call may write as they were when it first began: a call that was killed and run again did not find them so.

    `ends` is the accepted terminal action, by the tool `ended_by`; whatever the person says afterwards opens the task again.
    """

    changed: dict[str, FileChange] = field(default_factory=dict)
    models: dict[str, None] = field(default_factory=dict)
    denials: list[DeniedCall] = field(default_factory=list)
    unwatched: set[str] = field(default_factory=set)
    begun: dict[str, dict[str, str | None]] = field(default_factory=dict)
    ends: End | None = None
    ended_by: str = ""
    said: Usage = NOTHING
    unanswered: Usage = NOTHING
    in_force: str = ""
    tools: dict[str, str] = field(default_factory=dict)

    def replay(self, record: Record) -> None:
        """Take in an earlier record. What stands in a receipt already is left out."""
        if isinstance(record.entry, RunEnded):
            self._begin_again()
        else:
            self.hear(RecordAdded(record))

    def hear(self, event: TaskEvent) -> None:
        match event:
            case RecordAdded(record=record):
                self._record(record)
            case _:
                pass

    @property
    def changes(self) -> tuple[FileChange, ...]:
        """Without files that are again as they were."""
        return tuple(change for change in self.changed.values() if change.before != change.after)

    @property
    def usage(self) -> Usage:
        """Of all model calls, those without an answer included."""
        return self.said.plus(self.unanswered)

    def gates(self, outcome: Outcome) -> tuple[GateResult, ...]:
        """The checks of the act by which the run came to `outcome`; none where it was no act."""
        return marked(self.ends.gates, self.changes) if self.ends is not None and self.ends.outcome is outcome else ()

    def receipt(self, outcome: Outcome, limits: Limits, environment: tuple[str, ...], head: str, sandbox: str = "") -> Receipt:
        acted = self.ends is not None and self.ends.outcome is outcome
        return Receipt(
            outcome=outcome,
            terminal_action=self.ended_by if acted else None,
            gates=self.gates(outcome),
            changes=self.changes,
            usage=self.usage,
            models=tuple(self.models),
            environment=environment,
            head=head,
            denials=tuple(self.denials),
            limits=limits,
            unwatched=len(self.unwatched),
            sandbox=sandbox,
        )

    def _begin_again(self) -> None:
        for gathered in (self.changed, self.models, self.denials, self.unwatched):
            gathered.clear()
        self.ends, self.ended_by = None, ""
        self.said = self.unanswered = NOTHING

    def _record(self, record: Record) -> None:
        match record.entry:
            case ModelChosen(model=model):
                self.in_force = model
            case AttemptStarted():
                if self.in_force:
                    self.models[self.in_force] = None
                self.said, self.unanswered = self.usage, NOTHING
            case AttemptEnded(unanswered=usage):
                self.unanswered = usage
            case Shrunk(usage=usage):
                self.said = self.said.plus(usage)
            case Retried(usage=usage):
                self.said, self.unanswered = self.said.plus(usage), NOTHING
            case AssistantSaid(message=message, usage=usage):
                self.models[message.model] = None
                self.said = self.said.plus(usage)
                self.tools |= {call.id: call.name for call in message.calls}
            case Approval(decision="deny") as denied:
                tool = self.tools.get(denied.call_id, "")
                self.denials.append(DeniedCall(tool, denied.digest, denied.by, denied.reason, denied.flag))
            case CallStarted(call_id=id, effect=effect, files=files):
                self.begun.setdefault(id, {file.path: file.before for file in files})
                if not effect.repeatable:
                    self.unwatched.add(outermost(id))
            case CallFinished() as finished:
                self._finished(finished)
            case UserSaid(origin="person") | Answered():
                self.ends, self.ended_by = None, ""
            case Undone(changes=changes):
                self._undone(changes)
            case _:
                pass

    def _undone(self, changes: tuple[FileChange, ...]) -> None:
        """An undo belongs to no run: it takes back what the run changed that is still open, and what it ended with."""
        for change in changes:
            if (first := self.changed.get(change.path)) is not None:
                self.changed[change.path] = FileChange(change.path, first.before, change.after)
        self.ends, self.ended_by = None, ""

    def _finished(self, finished: CallFinished) -> None:
        begun = self.begun.get(finished.result.call_id, {})
        for change in finished.changes:
            first = self.changed.get(change.path)
            before = first.before if first is not None else begun.get(change.path, change.before)
            self.changed[change.path] = FileChange(change.path, before, change.after)
        if finished.changes:
            self.unwatched.discard(finished.result.call_id)
        if finished.ends is not None:
            self.ends, self.ended_by = finished.ends, finished.result.name
