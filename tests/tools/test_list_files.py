import os
from pathlib import Path

import pytest

from ferrule.types.tools import Action

from .bench import Bench


def test_a_folder_is_listed_in_natural_order_with_folders_marked(bench: Bench) -> None:
    for name in ("x10", "x2", "A", ".hidden"):
        (bench.root / name).touch()
    (bench.root / "b" / "c").mkdir(parents=True)
    (bench.root / "link").symlink_to("b")
    assert bench.text("list_files", path=".") == ".hidden\nA\nb/\nlink -> b\nx2\nx10"
    assert bench.text("list_files", path=".", recursive=True) == ".hidden\nA\nb/\nb/c/\nlink -> b\nx2\nx10"


def test_paths_are_relative_to_the_workspace(bench: Bench) -> None:
    (bench.root / "a" / "b").mkdir(parents=True)
    (bench.root / "a" / "f").touch()
    assert bench.text("list_files", path="a") == "a/b/\na/f"
    assert bench.text("list_files", path=str(bench.root / "a")) == "a/b/\na/f"


def test_ignored_files_and_git_are_left_out(bench: Bench) -> None:
    (bench.root / ".gitignore").write_text("*.log\nbuild/\n")
    for name in ("a.log", "build/x", "kept", ".git/config", "sub/b.log", "sub/.github/w.yml"):
        (bench.root / name).parent.mkdir(exist_ok=True, parents=True)
        (bench.root / name).touch()
    assert bench.text("list_files", path=".", recursive=True) == ".gitignore\nkept\nsub/\nsub/.github/\nsub/.github/w.yml"


def test_of_many_entries_those_nearest_the_top_are_listed(bench: Bench) -> None:
    (bench.root / "a").mkdir()
    for number in range(250):
        (bench.root / "a" / str(number)).touch()
    (bench.root / "z").touch()
    lines = bench.text("list_files", path=".", recursive=True).split("\n")
    assert (lines[0], lines[1], lines[198], lines[199]) == ("a/", "a/0", "a/197", "z")
    assert lines[200:] == ["(200 of 252 entries, those nearest the top. List a folder below to see more.)"]


def test_an_empty_folder_is_said(bench: Bench) -> None:
    assert bench.text("list_files", path=".") == "./ holds nothing that is not ignored."


def test_a_folder_that_is_ignored_itself_can_be_listed(bench: Bench) -> None:
    (bench.root / ".gitignore").write_text("build/\n")
    (bench.root / "build").mkdir()
    (bench.root / "build" / "out").touch()
    assert bench.text("list_files", path="build") == "build/out"


@pytest.mark.parametrize(
    ("path", "refusal"),
    [
        ("/", "/ is too large a folder to list; name one below it."),
        ("~", "{home} is too large a folder to list; name one below it."),
        ("file", "file is a file; use read_file."),
        ("fil", "fil does not exist. Did you mean file?"),
    ],
)
def test_what_cannot_be_listed_is_said(bench: Bench, path: str, refusal: str) -> None:
    (bench.root / "file").touch()
    assert bench.refusal("list_files", path=path) == refusal.format(home=Path.home())


def test_a_folder_without_permission_is_passed_over(bench: Bench) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    (bench.root / "closed").mkdir(mode=0o000)
    assert bench.text("list_files", path=".", recursive=True) == "closed/"
    assert bench.refusal("list_files", path="closed") == "Cannot list closed: Permission denied."


def test_the_action_reads_the_folder(bench: Bench) -> None:
    assert bench.actions("list_files", path="..") == (Action("read", (str(bench.root.parent),)),)
