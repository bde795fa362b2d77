"""What a review looked at: each file's change, and the checkers in their own words."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from ferrule.tools.base import Tool
from ferrule.tools.schema import parse
from ferrule.types.messages import Assistant, Message, Results

from .diff_tool import ReadDiff, diff_tool, page_of
from .subject import Place, Shown, Subject


class Coverage(Struct, frozen=True):
    """`checks` is None where none ran. `notes` tell what was left out of the change, and how it was compared."""

    files: tuple[Shown, ...]
    checks: str | None
    notes: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """One line for people."""
        counts = {how: sum(shown.how == how for shown in self.files) for how in ("full", "partial", "skipped")}
        said = ", ".join(f"{count} {how}" for how, count in counts.items() if count)
        checks = (self.checks or "No checks ran.").removeprefix("Coverage: ")
        number = len(self.files)
        counted = f"Coverage: {number} file{'' if number == 1 else 's'} of the change ({said or 'none'})."
        return " ".join([counted, checks, *self.notes])


def coverage(subject: Subject, messages: Sequence[Message], by_checks: bool) -> Coverage:
    """`by_checks`: the reviewer is the checks alone, which read every file whole that is not skipped for a reason."""
    if by_checks:
        files = (replaced(shown, None) if shown.path in subject.rest else shown for shown in subject.shown)
    else:
        reads = list(_reads(diff_tool(subject.comparison.diff), messages))
        files = (_seen(subject, shown, reads) if shown.path in subject.rest else shown for shown in subject.shown)
    notes = tuple(" ".join(note.split()) for note in subject.comparison.diff.notes)
    return Coverage((*files, *subject.ignored), last_checks(messages), notes)


def replaced(shown: Shown, rest: Place | None) -> Shown:
    if rest is None:
        return Shown(shown.path, "full")
    return shown if rest == Place(0, 0) else Shown(shown.path, "partial", f"its diff is long, and was read up to {rest}")


def _seen(subject: Subject, shown: Shown, reads: Iterable[ReadDiff]) -> Shown:
    """With what the reviewer read by `read_diff` behind what it was given."""
    rest = subject.rest[shown.path]
    for read in sorted((read.hunk, read.line) for read in reads if read.path == shown.path):
        if Place(read[0] - 1, read[1] - 1) > rest:
            break
        following = page_of(subject.comparison.diff, ReadDiff(shown.path, *read)).following
        if following is None:
            return replaced(shown, None)
        rest = max(rest, following)
    return shown if rest == subject.rest[shown.path] else replaced(shown, rest)


def _reads(tool: Tool, messages: Sequence[Message]) -> Iterator[ReadDiff]:
    """What was asked of `read_diff` and answered."""
    answered = {
        result.call_id
        for message in messages
        if isinstance(message, Results)
        for result in message.parts
        if result.name == tool.name and result.kind == "ok"
    }
    for message in messages:
        for call in message.calls if isinstance(message, Assistant) else ():
            if call.id in answered and isinstance(params := parse(tool, call.arguments), ReadDiff):
                yield params


def last_checks(messages: Sequence[Message]) -> str | None:
    """What the last run of the checks says that it looked at: the last line of its report."""
    for message in reversed(messages):
        for result in reversed(message.parts) if isinstance(message, Results) else ():
            if result.name == "run_checks" and result.kind == "ok":
                return result.text.rstrip().rpartition("\n")[2]
    return None
