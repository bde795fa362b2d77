"""The state of a task, folded from its records. Only what is recorded: nothing is repaired or invented here."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from ferrule.types.messages import Assistant, Message, Results, Text, ToolCall, ToolResult, User
from ferrule.types.records import (
    Answered,
    Approval,
    Asked,
    AssistantSaid,
    CallFinished,
    CallStarted,
    Cut,
    Entry,
    ModelChosen,
    Process,
    Record,
    Repaired,
    Retried,
    Reviewed,
    RunEnded,
    Shrunk,
    Staged,
    TodosSet,
    Undoing,
    Undone,
    UserSaid,
)
from ferrule.types.result import Denial
from ferrule.types.review import Finding
from ferrule.types.tools import Effect, End, FileChange, GateResult, Question, Todo
from ferrule.types.usage import NOTHING, Usage

from .protocol import MAIN
from .rewinding import in_force

SHOWN = 200

REWOUND = (
    *("_messages", "_turns", "_by_call", "_unshown", "todos", "last_outcome", "spoken", "refusals", "revisions"),
    *("cuts", "compacted", "stripped", "last_usage", "person", "answers"),
)
"""What goes back with the conversation; what was used, changed, denied and staged since stays counted."""


class NotStarted(Struct, frozen=True, tag="not_started"):
    """Nothing happened yet: decide again."""


class Started(Struct, frozen=True, tag="started"):
    """The effect may or may not have happened. `files` as in `CallStarted`, from the first time that the call began."""

    effect: Effect
    files: tuple[FileChange, ...] = ()


class Waiting(Struct, frozen=True, tag="waiting"):
    """Open until somebody answers."""

    question: Question


class OpenCall(Struct, frozen=True):
    """A call that has no result yet."""

    call: ToolCall
    state: NotStarted | Started | Waiting


class _Turn:
    """An assistant message, what became of its calls, and where its results stand among the messages."""

    def __init__(self, calls: tuple[ToolCall, ...], place: int) -> None:
        self.calls = calls
        self.place = place
        self.shown = False
        self.states: dict[str, Started | Waiting] = {}
        self.results: dict[str, ToolResult] = {}


class Conversation:
    """Everything that a run wants to know of one branch, kept up to date record by record.

    `add` takes constant time (amortised; a rewind, that of all records); results are put into `messages` when that is next read.
    `calls_made` counts all calls, `refusals` the terminal actions that gates refused since the last run ended or the person
    spoke, `revisions` those among them that hooks refused. `ended` is an end whose run's outcome is not recorded, `spoken` tells
    that the person spoke since the last run ended. `cuts` (by call id), `compacted` and `stripped` (of how many messages requests
    leave out the reasoning) say how requests differ from `messages`. `person` holds those of `messages` that the person said, as
    the same objects, `answers` the question and answer of each call they answered. `undoing`: an undo was begun and did not come
    to its end. `processes` are the last records of commands by their handles, `untold` those whose end is news to the model.
    """

    def __init__(self, branch: str = MAIN) -> None:
        self._branch = branch
        self._records: list[Record] = []
        self._messages: list[Message] = []
        self._turns: list[_Turn] = []
        self._by_call: dict[str, _Turn] = {}
        self._unshown: dict[int, _Turn] = {}
        self._changes: dict[str, FileChange] = {}
        self._denials: list[Denial] = []
        self.todos: tuple[Todo, ...] = ()
        self.staged: dict[str, Finding] = {}
        self.reviewed: Reviewed | None = None
        self.usage: Usage = NOTHING
        self.last_outcome: RunEnded | None = None
        self.model: ModelChosen | None = None
        self.ended: End | None = None
        self.spoken = False
        self.calls_made = 0
        self.refusals = 0
        self.revisions = 0
        self.cuts: dict[str, Cut] = {}
        self.compacted: Shrunk | None = None
        self.stripped = 0
        self.last_usage: Usage | None = None
        self.person: list[User] = []
        self.answers: dict[str, tuple[str, str]] = {}
        self.processes: dict[str, Process] = {}
        self.untold: list[Process] = []
        self.undoing = False

    def add(self, record: Record) -> None:
        """Records of other branches change nothing."""
        if record.branch != self._branch:
            return
        self._records.append(record)
        match record.entry:
            case UserSaid() as said:
                self._said(said)
            case AssistantSaid(message=message, usage=usage):
                self._assistant(message)
                self.usage, self.last_usage = self.usage.plus(usage), usage
            case CallStarted(call_id=id, effect=effect, files=files):
                self._began(id, effect, files)
            case Asked(call_id=id, question=question):
                self._state(id, Waiting(question))
            case Answered(call_id=id, text=text):
                self._answer(id, text)
                self._spoken()
            case CallFinished(result=result, changes=changes, gates=gates, ends=ends):
                self.ended = ends or self.ended
                self._result(result)
                self._change(self._since_first(result.call_id, changes))
                self._refused(result, gates)
            case Approval(decision="deny") as approval:
                self._denials.append(self._denial(approval))
            case Reviewed() as reviewed:
                self.reviewed = reviewed
            case Staged(finding=finding):
                self.staged.setdefault(finding.fingerprint, finding)
            case TodosSet(todos=todos):
                self.todos = todos
            case Retried(usage=usage):
                self.usage = self.usage.plus(usage)
            case RunEnded() as ended:
                self.last_outcome, self.ended, self.spoken, self.refusals, self.revisions = ended, None, False, 0, 0
            case ModelChosen() as chosen:
                self.model = chosen
            case other:
                self._view(other)

    def _said(self, said: UserSaid) -> None:
        self._messages.append(said.message)
        if said.origin == "person":
            self.person.append(said.message)
            self._spoken()
        elif said.origin == "process":
            self.untold.clear()

    def _process(self, process: Process) -> None:
        self.processes[process.handle] = process
        if process.ended is not None and not process.ended.told:
            self.untold.append(process)

    def _view(self, entry: Entry) -> None:
        """What changes how requests show the messages. A later cut or summary takes the place of an earlier one."""
        match entry:
            case Repaired(stripped=True):
                self.stripped = len(self.messages)
            case Shrunk(results=cuts, messages=messages, usage=usage):
                self.cuts.update((cut.call_id, cut) for cut in cuts)
                self.compacted = entry if messages else self.compacted
                self.usage, self.last_usage = self.usage.plus(usage), None
            case Undoing():
                self.undoing = True
            case Undone() as undone:
                self._undone(undone)
            case Process() as process:
                self._process(process)
            case _:
                pass

    def _undone(self, undone: Undone) -> None:
        """A task that had ended is open again: what it ended with may be gone."""
        self.undoing, self.ended = False, None
        self._change(undone.changes)
        if undone.conversation:
            then = conversation(in_force(self._records[:-1], undone.to), self._branch)
            for name in REWOUND:
                setattr(self, name, getattr(then, name))

    @property
    def messages(self) -> Sequence[Message]:
        """The transcript, not a copy: it grows, and a turn's results are replaced as more of them come in. Do not change it."""
        self._show_results()
        return self._messages

    @property
    def open_calls(self) -> tuple[OpenCall, ...]:
        """Calls of the last assistant message that have no result, in their order."""
        if not self._turns:
            return ()
        turn = self._turns[-1]
        return tuple(OpenCall(call, turn.states.get(call.id, NotStarted())) for call in turn.calls if call.id not in turn.results)

    @property
    def waiting(self) -> tuple[ToolCall, Question] | None:
        """The call that waits for an answer, and what it asks."""
        for each in self.open_calls:
            if isinstance(each.state, Waiting):
                return each.call, each.state.question
        return None

    @property
    def last_results(self) -> tuple[ToolResult, ...]:
        """The results of the last assistant message with calls, in the order of the calls."""
        if not self._turns:
            return ()
        turn = self._turns[-1]
        return tuple(turn.results[call.id] for call in turn.calls if call.id in turn.results)

    @property
    def changes(self) -> tuple[FileChange, ...]:
        """One net change a file: what was there before the first change, what is there after the last."""
        return tuple(change for change in self._changes.values() if change.before != change.after)

    @property
    def denials(self) -> tuple[Denial, ...]:
        return tuple(self._denials)

    def _spoken(self) -> None:
        """Whatever ended, goes on."""
        self.refusals, self.revisions, self.ended, self.spoken = 0, 0, None, True

    def _refused(self, result: ToolResult, gates: tuple[GateResult, ...]) -> None:
        """The last gate that was asked is the one that refused."""
        if result.kind == "error" and gates:
            self.refusals += 1
            self.revisions += gates[-1].gate == "hooks"

    def _show_results(self) -> None:
        for turn in self._unshown.values():
            self._show(turn)
        self._unshown.clear()

    def _assistant(self, message: Assistant) -> None:
        self._show_results()
        self._messages.append(message)
        turn = _Turn(message.calls, len(self._messages))
        self.calls_made += len(turn.calls)
        self._turns.append(turn)
        for call in turn.calls:
            self._by_call[call.id] = turn

    def _began(self, id: str, effect: Effect, files: tuple[FileChange, ...]) -> None:
        turn = self._by_call.get(id)
        before = turn.states.get(id) if turn else None
        self._state(id, Started(effect, before.files if isinstance(before, Started) else files))

    def _state(self, id: str, state: Started | Waiting) -> None:
        if turn := self._by_call.get(id):
            turn.states[id] = state

    def _answer(self, id: str, text: str) -> None:
        """An answer is the result of its call until the engine stores another one."""
        turn, call = self._by_call.get(id), self._call(id)
        if turn and call and id not in turn.results:
            asked = turn.states.get(id)
            self.answers[id] = (asked.question.text if isinstance(asked, Waiting) else "", text)
            self._result(ToolResult(id, call.name, "ok", (Text(text),)))

    def _result(self, result: ToolResult) -> None:
        """A result whose call was never stored belongs nowhere: a provider would refuse it."""
        if turn := self._by_call.get(result.call_id):
            turn.results[result.call_id] = result
            self._unshown[id(turn)] = turn

    def _show(self, turn: _Turn) -> None:
        found = Results(tuple(turn.results[call.id] for call in turn.calls if call.id in turn.results))
        if turn.shown:
            self._messages[turn.place] = found
            return
        turn.shown = True
        self._messages.insert(turn.place, found)
        # Only a result that comes later than the next answer has turns after it to move.
        for later in reversed(self._turns):
            if later is turn:
                break
            later.place += 1

    def _since_first(self, id: str, changes: tuple[FileChange, ...]) -> tuple[FileChange, ...]:
        """A call that was killed and run again changed its files from what they were when it first began."""
        turn = self._by_call.get(id)
        state = turn.states.get(id) if turn else None
        if not isinstance(state, Started) or not state.files:
            return changes
        before = {file.path: file.before for file in state.files}
        return tuple(FileChange(each.path, before.get(each.path, each.before), each.after) for each in changes)

    def _change(self, changes: tuple[FileChange, ...]) -> None:
        for change in changes:
            first = self._changes.get(change.path, change)
            self._changes[change.path] = FileChange(change.path, first.before, change.after)

    def _denial(self, approval: Approval) -> Denial:
        call = self._call(approval.call_id)
        what = "" if call is None else call.arguments
        return Denial(
            tool="" if call is None else call.name,
            what=what if len(what) <= SHOWN else what[: SHOWN - 1] + "…",
            reason=approval.reason,
            flag=approval.flag,
        )

    def _call(self, id: str) -> ToolCall | None:
        turn = self._by_call.get(id)
        return None if turn is None else next(call for call in turn.calls if call.id == id)


def conversation(records: Iterable[Record], branch: str = MAIN) -> Conversation:
    """All records of a branch, folded."""
    folded = Conversation(branch)
    for record in records:
        folded.add(record)
    return folded


def transcript(records: Iterable[Record]) -> tuple[Message, ...]:
    return tuple(conversation(records).messages)


def open_calls(records: Iterable[Record]) -> tuple[OpenCall, ...]:
    return conversation(records).open_calls


def todos(records: Iterable[Record]) -> tuple[Todo, ...]:
    return conversation(records).todos


def usage(records: Iterable[Record]) -> Usage:
    """Of all model calls, those that failed after output had arrived included."""
    return conversation(records).usage


def changes(records: Iterable[Record]) -> tuple[FileChange, ...]:
    return conversation(records).changes


def denials(records: Iterable[Record]) -> tuple[Denial, ...]:
    return conversation(records).denials


def last_outcome(records: Iterable[Record]) -> RunEnded | None:
    return conversation(records).last_outcome
