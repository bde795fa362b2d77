"""Where in a diff a finding may point, how to say that it may not, and what is known of a place."""

import hashlib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from msgspec import Struct

from .model import Diff, File, Hunk, Line, Side

Reason = Literal["path", "no_lines", "order", "side", "line", "hunks"]
HINTS = 3
"""Places that a problem names at most."""
_SPANS_NAMED = 6
_PATHS_COMPARED = 2000


class Anchor(Struct, frozen=True):
    """Lines `start_line` … `line` (or `line` alone) of one hunk on one side; without a line and a hunk, the file as a whole.

    Made by `check` only, so that it holds in the diff that it was checked against.
    """

    path: str
    line: int | None
    start_line: int | None
    side: Side
    hunk: int | None

    @property
    def first(self) -> int | None:
        return self.line if self.start_line is None else self.start_line

    def __str__(self) -> str:
        if self.line is None:
            return f"{self.path} as a whole (without a line)"
        return f"{self.path} {_named(self.start_line, self.line)} {self.side}"


class Problem(Struct, frozen=True):
    """Why a place is no anchor. `text` tells whoever named it and names the hints; every hint is accepted by `check`.

    There is no hint only where the diff has no files.
    """

    reason: Reason
    text: str
    hints: tuple[Anchor, ...]


def check(diff: Diff, path: str, line: int | None, start_line: int | None = None, side: Side = "RIGHT") -> Anchor | Problem:
    """The place as an anchor: inside one hunk, its start before its end, on the side where its lines exist.

    RIGHT has the added and the context lines by their new numbers, LEFT the deleted and the context lines by their old ones. A
    start that equals the line is left out. `line` None means the file as a whole.
    """
    file = diff.by_path.get(path)
    if file is None:
        return _unknown_path(diff, path, line, start_line, side)
    if line is None and start_line is not None:
        return _problem("order", f"start_line {start_line} has no line.", [_best(file, start_line, None, side)])
    if line is None:
        return Anchor(path, None, None, side, None)
    if not file.spans["LEFT"] and not file.spans["RIGHT"]:
        return _problem(
            "no_lines", f"{path} has no lines in the diff: {_why_none(file)}.", [Anchor(path, None, None, side, None)]
        )
    if start_line is not None and start_line > line:
        said = f"start_line {start_line} stands behind line {line}."
        return _problem("order", said, _near(file, line, start_line, side if file.spans[side] else _other(side)))
    first = line if start_line is None else start_line
    begins, ends = _hunk_at(file, first, side), _hunk_at(file, line, side)
    if begins is not None and begins == ends:
        return Anchor(path, line, None if first == line else first, side, ends)
    return _misplaced(file, first, line, side, begins is not None and ends is not None)


def _misplaced(file: File, first: int, line: int, side: Side, both: bool) -> Problem:
    """The lines are not all in one hunk on this side."""
    if both:
        said = f"{_named(first, line)} of {file.path} reach over several hunks on the {side} side; a finding stays in one."
        return _problem("hunks", said, _near(file, first, line, side))
    other = _other(side)
    if not file.spans[side]:
        said = f"{file.path} has no lines on the {side} side ({file.status}); its lines are on the {other} side."
        return _problem("side", said, _near(file, first, line, other))
    same = _hunk_at(file, line, other)
    elsewhere = [] if same is None or same != _hunk_at(file, first, other) else [_anchor(file, first, line, other, same)]
    verb = "is" if first == line else "are"
    said = (
        f"{_named(first, line)} of {file.path} {verb} not in the diff on the {side} side, which has {_listed(file, line, side)}."
    )
    return _problem("line", said, (*elsewhere, *_near(file, first, line, side)))


def _unknown_path(diff: Diff, path: str, line: int | None, start_line: int | None, side: Side) -> Problem:
    names = _near_paths(diff, path)[:HINTS]
    hints = [_best(diff.by_path[name], line, start_line, side) for name in names]
    if not names:
        return _problem("path", f"{path} is not in the diff, which has no files.", [])
    said = f"{path} is not in the diff."
    if path in diff.renamed:
        said = f"{path} is called {diff.renamed[path]} now; both sides go by that name."
    return _problem("path", said, hints)


def _near_paths(diff: Diff, path: str) -> list[str]:
    """Paths of the diff that may be meant, by the surest rule that finds any; any at all where none does."""
    from difflib import get_close_matches

    bare = path.removeprefix("./").lstrip("/")
    names = list(diff.by_path)[:_PATHS_COMPARED]
    last = bare.rsplit("/", 1)[-1]
    rules: tuple[Callable[[], list[str]], ...] = (
        lambda: [diff.renamed[path]] if path in diff.renamed else [],
        lambda: [name for name in (bare, bare.removeprefix("a/"), bare.removeprefix("b/")) if name in diff.by_path],
        lambda: [name for name in names if name.endswith(f"/{bare}") or bare.endswith(f"/{name}")],
        lambda: [name for name in names if name.rsplit("/", 1)[-1] == last],
        lambda: get_close_matches(bare, names, HINTS, 0.6),
        lambda: names[:1],
    )
    return next((found for rule in rules if (found := rule())), [])


