"""A conversation folded from records, as a session's journal would hold them."""

from ferrule.store.folds import Conversation
from ferrule.types.messages import Assistant, Image, Text, ToolCall, ToolResult, User
from ferrule.types.records import Answered, Asked, AssistantSaid, CallFinished, Entry, Record, Shrunk, UserSaid
from ferrule.types.tools import Question
from ferrule.types.usage import NOTHING


class Talk:
    def __init__(self) -> None:
        self.conversation = Conversation()
        self.count = 0

    def add(self, entry: Entry) -> None:
        self.count += 1
        self.conversation.add(Record(self.count, "main", 0.0, entry, ""))

    def says(self, *parts: str | Image, origin: str = "person") -> None:
        message = User(tuple(Text(part) if isinstance(part, str) else part for part in parts))
        self.add(UserSaid(message, origin))  # type: ignore[arg-type]

    def turn(self, *texts: str | ToolResult) -> tuple[str, ...]:
        """One answer with a call for each text, and the results; gives the ids of the calls."""
        ids = self.calls(len(texts))
        for id, text in zip(ids, texts, strict=True):
            self.add(CallFinished(ToolResult(id, "read_file", "ok", (Text(str(text)),)), 0.0))
        return ids

    def calls(self, count: int) -> tuple[str, ...]:
        """An answer whose calls are still open."""
        ids = tuple(f"call_{self.count:05d}_{number}" for number in range(count))
        calls = tuple(ToolCall(id, "read_file", "{}") for id in ids)
        self.add(AssistantSaid(Assistant((Text("I look."), *calls), "calls", "openai/m"), NOTHING, 0.0))
        return ids

    def asks(self, question: str, answer: str) -> None:
        call = ToolCall(f"call_{self.count:05d}_q", "ask_followup_question", "{}")
        self.add(AssistantSaid(Assistant((call,), "calls", "openai/m"), NOTHING, 0.0))
        self.add(Asked(call.id, Question(question, ())))
        self.add(Answered(call.id, answer))

    def answers(self, text: str) -> None:
        self.add(AssistantSaid(Assistant((Text(text),), "end", "openai/m"), NOTHING, 0.0))

    def shrinks(self, shrunk: Shrunk) -> None:
        self.add(shrunk)
