"""Unified diffs, as git and diff print them and as models write them, whose counts of lines are often wrong."""

import re
from collections.abc import Sequence

from .hunks import Reading, at_mark
from .model import FilePatch, Hunk, Malformed

_GIT = "diff --git "
_ESCAPE = re.compile(rb"\\([abtnvfr\"\\]|[0-7]{3})")
_LETTERS = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r", b'"': b'"', b"\\": b"\\"}
_MODES = {"100644": False, "100755": True}
_NOTHING = "/dev/null"
_PREFIX = re.compile(r"[abciow]/")
"""What git writes before a path: `a/` and `b/`, or letters for commit, index, object and working tree."""
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')


def parse_unified(lines: Sequence[str]) -> tuple[FilePatch, ...]:
    """The files in order; raises Malformed. Text around them, such as a commit message, is passed over."""
    return _Unified(lines).files()


class _Head:
    """What the lines before the hunks of a file say."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.names: dict[str, str] = {}
        self.modes: dict[str, str] = {}
        self.git: str | None = None


class _Unified:
    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.at = 0

    def files(self) -> tuple[FilePatch, ...]:
        files: list[FilePatch] = []
        while self.at < len(self.lines):
            if self.lines[self.at].startswith(_GIT) or self._pair(self.at):
                files.append(self._file())
            elif self.lines[self.at].startswith("@@ -"):
                raise Malformed(f"line {self.at + 1}: no `--- PATH` and `+++ PATH` stand before this hunk.")
            else:
                self.at += 1
        return tuple(files)

    def _pair(self, at: int) -> bool:
        return self._starts(at, "--- ") and self._starts(at + 1, "+++ ")

    def _starts(self, at: int, start: str) -> bool:
        return at < len(self.lines) and self.lines[at].startswith(start)

    def _file(self) -> FilePatch:
        head = _Head(self.at + 1)
        if self.lines[self.at].startswith(_GIT):
            head.git = _git_path(self.lines[self.at].removeprefix(_GIT).rstrip("\r"))
            self.at += 1
            while self.at < len(self.lines) and not self._pair(self.at) and self._extended(head):
                self.at += 1
        if self._pair(self.at):
            head.names["---"], head.names["+++"] = (_name(self.lines[self.at + offset][4:]) for offset in (0, 1))
            self.at += 2
        hunks: list[Hunk] = []
        while self._starts(self.at, "@@"):
            hunks += self._hunk()
        return _built(head, tuple(hunks))

    def _extended(self, head: _Head) -> bool:
        """Whether the line belongs to the head that git writes."""
        line = self.lines[self.at].rstrip("\r")
        for key in ("old mode ", "new mode ", "new file mode ", "deleted file mode "):
            if line.startswith(key):
                head.modes[key.strip()] = line.removeprefix(key)
                return True
        for key in ("rename from ", "rename to "):
            if line.startswith(key):
                head.names[key.strip()] = _unquoted(line.removeprefix(key))
                return True
        if line.startswith(("copy from ", "copy to ")):
            raise Malformed(f"line {self.at + 1}: a copy; add the file with its content.")
        if line.startswith(("Binary files ", "GIT binary patch")):
            raise Malformed(f"line {self.at + 1}: changes of binary files cannot be applied.")
        return line.startswith(("index ", "similarity index ", "dissimilarity index "))

    def _hunk(self) -> tuple[Hunk, ...]:
        reading = Reading(self.at + 1)
        at_mark(reading, self.lines[self.at])
        self.at += 1
        while self.at < len(self.lines) and not self._ends(reading):
            reading.take(self.at + 1, self.lines[self.at])
            self.at += 1
        return reading.finished()

    def _ends(self, reading: Reading) -> bool:
        """Whether the hunk ends before this line. The counts of its head decide where a line may be either."""
        line = self.lines[self.at]
        left = reading.left()
        if line.startswith(("@@", _GIT, "*** ")):
            return True
        if self._pair(self.at):
            within = min(left) >= 1 and (left == (1, 1) or not self._starts(self.at + 2, "@@"))
            return not within
        if left == (0, 0) and reading.old is not None:
            return line in ("-- ", "") or not line.startswith((" ", "-", "+", "\\"))
        return line.startswith("```")


def _built(head: _Head, hunks: tuple[Hunk, ...]) -> FilePatch:
    old, new = _paths(head)
    executable = None
    for key, mode in head.modes.items():
        if mode not in _MODES:
            raise Malformed(f"line {head.line}: mode {mode} is not that of a file; links and submodules cannot be patched.")
        if key in ("new mode", "new file mode"):
            executable = _MODES[mode]
    if old is None and new is None:
        raise Malformed(f"line {head.line}: it names no file.")
    if old is None and new is not None:
        if any(line.sign != "+" for hunk in hunks for line in hunk.lines):
            raise Malformed(f"line {head.line}: {new} is added, so every line of it begins with `+`.")
        return FilePatch("add", new, head.line, hunks, executable=executable or None)
    assert old is not None
    if new is None:
        return FilePatch("delete", old, head.line, hunks)
    if not hunks and new == old and executable is None:
        raise Malformed(f"line {head.line}: the update of {old} has no hunk.")
    return FilePatch("update", old, head.line, hunks, new if new != old else None, executable)


def _paths(head: _Head) -> tuple[str | None, str | None]:
    """Where the file is before and after; None where there is none."""
    if "rename from" in head.names and "rename to" in head.names:
        return head.names["rename from"], head.names["rename to"]
    if "---" not in head.names:
        old, new = ("new file mode" not in head.modes), ("deleted file mode" not in head.modes)
        return (head.git if old else None), (head.git if new else None)
    before, after = head.names["---"], head.names["+++"]
    same = head.git or _stripped(before, after)
    if same is not None:
        return (None if before == _NOTHING else same), (None if after == _NOTHING else same)
    return before, after


def _stripped(before: str, after: str) -> str | None:
    """The path that both are but for the `a/` and `b/` that git writes before it; None where they are two paths."""
    if _NOTHING in (before, after):
        path = after if before == _NOTHING else before
        return path[2:] if path.startswith(("a/", "b/")) else path
    return (
        before[2:]
        if before[:1] != after[:1] and _PREFIX.match(before) and _PREFIX.match(after) and before[2:] == after[2:]
        else None
    )


def _name(text: str) -> str:
    """The path of a `---` or `+++` line, behind which diff writes a tab and the time."""
    text = text.rstrip("\r")
    return _unquoted(text) if text.startswith('"') else text.split("\t", 1)[0].rstrip()


def _unquoted(text: str) -> str:
    """A path as git quotes it, spelled as in `types.names`."""
    from ferrule.types.names import spell

    if len(text) < 2 or not text.startswith('"') or '"' not in text[1:]:
        return text
    inner = text[1 : text.rindex('"')].encode("utf-8", "surrogateescape")
    return spell(_ESCAPE.sub(lambda match: _LETTERS.get(match[1]) or bytes([int(match[1], 8)]), inner))


def _git_path(text: str) -> str | None:
    """The path of a `diff --git` line, which has it twice; None for a rename, whose paths are told elsewhere."""
    if text.startswith('"'):
        names = [_unquoted(part) for part in _QUOTED.findall(text)]
    else:
        half = (len(text) - 1) // 2
        names = [text[:half], text[half + 1 :]]
    if len(names) != 2:
        return None
    return names[0] if names[0] == names[1] else _stripped(*names)
