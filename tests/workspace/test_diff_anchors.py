import asyncio
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferrule.process.supervisor import Supervisor
from ferrule.types.names import spell
from ferrule.workspace.diff.anchors import Anchor, Problem, anchored, changed_lines, check, fingerprint, snippet
from ferrule.workspace.diff.model import Diff, File, Side
from ferrule.workspace.git.changes import changed_files
from ferrule.workspace.git.repository import Git

from .repository import Content, Repository, Special, Tree, differences, environment, executable, repository

TEXT = b"".join(b"line %d\n" % number for number in range(1, 61))
NEW = TEXT.replace(b"line 10\n", b"line ten\nand more\n").replace(b"line 30\n", b"").replace(b"line 50\n", b"line fifty\n")


@pytest.fixture(scope="module")
def diff(tmp_path_factory: pytest.TempPathFactory) -> Diff:
    repo = repository(tmp_path_factory.mktemp("anchors"))
    old: Tree = {
        b"src/a.py": TEXT,
        b"old/name.py": TEXT * 2,
        b"gone.py": b"1\n2\n",
        b"pic.png": b"\0",
        b"run.sh": b"x\n",
        b"moved": TEXT * 3,
    }
    new: Tree = {
        b"src/a.py": NEW,
        b"new/name.py": TEXT * 2 + b"last\n",
        b"fresh.py": b"a\nb\nc\n",
        b"pic.png": b"\0\1",
        b"run.sh": executable(b"x\n"),
        b"empty": b"",
        b"moved away": TEXT * 3,
    }
    return Diff(differences(repo, old, new))


@pytest.mark.parametrize(
    ("path", "line", "start", "side", "anchor"),
    [
        ("src/a.py", 10, None, "RIGHT", Anchor("src/a.py", 10, None, "RIGHT", 0)),
        ("src/a.py", 7, None, "RIGHT", Anchor("src/a.py", 7, None, "RIGHT", 0)),
        ("src/a.py", 14, 7, "RIGHT", Anchor("src/a.py", 14, 7, "RIGHT", 0)),
        ("src/a.py", 10, 10, "RIGHT", Anchor("src/a.py", 10, None, "RIGHT", 0)),
        ("src/a.py", 30, None, "LEFT", Anchor("src/a.py", 30, None, "LEFT", 1)),
        ("src/a.py", 53, 47, "RIGHT", Anchor("src/a.py", 53, 47, "RIGHT", 2)),
        ("gone.py", 2, 1, "LEFT", Anchor("gone.py", 2, 1, "LEFT", 0)),
        ("new/name.py", 121, None, "RIGHT", Anchor("new/name.py", 121, None, "RIGHT", 0)),
        ("pic.png", None, None, "RIGHT", Anchor("pic.png", None, None, "RIGHT", None)),
    ],
)
def test_places_in_the_diff_are_anchors(
    diff: Diff, path: str, line: int | None, start: int | None, side: Side, anchor: Anchor
) -> None:
    assert check(diff, path, line, start, side) == anchor


def at(path: str, line: int | None, start: int | None = None, side: Side = "RIGHT", hunk: int | None = 0) -> Anchor:
    return Anchor(path, line, start, side, hunk)


