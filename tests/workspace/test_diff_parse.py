from pathlib import Path

import pytest

from ferrule.workspace.diff.anchors import changed_lines
from ferrule.workspace.diff.model import File, Hunk, Line
from ferrule.workspace.diff.parse import BadDiff, Parsed, parse

from .repository import Content, Repository, Tree, differences, executable, link, repository, submodule

TEN = b"".join(b"line %d\n" % number for number in range(1, 11))
ONE, OTHER = "1" * 40, "2" * 40


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    return repository(tmp_path / "repo")


def told(file: File) -> tuple[str, str | None, str | None, str, str]:
    return file.status, file.old_path, file.new_path, f"{file.old_mode:06o}", f"{file.new_mode:06o}"


def lines(file: File) -> list[str]:
    """As a patch shows them, with numbers and a mark at a last line that no line feed ends."""
    marks = {"context": " ", "added": "+", "deleted": "-"}
    return [
        f"{line.old or ''}:{line.new or ''}:{marks[line.kind]}{line.text}{'' if line.newline else ' <end>'}"
        for hunk in file.hunks
        for line in hunk.lines
    ]


@pytest.mark.parametrize(
    ("old", "new", "status", "shown"),
    [
        pytest.param({}, {b"a": b"x\n"}, ("added", None, "a", "000000", "100644"), [":1:+x"], id="added"),
        pytest.param({b"a": b"x\n"}, {}, ("deleted", "a", None, "100644", "000000"), ["1::-x"], id="deleted"),
        pytest.param({}, {b"a": b""}, ("added", None, "a", "000000", "100644"), [], id="empty file added"),
        pytest.param({b"a": b""}, {}, ("deleted", "a", None, "100644", "000000"), [], id="empty file deleted"),
        pytest.param({b"a": b"x\n"}, {b"a": b""}, ("modified", "a", "a", "100644", "100644"), ["1::-x"], id="emptied"),
        pytest.param({b"a": TEN}, {b"b": TEN}, ("renamed", "a", "b", "100644", "100644"), [], id="renamed"),
        pytest.param(
            {b"a": TEN},
            {b"b/c": TEN + b"more\n"},
            ("renamed", "a", "b/c", "100644", "100644"),
            ["8:8: line 8", "9:9: line 9", "10:10: line 10", ":11:+more"],
            id="renamed and changed",
        ),
        pytest.param(
            {b"a": b"x\n"}, {b"a": executable(b"x\n")}, ("modified", "a", "a", "100644", "100755"), [], id="executable bit"
        ),
        pytest.param(
            {b"a": executable(TEN)},
            {b"b": b"0\n" + TEN},
            ("renamed", "a", "b", "100755", "100644"),
            [":1:+0", "1:2: line 1", "2:3: line 2", "3:4: line 3"],
            id="renamed, changed and no longer executable",
        ),
        pytest.param({}, {b"a": link(b"to/x")}, ("added", None, "a", "000000", "120000"), [":1:+to/x <end>"], id="link added"),
        pytest.param(
            {b"a": b"x\n"},
            {b"a": link(b"x")},
            ("type_changed", "a", "a", "100644", "120000"),
            ["1::-x", ":1:+x <end>"],
            id="file to link",
        ),
        pytest.param(
            {b"a": submodule(ONE)},
            {b"a": b"x\n"},
            ("type_changed", "a", "a", "160000", "100644"),
            [f"1::-Subproject commit {ONE}", ":1:+x"],
            id="submodule to file",
        ),
        pytest.param(
            {b"a": submodule(ONE)},
            {b"a": submodule(OTHER)},
            ("modified", "a", "a", "160000", "160000"),
            [f"1::-Subproject commit {ONE}", f":1:+Subproject commit {OTHER}"],
            id="submodule moved",
        ),
        pytest.param(
            {b"a": b"x"},
            {b"a": b"x\n"},
            ("modified", "a", "a", "100644", "100644"),
            ["1::-x <end>", ":1:+x"],
            id="newline gained",
        ),
        pytest.param(
            {b"a": b"x\n"}, {b"a": b"x"}, ("modified", "a", "a", "100644", "100644"), ["1::-x", ":1:+x <end>"], id="newline lost"
        ),
        pytest.param(
            {b"a": b"a\nx"},
            {b"a": b"b\nx"},
            ("modified", "a", "a", "100644", "100644"),
            ["1::-a", ":1:+b", "2:2: x <end>"],
            id="newline on neither side",
        ),
        pytest.param({}, {b"a": b"x"}, ("added", None, "a", "000000", "100644"), [":1:+x <end>"], id="added without newline"),
    ],
)
def test_status_paths_modes_and_lines(repo: Repository, old: Tree, new: Tree, status: tuple[str, ...], shown: list[str]) -> None:
    (file,) = differences(repo, old, new)
    assert (told(file), lines(file)) == (status, shown)


