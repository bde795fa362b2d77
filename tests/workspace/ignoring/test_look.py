import os
import subprocess
from pathlib import Path

import pytest

from ferrule.workspace.ignoring.guard import Guard
from ferrule.workspace.ignoring.look import Look, ways
from ferrule.workspace.walk import Entry, skeleton, walk


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project in which `hidden/` and `*.pem` are ignored."""
    root = (tmp_path / "project").resolve()
    for name in ("hidden/deep/x", "src/a", "src/k.pem", "ok"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    (root / ".ferruleignore").write_text("hidden/\n*.pem\n")
    return root


@pytest.mark.parametrize(
    "path",
    [
        "hidden",
        "hidden/deep/x",
        "src/../hidden/deep",
        "./hidden//deep/.",
        "hidden/not-there",
        "src/k.pem",
        "src/new.pem",
        "src/x/..",
    ],
)
def test_every_spelling_of_a_path_is_judged_by_what_it_means(root: Path, path: str) -> None:
    assert (Guard(root).ignored(f"{root}/{path}") is None) is (path == "src/x/..")


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("to-file", "hidden/deep/x"),
        ("to-folder", "hidden/deep"),
        ("src/up", "../hidden"),
        ("harmless.pem", "ok"),
        ("hidden/inside", "../ok"),
        ("over", "hidden/inside"),
        ("chain", "to-file"),
    ],
)
def test_a_link_is_ignored_for_its_name_its_place_and_where_it_leads(root: Path, link: str, target: str) -> None:
    (root / "hidden/inside").symlink_to("../ok")
    (root / "to-file").symlink_to("hidden/deep/x")
    if not (root / link).is_symlink():
        (root / link).symlink_to(target)
    assert Guard(root).ignored(f"{root}/{link}") is not None
    assert Guard(root).ignored(f"{root}/{link}/below") is not None


def test_a_link_to_what_is_open_is_open(root: Path) -> None:
    (root / "fine").symlink_to("src/a")
    assert Guard(root).ignored(f"{root}/fine") is None


def test_a_chain_longer_than_systems_follow_is_followed(root: Path) -> None:
    (root / "l0").symlink_to("hidden")
    for number in range(1, 60):
        (root / f"l{number}").symlink_to(f"l{number - 1}")
    assert Guard(root).ignored(f"{root}/l59/deep/x") == "is ignored by .ferruleignore, line 1: `hidden/`."


def test_links_in_a_circle_are_an_error(root: Path) -> None:
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")
    with pytest.raises(OSError, match="symbolic links"):
        ways(f"{root}/a")


@pytest.mark.parametrize("path", ["via", "via/hidden", "via/hidden/deep/x", "via/src/k.pem"])
def test_a_workspace_behind_a_link_is_no_way_around(root: Path, path: str) -> None:
    (root.parent / "via").symlink_to(root)
    assert (Guard(root).ignored(f"{root.parent}/{path}") is None) is (path == "via")


def test_an_ignore_file_above_the_workspace_counts(root: Path) -> None:
    (root.parent / ".rooignore").write_text("/project/ok\n")
    assert Guard(root).ignored(f"{root}/ok") == f"is ignored by {root.parent}/.rooignore, line 1: `/project/ok`."
    assert Guard(root / "src").ignored(f"{root}/src/a") is None


def test_a_change_counts_for_the_next_look_even_within_one_tick_of_the_clock(root: Path) -> None:
    file = root / ".ferruleignore"
    file.write_text("ok\n")
    before = file.stat()
    assert Guard(root).ignored(f"{root}/ok") is not None
    file.write_text("no\n")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert Guard(root).ignored(f"{root}/ok") is None
    file.unlink()
    assert Guard(root).ignored(f"{root}/hidden") is None


def test_a_change_by_another_process_counts_at_once(root: Path) -> None:
    for number in range(20):
        subprocess.run(["bash", "-c", f"echo f{number} > .ferruleignore"], cwd=root, check=True)
        assert [Guard(root).ignored(f"{root}/f{each}") is not None for each in (number, number + 1)] == [True, False]


def test_what_lies_below_is_found(root: Path) -> None:
    told = "holds what is ignored by .ferruleignore, line 1: `hidden/`."
    assert Guard(root).holds_ignored(str(root)) == told
    assert Guard(root).holds_ignored(f"{root}/src") == "holds what is ignored by .ferruleignore, line 2: `*.pem`."
    (root / "src/k.pem").unlink()
    assert Guard(root).holds_ignored(f"{root}/src") is None
    (root / "src/.rooignore").write_text("a")
    assert Guard(root).holds_ignored(f"{root}/src") == "holds what is ignored by src/.rooignore, line 1: `a`."


def test_a_folder_too_large_to_look_through_counts_as_holding_something_where_rules_hold(root: Path) -> None:
    many = root / "many"
    many.mkdir()
    for number in range(30):
        (many / f"f{number}").touch()
    found = Look().within(str(many), 20)
    assert found is not None and "more than 20 entries" in found.trouble
    (root / ".ferruleignore").unlink()
    assert Look().within(str(many), 20) is None


def test_a_deep_path_is_judged(tmp_path: Path) -> None:
    deep = str(tmp_path.resolve()) + "/d" * 1500
    assert Guard(tmp_path).ignored(deep) is None
    (tmp_path / ".ferruleignore").write_text("d\n")
    assert Guard(tmp_path.resolve()).ignored(deep) == "is ignored by .ferruleignore, line 1: `d`."


def shown(root: Path, entries: list[Entry]) -> list[str]:
    return sorted(
        f"{'*' if entry.locked else ''}{entry.path.relative_to(root)}{'/' if entry.folder else ''}" for entry in entries
    )


def test_a_walk_leaves_out_what_is_ignored_and_links_to_it(root: Path) -> None:
    (root / "link").symlink_to("hidden/deep")
    (root / "fine").symlink_to("ok")
    (root / "around").symlink_to("around")
    (root / ".gitignore").write_text("ok\n")
    assert shown(root, walk(root)) == [".ferruleignore", ".gitignore", "around", "fine", "src/", "src/a"]
    assert {entry.path.name for entry in skeleton(root)} == {"around", "fine", "src"}


def test_a_walk_may_show_what_is_locked_but_nothing_below_it(root: Path) -> None:
    (root / "link").symlink_to("hidden/deep")
    assert shown(root, walk(root, show=True)) == ["*hidden/", "*link", "*src/k.pem", ".ferruleignore", "ok", "src/", "src/a"]


def test_the_most_of_a_walk_counts_only_what_is_kept(root: Path) -> None:
    (root / "hidden/more").mkdir()
    for number in range(50):
        (root / f"hidden/more/{number}").touch()
    assert len(walk(root, most=4)) == 4


def test_a_broken_ignore_file_hides_all_that_is_below_it(root: Path) -> None:
    (root / "src/.rooignore").mkdir()
    assert shown(root, walk(root)) == [".ferruleignore", "ok", "src/"]
