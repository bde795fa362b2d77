import pytest

from ferrule.workspace.checkers.base import EXECUTABLE, LARGEST, REGULAR, CheckFinding, Skipped
from ferrule.workspace.checkers.catalog import checkers
from ferrule.workspace.checkers.files.endings import endings
from ferrule.workspace.checkers.files.modes import modes
from ferrule.workspace.checkers.files.sizes import sizes

from .checking import changed, findings, report


@pytest.mark.parametrize(
    "old_mode, mode, content, rules",
    [
        (EXECUTABLE, REGULAR, "#!/bin/sh\n", ["script-not-executable"]),
        (EXECUTABLE, REGULAR, "text\n", []),
        (REGULAR, EXECUTABLE, "text\n", ["executable-not-script"]),
        (0, EXECUTABLE, "text\n", ["executable-not-script"]),
        (REGULAR, EXECUTABLE, "#!/bin/sh\n", []),
        (REGULAR, REGULAR, "#!/bin/sh\n", []),
        (0, REGULAR, "#!/bin/sh\n", []),
        (REGULAR, 0o120000, "target", []),
    ],
)
def test_executable_bits_fit_what_the_file_is(old_mode: int, mode: int, content: str, rules: list[str]) -> None:
    found = findings(changed("a", content, content, old_mode=old_mode, mode=mode), checker=modes())
    assert [(each.rule, each.line) for each in found] == [(rule, None) for rule in rules]


@pytest.mark.parametrize(
    "old, new, told",
    [
        ("a\nb\nc\n", "a\r\nb\r\nc\r\n", "from LF into CRLF"),
        ("a\r\nb\r\nc\r\n", "a\nb\nc\nd\n", "from CRLF into LF"),
        ("a\nb\nc\n", "a\nb\r\nc\n", None),
        ("a\n", "a\r\n", None),
        ("a\nb\nc\n", "x\ny\nz\n", None),
    ],
)
def test_a_file_whose_line_endings_all_turned_is_told_once(old: str, new: str, told: str | None) -> None:
    found = findings(changed("a.txt", new, old), checker=endings())
    assert [told in each.text for each in found if told] == ([True] if told else [])
    assert len(found) == (1 if told else 0)


@pytest.mark.parametrize(
    "path, content, fields, rules",
    [
        ("a.csv", None, {"size": LARGEST + 1}, ["large-file"]),
        ("a.csv", None, {"size": LARGEST}, []),
        ("a.bin", b"version https://git-lfs.github.com/spec/v1\n", {"size": 130}, []),
        ("a.so", b"\x7fELF\0\0", {}, ["built-binary"]),
        ("tool", b"\x7fELF\0\0", {}, ["built-binary"]),
        ("a.pyc", b"\xa7\r\r\n\0\0", {}, ["built-binary"]),
        ("logo.png", b"\x89PNG\0", {}, []),
        (".DS_Store", b"\0", {}, ["litter"]),
    ],
)
def test_large_and_built_files_are_told(path: str, content: bytes | None, fields: dict[str, int], rules: list[str]) -> None:
    file = changed(path, content or b"", **({"new": content} | fields))
    assert [each.rule for each in findings(file, checker=sizes())] == rules


def test_a_large_file_tells_its_size() -> None:
    assert findings(changed("a.csv", b"", new=None, size=3 * LARGEST), checker=sizes()) == (
        CheckFinding(
            "a.csv",
            None,
            None,
            "sizes",
            "large-file",
            "should-fix",
            "This file has 3.0 MB; everybody who clones the repository will load it for ever.",
        ),
    )


def test_what_cannot_be_judged_is_told_with_its_reason_and_judged_by_no_checker_of_content() -> None:
    files = (
        changed("huge.py", b"", new=None, size=9, skip="larger than 1048576 bytes"),
        changed("photo.py", b"import os\0\0\n"),
        changed("gone.py", b"", b"import os\n", new=None, mode=0),
        changed("lost.py", b"", new=None),
        changed("made.py", b"import os\n", skip="generated"),
    )
    said = report(*files, checkers=checkers())
    assert said.findings == ()
    assert said.coverage.skipped == (
        Skipped("gone.py", "deleted"),
        Skipped("huge.py", "larger than 1048576 bytes"),
        Skipped("lost.py", "its content was not fetched"),
        Skipped("made.py", "generated"),
        Skipped("photo.py", "binary"),
    )
    assert [(run.checker, run.files) for run in said.coverage.runs] == [("sizes", 4), ("modes", 4)]
