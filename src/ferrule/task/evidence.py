"""Gathers what a run did, for its receipt and its result; what a run that was killed did counts with the one that goes on."""

from dataclasses import dataclass, field

from ferrule.types.records import CallFinished, ModelChosen, Record, RunEnded
from ferrule.types.result import RecordAdded, TaskEvent
from ferrule.types.tools import FileChange


@dataclass
class Evidence:
    """A listener of the log. A file changed several times counts once, from its first `before` to its last `after`."""

    changed: dict[str, FileChange] = field(default_factory=dict)
    models: list[str] = field(default_factory=list)
    terminal_action: str | None = None

    def replay(self, record: Record) -> None:
        """Take in an earlier record. What stands in a receipt already is left out."""
        if isinstance(record.entry, RunEnded):
            self.changed.clear()
            self.models.clear()
            self.terminal_action = None
        else:
            self.hear(RecordAdded(record))

    def hear(self, event: TaskEvent) -> None:
        match event:
            case RecordAdded(record=record):
                match record.entry:
                    case CallFinished() as finished:
                        self._finished(finished)
                    case ModelChosen(model=model):
                        self.models.append(model)
                    case _:
                        pass
            case _:
                pass

    def _finished(self, finished: CallFinished) -> None:
        for change in finished.changes:
            first = self.changed.get(change.path, change)
            self.changed[change.path] = FileChange(change.path, first.before, change.after)
        if finished.ends is not None:
            self.terminal_action = finished.result.name

    @property
    def changes(self) -> tuple[FileChange, ...]:
        """Without files that are again as they were."""
        return tuple(change for change in self.changed.values() if change.before != change.after)
