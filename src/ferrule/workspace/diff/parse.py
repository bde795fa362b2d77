"""Reading what `git diff-tree -r -z --raw --patch --full-index` prints.

Paths, modes and blob ids come from the raw entries, where nothing is quoted. Patch sections follow in the same order; from them
come only hunks, whose line counts decide what is content: a line of a hunk may look like any header. LF alone ends a line.
"""

import re
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from ferrule.types.names import spell
from ferrule.workspace.encoding import readable

from .model import File, Hunk, Line, LineKind, Status

_STATUS: dict[str, Status] = {
    "A": "added",
    "D": "deleted",
    "M": "modified",
    "R": "renamed",
    "C": "copied",
    "T": "type_changed",
}
_KINDS: dict[bytes, LineKind] = {b" ": "context", b"": "context", b"+": "added", b"-": "deleted"}
"""git writes an empty context line without its blank where `diff.suppressBlankEmpty` is set."""
_RAW = re.compile(rb":(\d{6}) (\d{6}) ([0-9a-f]{40,64}) ([0-9a-f]{40,64}) ([A-Z])(\d*)\Z")
_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)\Z", re.DOTALL)
_INDEX = re.compile(rb"index ([0-9a-f]+)\.\.([0-9a-f]+)(?: \d+)?\Z")
_SECTION = b"diff --git "
_HEAD = (
    *(b"index ", b"old mode ", b"new mode ", b"new file mode ", b"deleted file mode "),
    *(b"similarity index ", b"dissimilarity index ", b"rename ", b"copy "),
    *(b"--- ", b"+++ ", b"Binary files "),
)
"""What lines between the first of a section and its first hunk begin with."""


class BadDiff(ValueError):
    """Not what git prints for two trees. Combined diffs of merges are among it."""


class Parsed(Struct, frozen=True):
    """Every changed file in git's order. Only the first `whole` have their hunks: the output ended behind them."""

    files: tuple[File, ...]
    whole: int


def parse(output: bytes, cut: bool = False) -> Parsed:
    """`cut` tells that the output was ended early. Raises BadDiff, also where a cut left the list of files incomplete."""
    files, at = _entries(output)
    sections = _Sections(output, at)
    done = list(_filled(files, sections, cut))
    if not cut and (len(done) < len(files) or sections.at < len(output)):
        raise BadDiff(f"{len(files)} files are listed, {len(done)} have a patch")
    return Parsed((*done, *files[len(done) :]), len(done))


def _filled(files: list[File], sections: "_Sections", cut: bool) -> Iterator[File]:
    """The files with their hunks. What stands at the end of a cut output is left out, as it may go on."""
    for file in files:
        try:
            yield sections.fill(file, cut)
        except _EndOfOutput:
            if cut:
                return
            raise BadDiff(f"the patch of {file.path} is incomplete") from None


def _entries(output: bytes) -> tuple[list[File], int]:
    """The raw entries as files without hunks, and where the patch begins."""
    files: list[File] = []
    at = 0
    while output[at : at + 1] == b":":
        head, at = _field(output, at)
        path, at = _field(output, at)
        match = _RAW.match(head)
        if match is None or match[5].decode() not in _STATUS:
            raise BadDiff(f"not an entry of two trees: {head.decode(errors='backslashreplace')}")
        old_path = path
        if match[5] in b"RC":
            path, at = _field(output, at)
        files.append(_file(match, spell(old_path), spell(path)))
    return files, at + 1 if output[at : at + 1] == b"\0" else at


def _field(output: bytes, at: int) -> tuple[bytes, int]:
    end = output.find(b"\0", at)
    if end < 0:
        raise BadDiff("the list of changed files is incomplete")
    return output[at:end], end + 1


def _file(match: re.Match[bytes], old_path: str, new_path: str) -> File:
    old_mode, new_mode = int(match[1], 8), int(match[2], 8)
    return File(
        _STATUS[match[5].decode()],
        old_path if old_mode else None,
        new_path if new_mode else None,
        old_mode,
        new_mode,
        match[3].decode() if old_mode else None,
        match[4].decode() if new_mode else None,
        similarity=int(match[6]) if match[5] in b"RC" and match[6] else None,
    )


class _EndOfOutput(Exception):
    pass


