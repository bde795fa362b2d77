import os
from pathlib import Path

import pytest

from ferrule.types.tools import Action

from .bench import Bench


def make(bench: Bench, *names: str) -> None:
    for name in names:
        path = bench.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir() if name.endswith("/") else path.write_text("x\n")


def test_names_are_found_by_abbreviation_the_best_first(bench: Bench) -> None:
    make(bench, "src/user_handler.py", "src/users/shand.txt", "other.md")
    assert bench.text("find_files", query="usrhand") == "Found 2 matches.\nsrc/user_handler.py\nsrc/users/shand.txt"
    assert bench.text("find_files", query="handler src") == "Found 1 match.\nsrc/user_handler.py"
    assert bench.text("find_files", query="users") == "Found 2 matches.\nsrc/users/\nsrc/users/shand.txt"


def test_nothing_is_said_with_how_much_was_looked_among(bench: Bench) -> None:
    make(bench, "src/a.py")
    assert bench.text("find_files", query="zz") == "Nothing of 2 files and folders in ./ matches `zz`."
    assert bench.text("find_files", query="a", glob="*.md") == "Nothing of 2 files and folders in ./ matches `a` and glob `*.md`."


@pytest.mark.parametrize(
    ("glob", "found"),
    [
        ("*.py", ["a.py", "src/b.py", "src/deep/c.py"]),
        ("src/*.py", ["src/b.py"]),
        ("src/**/*.py", ["src/b.py", "src/deep/c.py"]),
        ("./src/**", ["src/", "src/b.py", "src/deep/", "src/deep/c.py", "src/[id].tsx"]),
        ("*.{md,tsx}", ["r.md", "src/[id].tsx"]),
        ("[id].tsx", ["src/[id].tsx"]),
        ("deep", ["src/deep/"]),
        (".*", [".hidden"]),
    ],
)
def test_globs_choose_by_name_or_by_path(bench: Bench, glob: str, found: list[str]) -> None:
    make(bench, "a.py", "src/b.py", "src/deep/c.py", "r.md", "src/[id].tsx", ".hidden")
    first, *lines = bench.text("find_files", glob=glob).split("\n")
    assert (first, sorted(lines)) == (f"Found {len(found)} match{'' if len(found) == 1 else 'es'}.", sorted(found))


def test_what_is_past_the_limit_is_counted_with_a_way_to_narrow(bench: Bench) -> None:
    make(bench, *(f"d/f{number:03}.py" for number in range(120)))
    first, *lines = bench.text("find_files", query="f").split("\n")
    assert first == "Found the best 50 of 120 matches; narrow `query`, `glob` or `path`, or raise `limit`."
    assert lines == [f"d/f{number:03}.py" for number in range(50)]
    assert bench.text("find_files", query="f", glob="f11*", limit=3).split("\n")[:2] == [
        "Found the best 3 of 10 matches; narrow `query`, `glob` or `path`, or raise `limit`.",
        "d/f110.py",
    ]


def test_ignored_files_are_left_out_before_the_limit(bench: Bench) -> None:
    make(bench, *(f"build/f{number}.py" for number in range(60)), "far/down/f.py", ".gitignore")
    (bench.root / ".gitignore").write_text("build/\n")
    assert bench.text("find_files", query="f.py", limit=1) == "Found 1 match.\nfar/down/f.py"


def test_a_folder_below_or_outside_is_looked_in_and_named(bench: Bench, tmp_path: Path) -> None:
    make(bench, "src/a.py", "a.py", "build/a.py", ".gitignore")
    (bench.root / ".gitignore").write_text("build/\n")
    assert bench.text("find_files", query="a", path="src") == "Found 1 match.\nsrc/a.py"
    assert bench.text("find_files", query="a", path="build") == "Found 1 match.\nbuild/a.py"
    outside = tmp_path.resolve() / "outside"
    outside.mkdir()
    (outside / "b.py").touch()
    assert bench.text("find_files", query="b", path=str(outside)) == f"Found 1 match.\n{outside}/b.py"


def test_names_that_are_not_utf_8_are_spelled(bench: Bench) -> None:
    os.close(os.open(os.fsencode(bench.root) + b"/bad\xff.py", os.O_CREAT))
    assert bench.text("find_files", query="bad") == "Found 1 match.\nbad\ufffdFF.py"


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        ({}, "Give `query` or `glob`; list_files lists a folder."),
        ({"query": "  "}, "Give `query` or `glob`; list_files lists a folder."),
        ({"query": "a", "limit": 0}, "`limit` must be from 1 to 1000, got 0."),
        ({"query": "a", "path": "/"}, "/ is too large a folder to look through; name one below it."),
        ({"query": "a", "path": "file"}, "file is a file; `path` must be a folder."),
        ({"query": "a", "path": "fil"}, "fil does not exist. Did you mean file?"),
        ({"glob": "{1..5000}"}, "`glob` cannot be used: Pattern limit exceeded the limit of 1000"),
    ],
)
def test_what_cannot_be_looked_for_is_said(bench: Bench, arguments: dict[str, object], refusal: str) -> None:
    (bench.root / "file").touch()
    assert bench.refusal("find_files", **arguments) == refusal


def test_the_action_reads_the_folder(bench: Bench) -> None:
    assert bench.actions("find_files", query="x", path="..") == (Action("read", (str(bench.root.parent),)),)
