import asyncio
import os
from collections.abc import Callable

import pytest

from ferrule.process.protocol import Command, Ended
from ferrule.process.supervisor import Supervisor
from ferrule.types.tools import Action

from .bench import Bench


def test_matches_are_grouped_by_file_with_a_line_around(bench: Bench) -> None:
    (bench.root / "b").mkdir()
    (bench.root / "a.py").write_text("1\nfoo\n3\n4\n5\n6\n7\n8\n9 foo\n10\n")
    (bench.root / "b" / "c.py").write_text("foo\r\n")
    assert bench.text("search_files", path=".", regex="fo+") == (
        "Found 3 matches in 2 files.\n\n# a.py\n 1 | 1\n 2 | foo\n 3 | 3\n----\n 8 | 8\n 9 | 9 foo\n10 | 10\n\n# b/c.py\n1 | foo"
    )
    assert bench.text("search_files", path="b", regex="foo") == "Found 1 match in 1 file.\n\n# b/c.py\n1 | foo"
    assert bench.text("search_files", path="b/c.py", regex="foo") == "Found 1 match in 1 file.\n\n# b/c.py\n1 | foo"


@pytest.mark.parametrize("regex", ["--files", "-e", "--help", "-", "--pre=touch hacked"])
def test_a_pattern_is_never_an_option(bench: Bench, regex: str) -> None:
    (bench.root / "-e").write_text(f"{regex}\n")
    assert bench.text("search_files", path=".", regex=regex) == f"Found 1 match in 1 file.\n\n# -e\n1 | {regex}"
    assert bench.text("search_files", path="./-e", regex="^nothing$", file_pattern="--pre=touch hacked").startswith("No matches")
    assert os.listdir(bench.root) == ["-e"]


@pytest.mark.parametrize("regex", ["fo(", "[a", "a{2,1}", "(?P<x>a"])
def test_an_invalid_regex_is_an_error_in_ripgreps_words(bench: Bench, regex: str) -> None:
    (bench.root / "a").write_text("foo\n")
    assert "error" in bench.refusal("search_files", path=".", regex=regex).removeprefix("The search failed. ripgrep says: rg: ")


def test_an_invalid_file_pattern_is_an_error(bench: Bench) -> None:
    assert "error parsing glob '{a'" in bench.refusal("search_files", path=".", regex="a", file_pattern="{a")


@pytest.mark.parametrize(
    ("pattern", "files"),
    [("*.py", ["a.py", "sub/b.py"]), ("sub/**", ["sub/b.py", "sub/c.md"]), ("!*.py", ["sub/c.md"]), ("*.{md,rs}", ["sub/c.md"])],
)
def test_a_file_pattern_chooses_the_files(bench: Bench, pattern: str, files: list[str]) -> None:
    (bench.root / "sub").mkdir()
    for name in ("a.py", "sub/b.py", "sub/c.md"):
        (bench.root / name).write_text("x\n")
    found = bench.text("search_files", path=".", regex="x", file_pattern=pattern)
    assert [line[2:] for line in found.split("\n") if line.startswith("# ")] == files


def test_look_around_and_patterns_over_lines_work(bench: Bench) -> None:
    (bench.root / "a").write_text("foobar\nfoobaz\nend\n")
    assert bench.text("search_files", path=".", regex="foo(?=baz)").endswith("1 | foobar\n2 | foobaz\n3 | end")
    assert bench.text("search_files", path=".", regex=r"foobaz\nend").endswith("1 | foobar\n2 | foobaz\n3 | end")


def test_no_match_is_no_error(bench: Bench) -> None:
    (bench.root / "a").write_text("foo\n")
    assert bench.text("search_files", path=".", regex="bar") == "No matches."
    assert bench.text("search_files", path=".", regex="bar", file_pattern="*.py") == "No matches in files like `*.py`."


def test_ignored_files_git_and_a_configuration_of_ripgrep_are_left_alone(bench: Bench) -> None:
    (bench.root / ".gitignore").write_text("*.log\n")
    (bench.root / ".git").mkdir()
    for name in ("a.log", ".git/x", ".hidden"):
        (bench.root / name).write_text("foo\n")
    (bench.root.parent / "rc").write_text("--no-ignore\n")
    bench.environment["RIPGREP_CONFIG_PATH"] = str(bench.root.parent / "rc")
    assert bench.text("search_files", path=".", regex="foo") == "Found 1 match in 1 file.\n\n# .hidden\n1 | foo"


def test_after_three_hundred_matches_the_search_is_cut_and_says_so(bench: Bench) -> None:
    (bench.root / "a").write_text("foo\n" * 300)
    assert bench.text("search_files", path=".", regex="foo").startswith("Found 300 matches in 1 file.")
    (bench.root / "b").write_text("foo\n" * 200_000)
    text = bench.text("search_files", path=".", regex="foo")
    assert text.startswith("Found more than 300 matches; the first 300 are shown; narrow the search.\n\n# a\n  1 | foo\n")
    assert text.count("| foo") == 300


class Watching(Supervisor):
    """Counts the runs that were stopped before their end."""

    stopped = 0

    async def run(self, command: Command, on_output: Callable[[bytes], None]) -> Ended:
        try:
            return await super().run(command, on_output)
        except asyncio.CancelledError:
            self.stopped += 1
            raise


def test_ripgrep_is_stopped_as_soon_as_there_is_enough(bench: Bench) -> None:
    (bench.root / "a").write_text("foo\n" * 3_000_000)
    watching = Watching()
    bench.processes = lambda: watching
    assert bench.text("search_files", path=".", regex="foo").startswith("Found more than 300 matches")
    assert watching.stopped == 1


def test_long_lines_are_cut_around_the_match(bench: Bench) -> None:
    (bench.root / "a").write_text("x" * 600 + "\n" + "é" * 3_000 + "foo" + "y" * 900 + "\nfoo\n")
    assert bench.text("search_files", path=".", regex="foo") == (
        f"Found 2 matches in 1 file.\n\n# a\n1 | {'x' * 500}…\n2 | …{'é' * 100}foo{'y' * 397}…\n3 | foo"
    )


def test_a_gigantic_line_is_only_named(bench: Bench) -> None:
    (bench.root / "a").write_text("x" * 6_000_000 + "foo\n")
    (bench.root / "b").write_text("foo\n")
    assert bench.text("search_files", path=".", regex="foo") == (
        "Found 2 matches in 2 files.\n\n# a\n? | (a line too long to be shown)\n\n# b\n1 | foo"
    )


def test_bytes_that_are_not_utf_8_are_shown_and_names_are_spelled(bench: Bench) -> None:
    with open(os.fsencode(bench.root) + b"/\xff", "wb") as file:
        file.write(b"foo \xe9\n")
    assert bench.text("search_files", path=".", regex="foo") == (
        "Found 1 match in 1 file.\n\n# \N{REPLACEMENT CHARACTER}FF\n1 | foo \\xe9"
    )


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        ({"path": "non", "regex": "a"}, "non does not exist. Did you mean none?"),
        ({"path": ".", "regex": ""}, "`regex` is empty."),
        ({"path": ".", "regex": "a\0"}, "A pattern must not contain a NUL character."),
        ({"path": "."}, "`regex` is missing; it must be a string."),
    ],
)
def test_what_cannot_be_searched_is_said(bench: Bench, arguments: dict[str, object], refusal: str) -> None:
    (bench.root / "none").touch()
    assert bench.refusal("search_files", **arguments) == refusal


def test_the_action_reads_the_folder(bench: Bench) -> None:
    assert bench.actions("search_files", path=".", regex="x") == (Action("read", (str(bench.root),)),)
