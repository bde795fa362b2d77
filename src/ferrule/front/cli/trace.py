"""`ferrule trace ID`: what the engine went through in the runs of a session."""

import asyncio
import time
from collections.abc import Mapping

import msgspec

from ferrule.task.sessions import StoredSession, read_session_part
from ferrule.task.sessions.trace import AttemptTrace, RunTrace, Traced, trace

from .arguments import Invocation
from .show.output import deliver, standard_error
from .show.terminal import clean, counted, one_line

WIDTH = 140


def show_trace(invocation: Invocation, environ: Mapping[str, str]) -> int:
    """Exit code 1 where the journal is damaged; what stands before the damage is shown. Raises UsageError, StoreError."""
    stored, problem = asyncio.run(read_session_part(environ, invocation.words[0]))
    runs = trace(stored.records)
    code = 1 if problem else 0
    if problem:
        standard_error().text(f"ferrule: the trace ends after {len(stored.records)} records: {clean(problem)}\n")
    if invocation.output_format == "json":
        return deliver(msgspec.json.encode({"session": stored.info, "runs": runs}) + b"\n", code)
    return deliver(heading(stored) + "".join(run_text(number, run) for number, run in enumerate(runs, 1)), code)


def heading(stored: StoredSession) -> str:
    return f"session {stored.info.id}\nfolder  {clean(stored.info.folder)}\n"


def run_text(number: int, run: RunTrace) -> str:
    began = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(run.began))
    turns, calls = sum(each.turns for each in run.attempts), sum(each.calls for each in run.attempts)
    outcome = run.outcome or "its process died"
    said = f"\nrun {number}  {began}  {outcome}  {run.seconds:.2f} s, {counted(turns, 'turn')}, {counted(calls, 'call')}\n"
    between = [(event.seq, _event(event, 1)) for event in run.events]
    attempts = [(attempt.first, _attempt(attempt)) for attempt in run.attempts]
    return said + "".join(text for _, text in sorted([*between, *attempts]))


def _attempt(attempt: AttemptTrace) -> str:
    how = attempt.how or "broken off"
    text = f"  attempt {attempt.number}  {clean(attempt.model)}  {how} after {attempt.seconds:.2f} s\n"
    times = [f"{phase.name} {_time(phase.seconds)}{f' ×{phase.times}' if phase.times > 1 else ''}" for phase in attempt.phases]
    if times:
        text += _wrapped([*times, f"commit {_time(attempt.commit)}"])
    return text + "".join(_event(event, 2) for event in attempt.events)


def _wrapped(items: list[str]) -> str:
    """The items in lines of a readable width."""
    lines = [""]
    for item in items:
        if lines[-1] and len(lines[-1]) + len(item) > WIDTH - 40:
            lines.append("")
        lines[-1] += ("  " if lines[-1] else "") + item
    return "".join(f"    {line}\n" for line in lines)


def _event(event: Traced, depth: int) -> str:
    return f"{'  ' * depth}+{event.at:.2f} s  {event.kind:<8}  {one_line(event.what, WIDTH)}\n"


def _time(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.2f} s"