@pytest.mark.parametrize(
    ("path", "line", "start", "side", "problem"),
    [
        pytest.param(
            "src/a.py", 20, None, "RIGHT",
            Problem(
                "line",
                "line 20 of src/a.py is not in the diff on the RIGHT side, which has 7-14, 28-33, 47-53. "
                "Nearest: src/a.py line 14 RIGHT; src/a.py line 28 RIGHT.",
                (at("src/a.py", 14), at("src/a.py", 28, hunk=1)),
            ),
            id="between hunks",
        ),
        pytest.param(
            "src/a.py", 30, 12, "RIGHT",
            Problem(
                "hunks",
                "lines 12-30 of src/a.py reach over several hunks on the RIGHT side; a finding stays in one. "
                "Nearest: src/a.py lines 28-30 RIGHT; src/a.py lines 12-14 RIGHT; src/a.py line 30 RIGHT.",
                (at("src/a.py", 30, 28, hunk=1), at("src/a.py", 14, 12), at("src/a.py", 30, hunk=1)),
            ),
            id="two hunks",
        ),
        pytest.param(
            "src/a.py", 8, 12, "RIGHT",
            Problem(
                "order",
                "start_line 12 stands behind line 8. Nearest: src/a.py lines 8-12 RIGHT; src/a.py line 12 RIGHT.",
                (at("src/a.py", 12, 8), at("src/a.py", 12)),
            ),
            id="reversed",
        ),
        pytest.param(
            "src/a.py", None, 12, "RIGHT",
            Problem("order", "start_line 12 has no line. Nearest: src/a.py line 12 RIGHT.", (at("src/a.py", 12),)),
            id="start alone",
        ),
        pytest.param(
            "src/a.py", 27, None, "RIGHT",
            Problem(
                "line",
                "line 27 of src/a.py is not in the diff on the RIGHT side, which has 7-14, 28-33, 47-53. "
                "Nearest: src/a.py line 27 LEFT; src/a.py line 28 RIGHT; src/a.py line 14 RIGHT.",
                (at("src/a.py", 27, side="LEFT", hunk=1), at("src/a.py", 28, hunk=1), at("src/a.py", 14)),
            ),
            id="only on the other side",
        ),
        pytest.param(
            "gone.py", 1, None, "RIGHT",
            Problem(
                "side",
                "gone.py has no lines on the RIGHT side (deleted); its lines are on the LEFT side. Nearest: gone.py line 1 LEFT.",
                (at("gone.py", 1, side="LEFT"),),
            ),
            id="side of a deleted file",
        ),
        pytest.param(
            "fresh.py", 1, 3, "LEFT",
            Problem(
                "order",
                "start_line 3 stands behind line 1. Nearest: fresh.py lines 1-3 RIGHT; fresh.py line 3 RIGHT.",
                (at("fresh.py", 3, 1), at("fresh.py", 3)),
            ),
            id="reversed on a side without lines",
        ),
        pytest.param(
            "old/name.py", 121, None, "RIGHT",
            Problem(
                "path",
                "old/name.py is called new/name.py now; both sides go by that name. Nearest: new/name.py line 121 RIGHT.",
                (at("new/name.py", 121),),
            ),
            id="renamed",
        ),
        pytest.param(
            "b/src/a.py", 10, None, "RIGHT",
            Problem("path", "b/src/a.py is not in the diff. Nearest: src/a.py line 10 RIGHT.", (at("src/a.py", 10),)),
            id="prefix of a patch",
        ),
        pytest.param(
            "./a.py", 100, 90, "RIGHT",
            Problem("path", "./a.py is not in the diff. Nearest: src/a.py line 53 RIGHT.", (at("src/a.py", 53, hunk=2),)),
            id="name without its folder",
        ),
        pytest.param(
            "src/aa.py", 10, None, "RIGHT",
            Problem("path", "src/aa.py is not in the diff. Nearest: src/a.py line 10 RIGHT.", (at("src/a.py", 10),)),
            id="misspelled",
        ),
    ],
)  # fmt: skip
def test_places_outside_are_refused_with_the_nearest_inside(
    diff: Diff, path: str, line: int | None, start: int | None, side: Side, problem: Problem
) -> None:
    found = check(diff, path, line, start, side)
    assert found == problem


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("pic.png", "git takes it for binary"),
        ("run.sh", "only its mode changed"),
        ("empty", "it is empty"),
        ("moved away", "it was only renamed"),
    ],
)
def test_a_file_without_lines_can_be_remarked_on_as_a_whole(diff: Diff, path: str, why: str) -> None:
    text = f"{path} has no lines in the diff: {why}. Nearest: {path} as a whole (without a line)."
    assert check(diff, path, 1, None, "RIGHT") == Problem("no_lines", text, (at(path, None, hunk=None),))


def test_an_empty_diff_has_no_hint() -> None:
    assert check(Diff(()), "a", 1) == Problem("path", "a is not in the diff, which has no files.", ())


def test_a_snippet_shows_both_sides_around_the_anchor(diff: Diff) -> None:
    anchor = check(diff, "src/a.py", 11, 10, "RIGHT")
    assert isinstance(anchor, Anchor)
    assert [line.text for line in anchored(diff, anchor)] == ["line ten", "and more"]
    assert [line.text for line in snippet(diff, anchor, 2)] == ["line 9", "line 10", "line ten", "and more", "line 11", "line 12"]
    assert [line.text for line in snippet(diff, anchor, 0)] == ["line ten", "and more"]
    whole = check(diff, "pic.png", None)
    assert isinstance(whole, Anchor)
    assert (anchored(diff, whole), snippet(diff, whole)) == ((), ())