def test_two_kinds_of_one_path_are_two_hunks_of_one_file(repo: Repository) -> None:
    (file,) = differences(repo, {b"a": b"1\n2\n"}, {b"a": link(b"x")})
    assert [(hunk.index, hunk.span("LEFT"), hunk.span("RIGHT")) for hunk in file.hunks] == [
        (0, range(1, 3), range(0)),
        (1, range(0), range(1, 2)),
    ]


def test_hunks_are_numbered_and_carry_their_section(repo: Repository) -> None:
    body = b"".join(b"    step %d\n" % number for number in range(30))
    old = b"def first():\n" + body + b"def second():\n" + body
    new = old.replace(b"step 5\n", b"step five\n").replace(b"step 20\n", b"step twenty\nagain\n", 1)
    (file,) = differences(repo, {b"a.py": old}, {b"a.py": new})
    assert [(h.index, h.old_start, h.old_count, h.new_start, h.new_count, h.section) for h in file.hunks] == [
        (0, 4, 7, 4, 7, "def first():"),
        (1, 19, 7, 19, 8, "def first():"),
        (2, 35, 7, 36, 7, "def second():"),
    ]
    assert changed_lines(file) == {7, 22, 23, 39}


@pytest.mark.parametrize(
    "text",
    ["--- a/x", "+++ b/x", "-- a/x", "++ b/x", "@@ -1 +1 @@", "diff --git a/x b/x", "index 1..2", "\\ No newline at end of file",
     "Binary files a and b differ", "", " ", "+", "-", "\\"],
)  # fmt: skip
def test_lines_that_look_like_headers_are_content(repo: Repository, text: str) -> None:
    line = text.encode() + b"\n"
    files = differences(repo, {b"a": line + b"x\n", b"b": b"x\n"}, {b"a": b"x\n" + line, b"b": b"x\n" + line})
    added = [[line.text for hunk in file.hunks for line in hunk.lines if line.kind != "context"] for file in files]
    assert [set(texts) - {"x"} for texts in added] == [{text}, {text}] or text == "x"
    assert [file.path for file in files] == ["a", "b"]


@pytest.mark.parametrize(
    "text",
    ["carriage\rreturn", "crlf\r", "form\ffeed", "vertical\vtab", "unit\x1fseparators\x1c\x1d\x1e", "next\x85line",
     "\u2028\u2029", "\ufeffmark"],
)  # fmt: skip
def test_only_a_line_feed_ends_a_line(repo: Repository, text: str) -> None:
    (file,) = differences(repo, {b"a": b"x\n"}, {b"a": b"x\n" + text.encode() + b"\ny\n"})
    assert lines(file) == ["1:1: x", f":2:+{text}", ":3:+y"]


def test_flipped_line_endings_are_seen(repo: Repository) -> None:
    (file,) = differences(repo, {b"a": b"x\ny\n"}, {b"a": b"x\r\ny\r\n"})
    assert lines(file) == ["1::-x", "2::-y", ":1:+x\r", ":2:+y\r"]


@pytest.mark.parametrize(
    ("path", "spelled"),
    [
        (b"with space", "with space"),
        (b" ends with blanks ", " ends with blanks "),
        (b"tab\there", "tab\there"),
        (b"new\nline", "new\nline"),
        (b'quo"te', 'quo"te'),
        (b"back\\slash", "back\\slash"),
        ("grüße/日本".encode(), "grüße/日本"),
        (b"latin-\xe9", "latin-\N{REPLACEMENT CHARACTER}E9"),
        (b"-option", "-option"),
        (b":(glob)x", ":(glob)x"),
        (b"a b/x b/x", "a b/x b/x"),
        (b"x => y", "x => y"),
        (b"bell\x07", "bell\x07"),
    ],
)
def test_paths_are_exact(repo: Repository, path: bytes, spelled: str) -> None:
    (changed,) = differences(repo, {path: TEN}, {path: TEN + b"more\n"})
    (renamed,) = differences(repo, {path: TEN}, {b"moved": TEN})
    (added,) = differences(repo, {}, {path: b"x\n"})
    assert (changed.old_path, changed.new_path, len(changed.hunks)) == (spelled, spelled, 1)
    assert (renamed.status, renamed.old_path, renamed.new_path, renamed.similarity) == ("renamed", spelled, "moved", 100)
    assert (added.path, len(added.hunks)) == (spelled, 1)


@pytest.mark.parametrize(
    ("content", "binary"),
    [(b"a\0b\n", True), (b"\x89PNG\r\n\x1a\n\0", True), ("ü\n".encode("utf-16"), True), (b"\xff\xfe\n", False)],
)
def test_binary_is_what_git_takes_for_it(repo: Repository, content: bytes, binary: bool) -> None:
    (file,) = differences(repo, {b"a": b"x\n"}, {b"a": content})
    assert (file.binary, bool(file.hunks), file.status) == (binary, not binary, "modified")


