"""The journal of a session played again as the events that a front was told while it grew. Nothing is run and nobody is asked."""

import asyncio
from collections.abc import AsyncIterator, Mapping

from msgspec import Struct

from ferrule.store.folds import Conversation
from ferrule.store.private import state_folder
from ferrule.store.reading import JournalReader
from ferrule.store.sessions import Sessions
from ferrule.task.receipts.evidence import Evidence
from ferrule.types.errors import StoreError
from ferrule.types.outcome import Outcome
from ferrule.types.records import AssistantSaid, ModelChosen, Receipt, Record, RunEnded, SessionOpened, Shrunk, Undoing, Undone
from ferrule.types.result import Limits, RecordAdded, RunResult, TaskEvent

SCHEMA_VERSION = 1


class Begun(Struct, frozen=True):
    """The session as a view wants to know of an open task. Which tools it had is not in the journal."""

    session_id: str
    task_id: str
    model: str
    folder: str
    tools: tuple[str, ...] = ()
    remark: str = ""


class Concluded(Struct, frozen=True):
    """A run ended here; its result is made from its records."""

    result: RunResult


class Stopped(Struct, frozen=True):
    """Nothing follows record `seq`. `open`: the run that it belongs to has no outcome up to there."""

    seq: int
    open: bool


Played = Begun | TaskEvent | Concluded | Stopped


async def replay(environ: Mapping[str, str], written: str, until: int | None, speed: float | None) -> AsyncIterator[Played]:
    """Record by record, up to number `until`. `speed` 1 keeps the times of the run, 2 halves them, None waits nowhere.

    Between two runs nobody waits. Raises UsageError for an unknown session, and StoreError where the journal is damaged, after
    everything that stands before the damage.
    """
    sessions = Sessions(state_folder(environ))
    id = sessions.find(written)
    records, damage = await _read(sessions.reader(id), until)
    player = Player(id)
    yield begun(id, records)
    before: float | None = None
    for record in records:
        if speed is not None and before is not None:
            await asyncio.sleep(max(record.time - before, 0.0) / speed)
        yield RecordAdded(record)
        result = player.take(record)
        before = record.time if player.open else None
        if result is not None:
            yield Concluded(result)
    if damage is not None:
        raise damage
    yield Stopped(records[-1].seq if records else 0, player.open)


async def _read(reader: JournalReader, until: int | None) -> tuple[list[Record], StoreError | None]:
    """The records up to `until`, or up to the damage."""
    records: list[Record] = []
    try:
        async for record in reader.records():
            if until is not None and record.seq > until:
                break
            records.append(record)
    except StoreError as damage:
        return records, damage
    return records, None


def begun(id: str, records: list[Record]) -> Begun:
    entries = [record.entry for record in records]
    model = next((entry.model for entry in entries if isinstance(entry, ModelChosen)), "no model")
    folder = next((entry.folder for entry in entries if isinstance(entry, SessionOpened)), "")
    branch = records[0].branch if records else ""
    return Begun(id, f"{id}/{branch}", model, folder)


class Player:
    """What has to be known of the records so far to say how a run ended. `open`: something was done since the last end."""

    def __init__(self, id: str) -> None:
        self.id = id
        self.open = False
        self.turns = 0
        self.denied = 0
        self.limits = Limits()
        self.receipt: str | None = None
        self.evidence = Evidence()
        self.conversation = Conversation()

    def take(self, record: Record) -> RunResult | None:
        """The result, where a run ends with this record."""
        self.conversation.add(record)
        match record.entry:
            case RunEnded() as ended:
                result = self._result(record, ended)
                self.denied, self.turns, self.open = len(self.conversation.denials), 0, False
                self.evidence.replay(record)
                return result
            case SessionOpened() | ModelChosen() | Shrunk(why="asked") | Undoing() | Undone():
                pass
            case AssistantSaid():
                self.turns, self.open = self.turns + 1, True
            case Receipt(limits=limits):
                self.limits, self.receipt = limits, record.hash
            case _:
                self.open = True
        self.evidence.replay(record)
        return None

    def _result(self, record: Record, ended: RunEnded) -> RunResult:
        waiting = self.conversation.waiting if ended.outcome is Outcome.NEEDS_INPUT else None
        return RunResult(
            schema_version=SCHEMA_VERSION,
            session_id=self.id,
            task_id=f"{self.id}/{record.branch}",
            outcome=ended.outcome,
            exit_code=ended.outcome.exit_code,
            result=ended.result,
            verification=self.evidence.gates(ended.outcome),
            denials=self.conversation.denials[self.denied :],
            limits=self.limits,
            usage=self.evidence.usage,
            cost_usd=self.evidence.usage.cost,
            turns=self.turns,
            files_changed=tuple(change.path for change in self.evidence.changes),
            receipt=self.receipt,
            model=self.evidence.in_force,
            question=None if waiting is None else waiting[1],
            error=ended.error,
        )