def test_a_snippet_of_deleted_lines(diff: Diff) -> None:
    anchor = check(diff, "src/a.py", 30, None, "LEFT")
    assert isinstance(anchor, Anchor)
    assert [(line.old, line.new) for line in snippet(diff, anchor, 1)] == [(29, 30), (30, None), (31, 31)]


def print_of(repo: Repository, code: bytes, line: int, text: str = "unused name", ordinal: int = 0, path: bytes = b"a.py") -> str:
    diff = Diff(differences(repo, {}, {path: code}))
    anchor = check(diff, path.decode(), line)
    assert isinstance(anchor, Anchor)
    return fingerprint(diff, anchor, text, ordinal)


def test_fingerprints_survive_moved_lines_and_other_blanks_only(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    first = print_of(repo, b"x = 1\ny  =  2\n", 2)
    assert re.fullmatch("[0-9a-f]{32}", first)
    same = [print_of(repo, b"\n\n    y = 2  \r\n", 3), print_of(repo, b"y =\t2\n", 1, " unused\n name")]
    others = [
        print_of(repo, b"y = 3\n", 1),
        print_of(repo, b"y = 2\n", 1, "unused names"),
        print_of(repo, b"y = 2\n", 1, ordinal=1),
        print_of(repo, b"y = 2\n", 1, path=b"b.py"),
    ]
    assert same == [first, first]
    assert len({first, *others}) == 5


PATHS = st.sampled_from([b"a.py", b"b.py", b"src/a.py", b"with space", b"new\nline", b"\xff", "ü".encode()])
LINES = st.sampled_from(
    [b"x", b"y", b"", b"--- a/a.py", b"+++ b/a.py", b"@@ -1 +1 @@", b"diff --git a/a b/a", b"\r", b"form\ffeed",
     b"\\ No newline at end of file", b"caf\xc3\xa9"]
)  # fmt: skip
TEXTS = st.builds(lambda lines, end: b"\n".join(lines) + end, st.lists(LINES, max_size=30), st.sampled_from([b"", b"\n"]))
CONTENTS: st.SearchStrategy[Content] = st.one_of(
    TEXTS,
    TEXTS,
    st.just(b"\0"),
    st.builds(executable, TEXTS),
    st.just(Special("120000", b"target")),
    st.just(Special("160000", b"1" * 40)),
)
TREES = st.dictionaries(PATHS, CONTENTS, max_size=4)
EDITS = st.lists(st.tuples(st.integers(0, 30), LINES | st.none()), max_size=4)


def edited(tree: Tree, edits: list[tuple[int, bytes | None]], moved: bool) -> dict[bytes, Content]:
    """Lines inserted, or deleted where there is none to insert, in every ordinary file; perhaps under another name."""
    new: dict[bytes, Content] = {}
    for path, content in tree.items():
        if isinstance(content, bytes):
            rows = content.split(b"\n")
            for position, row in edits:
                rows[position : position + (row is None)] = [] if row is None else [row]
            content = b"\n".join(rows)
        new[b"moved/" + path if moved else path] = content
    return new


class Differ:
    """Diffs of many trees in one repository, with one supervisor."""

    def __init__(self, root: Path) -> None:
        self.repo = repository(root)
        self.runner = asyncio.Runner()
        self.supervisor = Supervisor()
        self.git = Git(self.supervisor, root, environment())

    def files(self, old: Tree, new: Tree) -> tuple[tuple[File, ...], list[str]]:
        trees = [f"{commit}^{{tree}}" for commit in self.repo.imported(old, new)]
        return self.runner.run(changed_files(self.git, *trees)), trees

    def close(self) -> None:
        self.git.close()
        self.runner.run(self.supervisor.close())
        self.runner.close()


@pytest.fixture(scope="module")
def differ(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Differ]:
    made = Differ(tmp_path_factory.mktemp("differ"))
    yield made
    made.close()


def hunks_by_git(differ: Differ, trees: list[str]) -> dict[str, list[tuple[range, range]]]:
    """For each path the line numbers of each hunk, as git tells them: in a patch only a head of a hunk begins with `@@`."""
    patch = subprocess.run(["git", "diff-tree", "-r", "-M", "-p", *trees], cwd=differ.repo.root, capture_output=True, check=True)
    fields = iter(differ.repo.git("diff-tree", "-r", "-M", "--name-status", "-z", *trees).split("\0")[:-1])
    names: list[str] = []
    for status in fields:
        name = next(fields)
        names += [next(fields) if status[0] == "R" else name] * (2 if status == "T" else 1)
    found: dict[str, list[tuple[range, range]]] = {}
    for name, section in zip(names, re.split(rb"(?m)^diff --git ", patch.stdout)[1:], strict=True):
        for match in re.finditer(rb"(?m)^@@ -(\d+),?(\d*) \+(\d+),?(\d*) @@", section):
            old, old_count, new, new_count = (int(digits) if digits else 1 for digits in match.groups())
            found.setdefault(spell(name), []).append((range(old, old + old_count), range(new, new + new_count)))
    return found


@settings(max_examples=60)
@given(
    old=TREES,
    others=TREES,
    edits=EDITS,
    moved=st.booleans(),
    path=PATHS | st.sampled_from([b"moved/a.py", b"nowhere", b"./a.py", b"b/a.py"]),
    line=st.none() | st.integers(-2, 35),
    start=st.none() | st.integers(-2, 35),
    side=st.sampled_from(["LEFT", "RIGHT"]),
)
def test_every_place_is_accepted_inside_one_hunk_or_refused_with_hints_that_are(
    differ: Differ, old: Tree, others: Tree, edits: list[tuple[int, bytes | None]], moved: bool,
    path: bytes, line: int | None, start: int | None, side: Side,
) -> None:  # fmt: skip
    files, trees = differ.files(old, {**others, **edited(old, edits, moved)})
    diff, hunks = Diff(files), hunks_by_git(differ, trees)
    for name in {spell(path), *diff.by_path}:
        found = check(diff, name, line, start, side)
        anchors = (found,) if isinstance(found, Anchor) else found.hints
        assert anchors or not files
        for anchor in anchors:
            assert check(diff, anchor.path, anchor.line, anchor.start_line, anchor.side) == anchor
            assert anchor.path in diff.by_path
            if anchor.line is not None:
                first = anchor.line if anchor.start_line is None else anchor.start_line
                assert anchor.start_line is None or anchor.start_line < anchor.line
                spans = [pair[anchor.side == "RIGHT"] for pair in hunks[anchor.path]]
                assert [first in span and anchor.line in span for span in spans].count(True) == 1
                assert len(anchored(diff, anchor)) == anchor.line - first + 1
        if isinstance(found, Anchor):
            assert (found.path, found.line, found.side) == (name, line, side)
            assert start in (found.start_line, line)


def texts(content: Content | None) -> list[str]:
    """The lines of an ordinary file or link, a last one without a line feed marked."""
    data = content.content if isinstance(content, Special) else content or b""
    *whole, last = data.decode().split("\n")
    return [*whole, f"{last}<end>"] if last else whole


@settings(max_examples=60)
@given(old=TREES, edits=EDITS, others=TREES, moved=st.booleans())
def test_hunks_turn_the_old_lines_into_the_new_ones(
    differ: Differ, old: Tree, edits: list[tuple[int, bytes | None]], others: Tree, moved: bool
) -> None:
    new = {**others, **edited(old, edits, moved)}
    before, after = ({spell(path): content for path, content in tree.items()} for tree in (old, new))
    files, _ = differ.files(old, new)
    for file in files:
        if file.binary or file.submodule:
            continue
        was, now = texts(before.get(file.old_path or "")), texts(after.get(file.new_path or ""))
        assert rebuilt(file, was) == now
        assert {number: now[number - 1] for number in changed_lines(file)} == {
            line.new: line.text + ("" if line.newline else "<end>")
            for hunk in file.hunks
            for line in hunk.lines
            if line.kind == "added"
        }
    told = {path for file in files for path in (file.old_path, file.new_path) if path}
    assert {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)} <= told


def rebuilt(file: File, old: list[str]) -> list[str]:
    """`old` with the hunks applied; every line must stand where it says."""
    new: list[str] = []
    position = 0
    for hunk in file.hunks:
        begin = max(position, hunk.old_start - (hunk.old_count > 0))
        new += old[position:begin]
        position = begin
        for line in hunk.lines:
            text = line.text + ("" if line.newline else "<end>")
            if line.old is not None:
                assert (line.old, old[position]) == (position + 1, text)
                position += 1
            if line.new is not None:
                new.append(text)
                assert line.new == len(new)
    return [*new, *old[position:]]
