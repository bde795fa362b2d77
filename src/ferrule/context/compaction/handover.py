"""The summary as it is stored: what the model wrote, and what code adds from the records because models forget it."""

from collections.abc import Sequence
from typing import NamedTuple

from ferrule.types.tools import Todo

from .passages import clip

RECORD = "## From the record"
RIGHT = "Written by the program: where the text above says otherwise, this is right."
TURN = "## The turn in progress, its first part"
MOST_FILES, MOST_FAILURES, FAILURE_CHARACTERS = 40, 8, 240


class Facts(NamedTuple):
    """What is known without a model: files by name, failed calls as `name: text`, the last ones last."""

    read: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()


def written(said: str, turn: str, facts: Facts, missing: Sequence[str]) -> str:
    """`said` and `turn` are the model's; `missing` are identifiers that it left out after it had been told."""
    parts = [_own(said)]
    if turn:
        parts.append(f"{TURN}\n\n{_own(turn)}")
    lines = []
    if missing:
        lines.append(f"- Identifiers: {', '.join(missing)}")
    lines.append(f"- Files changed: {_listed(facts.changed) or 'none'}")
    if facts.read:
        lines.append(f"- Files read: {_listed(facts.read)}")
    lines += [f"- Failed: {one_line(failure)}" for failure in facts.failures[-MOST_FAILURES:]]
    parts.append("\n".join([RECORD, "", RIGHT, *lines]))
    return "\n\n".join(part for part in parts if part)


def certain(words: Sequence[str], facts: Facts, todos: Sequence[Todo], most: int) -> str:
    """What a model is told beside the conversation, so that it does not contradict it: at most `most` characters of the user's
    words, what was changed, what failed, what is open."""
    lines = ["What the user said (it stays beside the hand-over word for word):", clip("\n".join(words), most)]
    lines.append(f"Files changed: {_listed(facts.changed) or 'none, so that no edit has succeeded yet'}")
    lines += [f"Failed: {one_line(failure)}" for failure in facts.failures[-MOST_FAILURES:]]
    lines += [f"Open todo: {one_line(todo.text)}" for todo in todos]
    return "\n".join(lines)


def said_in(summary: str) -> str:
    """The model's part of an earlier summary, which a new one takes in; the rest is made again."""
    return summary.partition(f"\n{RECORD}\n")[0].strip()


def one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= FAILURE_CHARACTERS else line[: FAILURE_CHARACTERS - 1] + "…"


def _own(said: str) -> str:
    """Without a record section of its own, which only code writes, and without the marks of fences, which small models repeat."""
    lines = [line for line in said.splitlines() if not (line.startswith("=====") and line.rstrip().endswith("====="))]
    text = "\n".join(lines)
    return f"\n{text}\n".partition(f"\n{RECORD}\n")[0].strip()


def _listed(names: Sequence[str]) -> str:
    """The last ones; how many more there are is said."""
    more = len(names) - MOST_FILES
    shown = ", ".join(names[-MOST_FILES:])
    return f"{shown} (and {more} earlier ones)" if more > 0 else shown
