"""What a hook said: its JSON, or its exit code as users of other agents know it (0 passes, 2 blocks with stderr as reason)."""

from typing import Any, Literal

import msgspec
from msgspec import Struct

from ferrule.process.protocol import Ended

from .hook import Event

LONGEST = 8000
"""Characters of a reason, a note or an error that are kept."""

BLOCKS = 2


class Answer(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """`note` is for the model; `arguments` take the place of a call's, `result` of its text, `summary` of a compaction's."""

    decision: Literal["pass", "ask", "block"] = "pass"
    reason: str = ""
    note: str = ""
    arguments: dict[str, Any] | None = None
    result: str | None = None
    summary: str | None = None


class Broken(Struct, frozen=True):
    """The hook gave no answer that can be used."""

    why: str


TAKES: dict[Event, frozenset[str]] = {
    "session_start": frozenset({"block", "note"}),
    "before_model": frozenset({"block", "note"}),
    "before_tool": frozenset({"block", "ask", "arguments"}),
    "after_tool": frozenset({"block", "result"}),
    "before_compact": frozenset({"block", "summary"}),
    "before_finalize": frozenset({"block"}),
    "after_task": frozenset(),
}
BLOCKED = {"before_compact": "cancel", "before_finalize": "revise"}
WORDS = {"arguments": "change", "result": "replace", "summary": "summary", "note": "note"}


def of_value(event: Event, value: object) -> Answer | Broken:
    """Of a decoded JSON object, or what a Python function returned; None passes."""
    try:
        answer = msgspec.convert({} if value is None else value, Answer)
        msgspec.json.encode(answer)
    except (msgspec.ValidationError, TypeError, ValueError) as error:
        return Broken(f"its answer is not understood: {error}")
    extra = sorted(_used(answer) - TAKES[event])
    if extra:
        taken = ", ".join(sorted(TAKES[event])) or "nothing"
        return Broken(f"its answer says {', '.join(extra)}, but {event} takes {taken}")
    return answer


def of_command(event: Event, ended: Ended, limit: float, out: bytes, err: bytes) -> Answer | Broken:
    """`limit` is the time limit in seconds. Standard output that does not begin with `{` is a note where the event takes one."""
    said, complaint = _text(out), _text(err)
    if ended.timed_out:
        return Broken(f"it gave no answer within {limit:g} s and was ended")
    if ended.error is not None:
        return Broken(ended.error)
    if ended.exit_code == BLOCKS:
        return of_value(event, {"decision": "block", "reason": _cut(complaint) or "it gave no reason"})
    if ended.exit_code != 0:
        how = f"ended by signal {ended.signal}" if ended.exit_code is None else f"exit code {ended.exit_code}"
        return Broken(f"{how}: {_cut(complaint)}" if complaint else how)
    if not said.startswith("{"):
        return Answer(note=_cut(said)) if "note" in TAKES[event] else Answer()
    try:
        return of_value(event, msgspec.json.decode(said))
    except msgspec.DecodeError as error:
        return Broken(f"what it printed begins like JSON and is none: {error}")


def word(event: Event, answer: Answer) -> str:
    """The verdict in one word, for the record."""
    if answer.decision == "block":
        return BLOCKED.get(event, "block")
    if answer.decision == "ask":
        return "ask"
    return next((WORDS[name] for name in WORDS if name in _used(answer)), "pass")


def _used(answer: Answer) -> set[str]:
    fields = set(msgspec.to_builtins(answer)) - {"decision", "reason"}
    return fields if answer.decision == "pass" else fields | {answer.decision}


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").strip()


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
