"""The journal, its fold and the people who listen, moved in one step so that they never disagree."""

from collections.abc import Callable
from dataclasses import dataclass, field

from ferrule.store.folds import Conversation
from ferrule.store.protocol import MAIN, Journal
from ferrule.types.records import Entry, Record
from ferrule.types.result import RecordAdded, TaskEvent

Listener = Callable[[TaskEvent], None]


@dataclass
class Log:
    """`add` returns when the entries are durable; only then does the conversation know them and are listeners told."""

    journal: Journal
    conversation: Conversation
    listeners: list[Listener] = field(default_factory=list)
    branch: str = MAIN

    async def add(self, *entries: Entry) -> tuple[Record, ...]:
        if not entries:
            return ()
        records = await self.journal.append(*entries, branch=self.branch)
        for record in records:
            self.conversation.add(record)
            self.tell(RecordAdded(record))
        return records

    def tell(self, event: TaskEvent) -> None:
        for listener in self.listeners:
            listener(event)
