"""What a session's runs went through: phases and their times, repairs, retries, and whatever else the engine did by itself."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from ferrule.tools.command.telling import end_of
from ferrule.types.outcome import Outcome
from ferrule.types.records import (
    Approval,
    AssistantSaid,
    AttemptEnded,
    AttemptStarted,
    CallFinished,
    Entry,
    HookRan,
    ModelChosen,
    PhaseTime,
    Process,
    Record,
    Repaired,
    Retried,
    RunEnded,
    Shrunk,
    Undone,
    UserSaid,
)


class Traced(Struct, frozen=True):
    """Something that the engine did by itself. `at` is seconds since its run began; `what` is one line."""

    seq: int
    at: float
    kind: str
    what: str


class AttemptTrace(Struct, frozen=True):
    """`first` is its first record. `how` is empty where the process died in it. `commit` is the seconds that its records
    took beyond the phases.
    """

    first: int
    number: int
    model: str
    how: str
    seconds: float
    phases: tuple[PhaseTime, ...]
    commit: float
    turns: int
    calls: int
    events: tuple[Traced, ...]


class RunTrace(Struct, frozen=True):
    """`began` is Unix seconds; `outcome` is None for a run whose process died. `events` happened between its attempts."""

    began: float
    seconds: float
    outcome: Outcome | None
    attempts: tuple[AttemptTrace, ...]
    events: tuple[Traced, ...]


def trace(records: Iterable[Record]) -> tuple[RunTrace, ...]:
    """The runs of a session's main branch, in order. A prefix of a journal gives the runs up to there.

    What was done to the session behind its last run (it was compacted, or undone) is told with that one.
    """
    *parts, last = _runs(records)
    if parts and not _attempted(last):
        parts[-1] += last
    else:
        parts.append(last)
    return tuple(_run(part) for part in parts if _attempted(part))


def _attempted(part: list[Record]) -> bool:
    return any(isinstance(record.entry, AttemptStarted) for record in part)


def _runs(records: Iterable[Record]) -> Iterator[list[Record]]:
    """The records of each run; one that was broken off ends where the next begins to count its attempts anew."""
    part: list[Record] = []
    for record in records:
        anew = isinstance(record.entry, AttemptStarted) and record.entry.number == 1
        if anew and _attempted(part):
            yield part
            part = []
        part.append(record)
        if isinstance(record.entry, RunEnded):
            yield part
            part = []
    yield part


class _Gathering:
    """One attempt while its records are read."""

    def __init__(self, first: int, number: int, model: str, began: float) -> None:
        self.first = first
        self.number = number
        self.model = model
        self.began = began
        self.last = began
        self.said = 0
        self.calls = 0
        self.events: list[Traced] = []
        self.ended: AttemptEnded | None = None

    def done(self) -> AttemptTrace:
        seconds = self.last - self.began if self.ended is None else self.ended.seconds
        phases = () if self.ended is None else self.ended.phases
        spent = sum(phase.seconds for phase in phases)
        whole = max(seconds, self.last - self.began)
        commit = max(0.0, whole - spent) if phases else 0.0
        return AttemptTrace(
            first=self.first,
            number=self.number,
            model=self.model,
            how="" if self.ended is None else self.ended.how,
            seconds=round(seconds, 4),
            phases=phases,
            commit=round(commit, 4),
            turns=max(self.said, self._answered(phases)),
            calls=self.calls,
            events=tuple(self.events),
        )

    def _answered(self, phases: tuple[PhaseTime, ...]) -> int:
        """Answers that came: one of nothing is no message of the journal, and the last request of a failed attempt got none."""
        asked = sum(phase.times for phase in phases if phase.name == "submit")
        return asked if self.ended is not None and self.ended.how not in ("failed", "interrupted") else self.said


def _run(records: list[Record]) -> RunTrace:
    first = next(record for record in records if isinstance(record.entry, AttemptStarted))
    outcome: Outcome | None = None
    until = records[-1].time
    attempts: list[_Gathering] = []
    outside: list[Traced] = []
    model = ""
    for record in records:
        match record.entry:
            case ModelChosen(model=chosen):
                model = chosen
            case AttemptStarted(number=number):
                attempts.append(_Gathering(record.seq, number, model, record.time))
            case RunEnded(outcome=ended):
                outcome, until = ended, record.time
            case _:
                pass
        current = attempts[-1] if attempts and attempts[-1].ended is None else None
        if current is not None:
            _gather(current, record)
        if (what := _told(record.entry)) is not None:
            event = Traced(record.seq, round(max(0.0, record.time - first.time), 3), *what)
            (outside if current is None else current.events).append(event)
    seconds = until - first.time
    return RunTrace(first.time, round(seconds, 3), outcome, tuple(each.done() for each in attempts), tuple(outside))


def _gather(attempt: _Gathering, record: Record) -> None:
    attempt.last = record.time
    match record.entry:
        case AssistantSaid():
            attempt.said += 1
        case CallFinished():
            attempt.calls += 1
        case AttemptEnded() as ended:
            attempt.ended = ended
        case _:
            pass


def _told(entry: Entry) -> tuple[str, str] | None:
    """Kind and line of what the engine did by itself; None for what the model or the person did."""
    match entry:
        case Repaired(by=by, what=what, stripped=stripped):
            return ("stripped" if stripped else "repair"), f"{by}: {'; '.join(what)}"
        case Retried(fault=fault, delay=delay, to=to):
            return "retry", f"{f'by {to}' if to else f'in {delay:g} s'}, {fault.code}: {fault.sentence}"
        case Shrunk() as shrunk:
            return "shrunk", _shrunk(shrunk)
        case Undone(to=to, conversation=conversation, changes=changes):
            return (
                "undone",
                f"{_counted(len(changes), 'file')}{' and the conversation' if conversation else ''} as after record {to}",
            )
        case ModelChosen(model=model, endpoint=endpoint):
            return "model", f"{model} at {endpoint}"
        case UserSaid(origin="reminder" | "note" as origin, message=message):
            return origin, " ".join(getattr(part, "text", "(image)") for part in message.parts)
        case Process(handle=handle, command=command, ended=ended):
            return "process", f"{handle} {f'runs: {command}' if ended is None else end_of(ended)}"
        case Approval(decision="deny", by=by, reason=reason):
            return "denied", f"{by}: {reason}"
        case HookRan(event=event, name=name, verdict=verdict, seconds=seconds, reason=reason):
            return "hook", f"{event} {name}: {verdict} in {seconds:.2f} s{f', {reason}' if reason else ''}"
        case _:
            return None


def _shrunk(shrunk: Shrunk) -> str:
    parts = [_counted(len(shrunk.results), "result") + " cut"] if shrunk.results else []
    parts += [f"{_counted(shrunk.messages, 'message')} summarised in {shrunk.seconds:.1f} s"] if shrunk.messages else []
    return (
        f"{shrunk.why}: {', '.join(parts) or 'nothing could be summarised'}; {shrunk.before} tokens before, {shrunk.after} after"
    )


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
