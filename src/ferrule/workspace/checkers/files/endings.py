"""Files of which all line endings were turned from one kind into the other."""

from ferrule.workspace.checkers.base import Changed, Checker, CheckFinding, each_file

FEWEST = 3
"""Lines that a file must have for its endings to be a habit."""


def endings() -> Checker:
    return Checker("endings", lambda file: file.old is not None, each_file(_judge))


def _judge(file: Changed) -> list[CheckFinding]:
    before, after = _kind(file.old or b""), _kind(file.new or b"")
    if before is None or after is None or before == after:
        return []
    line = file.lines[0] if file.lines else None
    said = f"All line endings of this file were turned from {before} into {after}, so that every line counts as changed."
    return [CheckFinding(file.path, line, line, "endings", "line-endings", "should-fix", said)]


def _kind(content: bytes) -> str | None:
    """None where there are few lines, or of both kinds."""
    feeds, pairs = content.count(b"\n"), content.count(b"\r\n")
    if feeds < FEWEST:
        return None
    return "LF" if pairs == 0 else "CRLF" if pairs == feeds else None