def test_a_nul_behind_what_git_looks_at_is_shown(repo: Repository) -> None:
    start = b"x\n" * 5000
    (file,) = differences(repo, {b"a": start}, {b"a": start + b"a\0b\n"})
    assert lines(file)[-1] == ":5001:+a\\x00b"


def test_a_file_is_read_in_one_encoding(repo: Repository) -> None:
    old = {b"latin": b"caf\xe9\n", b"stray": "é ü ö\n".encode() + b"\xe9\n", b"utf": "é\n".encode()}
    new = {name: data + b"x\n" for name, data in old.items()}
    found = {file.path: [line.text for line in file.hunks[0].lines] for file in differences(repo, old, new)}
    assert found == {"latin": ["café", "x"], "stray": ["é ü ö", "\\xe9", "x"], "utf": ["é", "x"]}


def test_a_huge_line_is_one_line(repo: Repository) -> None:
    (file,) = differences(repo, {b"a": b"x\n"}, {b"a": b"y" * 3_000_000 + b"\n"})
    assert [(line.kind, len(line.text)) for line in file.hunks[0].lines] == [("deleted", 1), ("added", 3_000_000)]


def test_flags_of_files(repo: Repository) -> None:
    old: dict[bytes, Content] = {b"mode": b"x\n", b"sub": submodule(ONE), b"text": b"x\n"}
    new: dict[bytes, Content] = {b"mode": executable(b"x\n"), b"sub": submodule(OTHER), b"text": b"y\n", b"link": link(b"x")}
    files = differences(repo, old, new)
    assert [(file.path, file.mode_changed, file.submodule, file.symlink) for file in files] == [
        ("link", False, False, True),
        ("mode", True, False, False),
        ("sub", False, True, False),
        ("text", False, False, False),
    ]
    assert [(file.blob("LEFT") is None, file.blob("RIGHT") is None) for file in files] == [
        (True, False),
        (False, False),
        (True, True),
        (False, False),
    ]


ENTRY = b":100644 100644 %b %b M\0a\0" % (b"1" * 40, b"2" * 40)
SECTION = b"diff --git a/a b/a\nindex %b..%b 100644\n--- a/a\n+++ b/a\n@@ -1 +1,2 @@\n x\n+y\n" % (b"1" * 40, b"2" * 40)
HUNKS = (Hunk(0, 1, 1, 1, 2, "", (Line("context", 1, 1, "x"), Line("added", None, 2, "y"))),)
FILE = File("modified", "a", "a", 0o100644, 0o100644, "1" * 40, "2" * 40)


def test_the_whole_value_of_a_small_diff() -> None:
    assert parse(ENTRY + b"\0" + SECTION) == Parsed((File(*told_values(FILE), HUNKS),), 1)
    assert parse(b"") == Parsed((), 0)


def told_values(file: File) -> tuple[object, ...]:
    return (file.status, file.old_path, file.new_path, file.old_mode, file.new_mode, file.old_blob, file.new_blob)


@pytest.mark.parametrize("length", range(len(ENTRY) + 1, len(ENTRY + SECTION) + 2))
def test_what_a_cut_may_have_shortened_is_left_out(length: int) -> None:
    assert parse((ENTRY + b"\0" + SECTION)[:length], cut=True) == Parsed((FILE,), 0)


def test_what_stands_whole_before_a_cut_is_kept() -> None:
    later = ENTRY.replace(b"a\0", b"b\0"), SECTION.replace(b"a/a b/a", b"a/b b/b")
    whole = ENTRY + later[0] + b"\0" + SECTION + later[1]
    begin = len(whole) - len(later[1])
    assert [parse(whole[: begin + size], cut=True).whole for size in (5, 11, 30, len(later[1]))] == [0, 1, 1, 1]


@pytest.mark.parametrize(
    "output",
    [
        b"::100644 100644 100644 %b %b %b MM\0a\0" % ((b"1" * 40,) * 3),
        ENTRY,
        ENTRY[:-3],
        ENTRY + b"\0" + SECTION[:-2],
        ENTRY + b"\0" + SECTION.replace(b"+y\n", b"=y\n"),
        ENTRY + b"\0" + SECTION.replace(b"+1,2", b"+1,3"),
        ENTRY + b"\0" + SECTION.replace(b"-1 +1,2", b"-1,2 +1,2").replace(b" x\n+y\n", b" x\n x\n x\n"),
        ENTRY + b"\0" + SECTION.replace(b"@@ -1 +1,2 @@", b"@@@ -1 -1 +1,2 @@@"),
        ENTRY + b"\0" + SECTION.replace(b"diff --git a/a b/a", b"diff --cc a"),
        ENTRY + b"\0" + SECTION.replace(b"1" * 40, b"3" * 40),
        ENTRY + b"\0" + SECTION + SECTION,
        b"\0" + SECTION,
    ],
)
def test_what_is_not_a_diff_of_two_trees_is_refused(output: bytes) -> None:
    with pytest.raises(BadDiff):
        parse(output)