class _Sections:
    """The patch, read once from front to back; `at` is where the next line begins."""

    def __init__(self, output: bytes, at: int) -> None:
        self._output = output
        self.at = at

    def fill(self, file: File, cut: bool) -> File:
        """`file` with what its sections say: a change of type is told in two, a deletion and an addition."""
        hunks: list[_Lines] = []
        binary = False
        for _ in range(2 if file.status == "type_changed" else 1):
            binary = self._head(file) or binary
            while self._next(b"@@ "):
                hunks.append(self._hunk(len(hunks)))
        if cut and not self._next(_SECTION):
            raise _EndOfOutput
        if not hunks and not binary:
            return file
        return replace(file, hunks=_decoded(hunks), binary=binary)

    def _next(self, start: bytes) -> bool:
        return self._output.startswith(start, self.at)

    def _line(self) -> bytes:
        end = self._output.find(b"\n", self.at)
        if end < 0:
            raise _EndOfOutput
        line = self._output[self.at : end]
        self.at = end + 1
        return line

    def _head(self, file: File) -> bool:
        """Pass over the lines before the first hunk; whether git takes the content for binary."""
        first = self._line()
        if not first.startswith(_SECTION):
            raise BadDiff(f"no section of a patch: {first[:200].decode(errors='backslashreplace')}")
        binary = False
        while self.at < len(self._output) and not self._next(b"@@ ") and not self._next(_SECTION):
            line = self._line()
            if not line.startswith(_HEAD):
                raise BadDiff(f"not the head of a patch: {line[:200].decode(errors='backslashreplace')}")
            binary = binary or line.startswith(b"Binary files ")
            if (match := _INDEX.match(line)) and file.status != "type_changed":
                found = tuple(id.decode() if id.strip(b"0") else None for id in match.groups())
                if found != (file.old_blob, file.new_blob):
                    raise BadDiff(f"the patch of {file.path} is of other contents than its entry")
        return binary

    def _hunk(self, index: int) -> "_Lines":
        header = self._line()
        match = _HUNK.match(header)
        if match is None:
            raise BadDiff(f"not the head of a hunk: {header[:200].decode(errors='backslashreplace')}")
        old_start, new_start = int(match[1]), int(match[3])
        old_count, new_count = (1 if count is None else int(count) for count in (match[2], match[4]))
        lines = _Lines(index, old_start, old_count, new_start, new_count, match[5])
        old, new = old_start, new_start
        old_end, new_end = old_start + old_count, new_start + new_count
        while old < old_end or new < new_end:
            line = self._line()
            if line.startswith(b"\\"):
                lines.unended.add(len(lines.kinds) - 1)
                continue
            kind = _KINDS.get(line[:1])
            if kind is None:
                raise BadDiff(f"no line of a hunk: {line[:200].decode(errors='backslashreplace')}")
            lines.kinds.append(kind)
            lines.texts.append(line[1:])
            old += kind != "added"
            new += kind != "deleted"
        if (old, new) != (old_end, new_end):
            raise BadDiff(f"a hunk has other lines than its head says: {header[:200].decode(errors='backslashreplace')}")
        if self._next(b"\\"):
            self._line()
            lines.unended.add(len(lines.kinds) - 1)
        return lines


class _Lines:
    """A hunk before its bytes are decoded. `unended` holds the positions of lines without a line feed."""

    def __init__(self, index: int, old_start: int, old_count: int, new_start: int, new_count: int, section: bytes) -> None:
        self.place = (index, old_start, old_count, new_start, new_count)
        self.section = section
        self.kinds: list[LineKind] = []
        self.texts: list[bytes] = []
        self.unended: set[int] = set()

    def numbered(self, texts: Iterator[str]) -> Iterator[Line]:
        _, old, _, new, _ = self.place
        for position, (kind, text) in enumerate(zip(self.kinds, texts, strict=False)):
            match kind:
                case "added":
                    yield Line(kind, None, new, text, position not in self.unended)
                case "deleted":
                    yield Line(kind, old, None, text, position not in self.unended)
                case "context":
                    yield Line(kind, old, new, text, position not in self.unended)
            old += kind != "added"
            new += kind != "deleted"


def _decoded(hunks: list[_Lines]) -> tuple[Hunk, ...]:
    """All lines of a file are decoded together, as one text, so that they are read in one encoding."""
    text, _ = readable(b"\n".join(text for hunk in hunks for text in hunk.texts))
    texts = iter(text.split("\n"))
    return tuple(Hunk(*hunk.place, readable(hunk.section)[0], tuple(hunk.numbered(texts))) for hunk in hunks)