def _best(file: File, line: int | None, start_line: int | None, side: Side) -> Anchor:
    """The place in this file that is most like the one asked for."""
    if line is None or not (file.spans["LEFT"] or file.spans["RIGHT"]):
        return Anchor(file.path, None, None, side, None)
    there = side if file.spans[side] else _other(side)
    first = line if start_line is None else min(start_line, line)
    return next(_near(file, first, max(first, line), there))


def _near(file: File, first: int, line: int, side: Side) -> Iterator[Anchor]:
    """Anchors like the lines asked for, where `side` has lines: the same ones, a part of them, the nearest to their end."""
    spans = file.spans[side]
    for at in (_span_at(file, line, side), _span_at(file, first, side)):
        if at is not None:
            span, hunk = spans[at]
            yield _anchor(file, max(first, span.start), min(line, span.stop - 1), side, hunk)
    below = bisect_right(spans, line, key=_start) - 1
    inside = below >= 0 and line in spans[below][0]
    beside = spans[max(below, 0) : below + (1 if inside else 2)]
    nearest = [(min(max(line, span.start), span.stop - 1), hunk) for span, hunk in beside]
    for number, hunk in sorted(nearest, key=lambda place: abs(place[0] - line)):
        yield _anchor(file, number, number, side, hunk)


def _anchor(file: File, first: int, line: int, side: Side, hunk: int) -> Anchor:
    return Anchor(file.path, line, None if first == line else first, side, hunk)


def _problem(reason: Reason, said: str, hints: Iterable[Anchor]) -> Problem:
    kept = tuple(dict.fromkeys(hints))[:HINTS]
    named = f" Nearest: {'; '.join(map(str, kept))}." if kept else ""
    return Problem(reason, said + named, kept)


def _start(place: tuple[range, int]) -> int:
    return place[0].start


def _span_at(file: File, line: int, side: Side) -> int | None:
    """The position in `file.spans[side]` of the hunk that has `line`."""
    spans = file.spans[side]
    at = bisect_right(spans, line, key=_start) - 1
    return at if at >= 0 and line in spans[at][0] else None


def _hunk_at(file: File, line: int, side: Side) -> int | None:
    at = _span_at(file, line, side)
    return None if at is None else file.spans[side][at][1]


def _other(side: Side) -> Side:
    return "LEFT" if side == "RIGHT" else "RIGHT"


def _named(first: int | None, line: int) -> str:
    return f"line {line}" if first is None or first == line else f"lines {first}-{line}"


def _listed(file: File, line: int, side: Side) -> str:
    """The line numbers of the hunks around `line`."""
    spans = file.spans[side]
    at = max(0, min(bisect_right(spans, line, key=_start) - _SPANS_NAMED // 2, len(spans) - _SPANS_NAMED))
    shown = spans[at : at + _SPANS_NAMED]
    listed = ", ".join(str(span.start) if len(span) == 1 else f"{span.start}-{span.stop - 1}" for span, _ in shown)
    more = len(spans) - len(shown)
    return f"{listed} and {more} more hunks" if more else listed


def _why_none(file: File) -> str:
    if file.omitted:
        return file.omitted
    if file.binary:
        return "git takes it for binary"
    if file.old_blob == file.new_blob:
        return "only its mode changed" if file.mode_changed and file.status == "modified" else f"it was only {file.status}"
    return "it is empty"


def anchored(diff: Diff, anchor: Anchor) -> tuple[Line, ...]:
    """The lines on the anchor's side that it points at; none for a file as a whole."""
    found = _inside(diff, anchor)
    if found is None:
        return ()
    hunk, at, end = found
    return tuple(hunk.lines[position] for position in hunk.positions[anchor.side][at:end])


def snippet(diff: Diff, anchor: Anchor, context: int = 3) -> tuple[Line, ...]:
    """The lines of the hunk from `context` before the anchor to `context` behind it, those of the other side among them."""
    found = _inside(diff, anchor)
    if found is None:
        return ()
    hunk, at, end = found
    positions = hunk.positions[anchor.side]
    return hunk.lines[max(0, positions[at] - context) : positions[end - 1] + context + 1]


def _inside(diff: Diff, anchor: Anchor) -> tuple[Hunk, int, int] | None:
    """The hunk, and from where to where in its positions on the side the anchor reaches."""
    if anchor.line is None or anchor.first is None or anchor.hunk is None:
        return None
    hunk = diff.by_path[anchor.path].hunks[anchor.hunk]
    start = hunk.span(anchor.side).start
    return hunk, anchor.first - start, anchor.line - start + 1


def changed_lines(file: File) -> frozenset[int]:
    """The new numbers of the added lines."""
    return frozenset(line.new for hunk in file.hunks for line in hunk.lines if line.kind == "added" and line.new is not None)


def fingerprint(diff: Diff, anchor: Anchor, text: str, ordinal: int = 0) -> str:
    """32 hexadecimal digits that stay the same when the lines move or their blanks change.

    `text` is what was found, without its severity or anything that changes from run to run. Where a file has the same finding on
    equal lines, `ordinal` (0, 1, 2 … from the top) tells them apart.
    """
    code = (" ".join(line.text.split()) for line in anchored(diff, anchor))
    parts = (anchor.path, " ".join(text.split()), *code, *([f"#{ordinal}"] if ordinal else []))
    return hashlib.sha256("\0".join(parts).encode("utf-8", "backslashreplace")).hexdigest()[:32]
