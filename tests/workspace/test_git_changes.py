import hashlib
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from ferrule.types.errors import UsageError
from ferrule.workspace.diff.model import File
from ferrule.workspace.git.changes import Comparison, between, changed_files, commit, staged, worktree
from ferrule.workspace.git.repository import Git

from .repository import Repository, asked, repository

TEXT = b"".join(b"line %d\n" % number for number in range(1, 21))


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    made = repository(tmp_path / "repo")
    made.write("a", TEXT)
    made.write("dir/b", b"b\n")
    made.commit()
    return made


def told(comparison: Comparison) -> dict[str, str]:
    """The status of each file."""
    return {file.path: file.status for file in comparison.diff.files}


def added(files: tuple[File, ...]) -> list[str]:
    return [line.text for file in files for hunk in file.hunks for line in hunk.lines if line.kind == "added"]


def state(root: Path) -> dict[str, str]:
    """A digest of every file below, and the names of the folders."""
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        for path in sorted(root.rglob("*"))
    }


def test_the_working_tree_is_compared_with_its_untracked_files(repo: Repository) -> None:
    repo.write(".gitignore", b"*.log\n")
    repo.write("seen.log", b"x\n")
    repo.write("new/file", b"new\n")
    repo.write("a", TEXT + b"more\n")
    repo.git("add", "a")
    repo.write("a", TEXT + b"more\nand more\n")
    (repo.root / "dir/b").unlink()
    found = asked(repo.root, worktree)
    assert told(found) == {".gitignore": "added", "a": "modified", "dir/b": "deleted", "new/file": "added"}
    assert added(found.diff.files) == ["*.log", "more", "and more", "new"]
    assert (found.kind, found.base, found.head, found.diff.notes) == ("worktree", repo.git("rev-parse", "HEAD"), None, ())
    repo.git("add", "--all")
    assert (found.content_id, found.base_tree) == (repo.git("write-tree"), repo.git("rev-parse", "HEAD^{tree}"))


def test_a_clean_working_tree_has_no_changes_and_the_id_of_its_commit_s_tree(repo: Repository) -> None:
    os.utime(repo.root / "a", (1, 1))
    found = asked(repo.root, worktree)
    assert (found.diff.files, found.content_id) == ((), repo.git("rev-parse", "HEAD^{tree}"))


def test_a_change_at_the_time_of_the_index_is_seen(repo: Repository) -> None:
    repo.config("[core]\n\ttrustctime = false\n\tcheckStat = minimal\n")
    os.utime(repo.root / "dir/b", (1000, 1000))
    repo.git("add", "dir/b")
    os.utime(repo.root / ".git/index", (1000, 1000))
    repo.write("dir/b", b"c\n")
    os.utime(repo.root / "dir/b", (1000, 1000))
    assert added(asked(repo.root, worktree).diff.files) == ["c"]


@pytest.mark.parametrize("compare", [worktree, staged, commit])
def test_comparing_changes_nothing_in_the_repository(repo: Repository, compare: Callable[[Git], Awaitable[Comparison]]) -> None:
    repo.write("a", TEXT + b"staged\n")
    repo.git("add", "a")
    repo.write("a", TEXT + b"not staged\n")
    repo.write("new", b"new\n")
    before = state(repo.root)
    assert asked(repo.root, compare).diff.files
    assert state(repo.root) == before


def test_only_what_is_staged_is_compared(repo: Repository) -> None:
    repo.write("a", TEXT + b"staged\n")
    repo.git("add", "a")
    repo.write("a", TEXT + b"staged\nlater\n")
    repo.write("new", b"new\n")
    repo.git("add", "--intent-to-add", "new")
    found = asked(repo.root, staged)
    assert (told(found), added(found.diff.files)) == ({"a": "modified"}, ["staged"])
    assert (found.kind, found.content_id) == ("staged", repo.git("write-tree"))


def test_another_base_counts_for_working_tree_and_index(repo: Repository) -> None:
    repo.write("a", TEXT + b"second\n")
    repo.commit()
    repo.write("dir/b", b"b\nc\n")
    repo.git("add", "dir/b")
    for compare in (worktree, staged):
        found = asked(repo.root, lambda git, compare=compare: compare(git, "HEAD~1"))
        assert (added(found.diff.files), found.base) == (["second", "c"], repo.git("rev-parse", "HEAD~1"))


def test_the_index_that_a_commit_hook_is_told_of_is_the_one(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.write("a", TEXT + b"in the other index\n")
    other = repo.root / ".git" / "next-index"
    other.write_bytes((repo.root / ".git/index").read_bytes())
    monkeypatch.setenv("GIT_INDEX_FILE", str(other))
    assert asked(repo.root, staged).diff.files == ()
    monkeypatch.delenv("GIT_INDEX_FILE")
    main = (repo.root / ".git/index").read_bytes()
    repo.git("add", "a")
    other.write_bytes((repo.root / ".git/index").read_bytes())
    (repo.root / ".git/index").write_bytes(main)
    monkeypatch.setenv("GIT_INDEX_FILE", str(other))
    assert added(asked(repo.root, staged).diff.files) == ["in the other index"]


def test_before_the_first_commit_everything_is_added(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    repo.write("a", b"x\n")
    notes = ("There is no commit yet: every file counts as added.",)
    assert [(told(found), found.base, found.diff.notes) for found in (asked(tmp_path, worktree), asked(tmp_path, staged))] == [
        ({"a": "added"}, None, notes),
        ({}, None, notes),
    ]
    repo.git("add", "a")
    assert told(asked(tmp_path, staged)) == {"a": "added"}
    with pytest.raises(UsageError, match=r"^The repository has no commits yet\.$"):
        asked(tmp_path, commit)


def test_contents_stay_as_they_were_when_compared(repo: Repository) -> None:
    repo.write("a", TEXT + b"then\n")
    repo.write("big", b"0123456789")

    async def look(git: Git) -> tuple[list[bytes | None], dict[str, bytes]]:
        found = await worktree(git)
        repo.write("a", b"later\n")
        ids = [file.blob(side) for file in found.diff.files for side in ("LEFT", "RIGHT")]  # type: ignore[arg-type]
        contents = await git.contents([id for id in ids if id], most=1000)
        return [contents[id] if id else None for id in ids], await git.contents([id for id in ids if id], most=9)

    assert asked(repo.root, look) == ([TEXT, TEXT + b"then\n", None, b"0123456789"], {})


def test_files_and_folders_that_take_each_other_s_place(repo: Repository) -> None:
    (repo.root / "a").unlink()
    repo.write("a/inner", b"x\n")
    (repo.root / "dir/b").unlink()
    (repo.root / "dir").rmdir()
    (repo.root / "dir").symlink_to("a")
    found = asked(repo.root, worktree)
    assert told(found) == {"a": "deleted", "a/inner": "added", "dir": "added", "dir/b": "deleted"}
    assert {file.path: file.symlink for file in found.diff.files if file.status == "added"} == {"a/inner": False, "dir": True}


def test_modes_links_and_names_of_the_working_tree(repo: Repository) -> None:
    (repo.root / "a").chmod(0o755)
    (repo.root / "dir/b").unlink()
    (repo.root / "dir/b").symlink_to("../a")
    repo.write(b"latin-\xe9 \n\t", b"x\n")
    repo.git("add", "--intent-to-add", "--", b"latin-\xe9 \n\t")
    found = asked(repo.root, worktree)
    assert [(file.path, file.status, file.mode_changed) for file in found.diff.files] == [
        ("a", "modified", True),
        ("dir/b", "type_changed", True),
        ("latin-\N{REPLACEMENT CHARACTER}E9 \n\t", "added", False),
    ]


def test_what_is_untracked_and_left_out_is_named(repo: Repository) -> None:
    inner = repository(repo.root / "inner")
    inner.write("x", b"x\n")
    repo.write("huge", b"x" * 5_000_001)
    for number in range(7):
        repository(repo.root / f"more{number}")
    found = asked(repo.root, worktree)
    assert (told(found), found.diff.notes) == (
        {},
        (
            "Untracked and left out (over 5,000,000 bytes): huge.",
            "Untracked and left out (a repository of its own): inner/, more0/, more1/, more2/, more3/ and 3 more.",
        ),
    )


def test_a_merge_that_is_not_finished(repo: Repository) -> None:
    repo.git("checkout", "--quiet", "-b", "side")
    repo.write("a", b"side\n")
    repo.commit()
    repo.git("checkout", "--quiet", "main")
    repo.write("a", b"main\n")
    repo.commit()
    repo.git("merge-tree", "main", "main", "side")
    with pytest.raises(AssertionError):
        repo.git("merge", "side")
    with pytest.raises(UsageError, match="A merge is not finished: a"):
        asked(repo.root, staged)
    assert added(asked(repo.root, worktree).diff.files) == ["<<<<<<< HEAD", "=======", "side", ">>>>>>> side"]


def test_a_submodule_is_a_commit(repo: Repository, tmp_path: Path) -> None:
    other = repository(tmp_path / "other")
    first = other.commit()
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other.root), "sub")
    repo.commit()
    inner = Repository(repo.root / "sub")
    inner.write("dirty", b"not committed\n")
    assert told(asked(repo.root, worktree)) == {}
    second = inner.commit()
    (file,) = asked(repo.root, worktree).diff.files
    assert (file.path, file.submodule, file.old_blob, file.new_blob, file.blob("LEFT"), file.blob("RIGHT")) == (
        "sub", True, first, second, None, None
    )  # fmt: skip
    assert asked(inner.root, commit).head == second


def test_a_commit_is_compared_with_its_first_parent(repo: Repository) -> None:
    repo.write("a", TEXT + b"second\n")
    second = repo.commit()
    repo.git("tag", "--annotate", "--message=x", "v1")
    repo.write("a", TEXT)
    repo.commit()
    found = asked(repo.root, lambda git: commit(git, "v1"))
    assert (added(found.diff.files), found.base, found.head, found.content_id, found.diff.notes) == (
        ["second"], repo.git("rev-parse", "HEAD~2"), second, second, ()
    )  # fmt: skip


def test_a_first_commit_is_compared_with_nothing(repo: Repository) -> None:
    found = asked(repo.root, commit)
    head = repo.git("rev-parse", "HEAD")
    assert (told(found), found.base, found.diff.notes) == (
        {"a": "added", "dir/b": "added"},
        None,
        (f"{head[:12]} is a first commit: every file counts as added.",),
    )


def merged(repo: Repository) -> tuple[str, str]:
    """A merge of `side`, which adds s, into main, which has m: the merge and its first parent."""
    repo.git("checkout", "--quiet", "-b", "side")
    repo.write("s", b"side\n")
    repo.commit()
    repo.git("checkout", "--quiet", "main")
    repo.write("m", b"main\n")
    first = repo.commit()
    repo.git("merge", "--quiet", "--no-ff", "--no-edit", "side")
    return repo.git("rev-parse", "HEAD"), first


def test_a_merge_says_what_it_is_compared_with(repo: Repository) -> None:
    merge, first = merged(repo)
    found = asked(repo.root, commit)
    assert (told(found), found.base, found.diff.notes) == (
        {"s": "added"},
        first,
        (f"{merge[:12]} is a merge of 2 commits, compared with the first of them: {first[:12]}.",),
    )


def test_a_range_starts_where_both_sides_parted(repo: Repository) -> None:
    start = repo.git("rev-parse", "HEAD")
    merged(repo)
    repo.git("reset", "--quiet", "--hard", "HEAD~1")
    found = asked(repo.root, lambda git: between(git, "main", "side"))
    assert (told(found), found.kind, found.base, found.head) == ({"s": "added"}, "range", start, repo.git("rev-parse", "side"))


def test_where_a_shallow_clone_ends_there_is_nothing_to_compare_with(repo: Repository, tmp_path: Path) -> None:
    repo.write("a", TEXT + b"second\n")
    repo.commit()
    head = repo.commit()
    repo.git("clone", "--quiet", "--depth=2", f"file://{repo.root}", str(tmp_path / "shallow"))
    shallow = Repository(tmp_path / "shallow")
    assert asked(shallow.root, commit).head == head
    with pytest.raises(UsageError, match=r"The parent of HEAD~1 \(.{12}\) is not here.*`git fetch --deepen=1` gets it\."):
        asked(shallow.root, lambda git: commit(git, "HEAD~1"))


def test_commits_without_a_common_ancestor(repo: Repository) -> None:
    repo.git("checkout", "--quiet", "--orphan", "other")
    repo.write("a", b"other\n")
    repo.commit()
    with pytest.raises(UsageError, match=r"^main and HEAD have no common ancestor here\.$"):
        asked(repo.root, lambda git: between(git, "main"))


@pytest.mark.parametrize(
    ("paths", "found"),
    [
        (["dir"], {"dir/b": "modified", "dir/c": "renamed"}),
        (["dir/b"], {"dir/b": "modified"}),
        (["moved"], {"dir/c": "renamed"}),
        (["dir/../a", "dir/b"], {"a": "modified", "dir/b": "modified"}),
        (["."], {"a": "modified", "dir/b": "modified", "dir/c": "renamed"}),
        (["same"], {}),
    ],
)
def test_paths_choose_files_as_they_are_and_were(repo: Repository, paths: list[str], found: dict[str, str]) -> None:
    repo.write("moved", TEXT * 2)
    repo.write("same", b"x\n")
    repo.commit()
    repo.git("mv", "moved", "dir/c")
    repo.write("a", TEXT + b"x\n")
    repo.write("dir/b", b"x\n")
    assert told(asked(repo.root, lambda git: worktree(git, paths=[Path(path) for path in paths]))) == found


def test_paths_start_where_one_stands(repo: Repository) -> None:
    repo.write("a", b"x\n")
    repo.write("dir/b", b"x\n")
    assert told(asked(repo.root / "dir", lambda git: worktree(git, paths=[Path("b")]))) == {"dir/b": "modified"}
    assert told(asked(repo.root / "dir", worktree)) == {"a": "modified", "dir/b": "modified"}


@pytest.mark.parametrize(
    ("path", "said"), [("../elsewhere", "is outside of the repository"), ("b/dir", "neither exists nor has changes")]
)
def test_a_path_that_cannot_be_meant_is_an_error(repo: Repository, path: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        asked(repo.root, lambda git: worktree(git, paths=[Path(path)]))


def test_what_is_too_long_is_listed_without_its_lines(repo: Repository) -> None:
    for name in "cdefghij":
        repo.write(name, name.encode() * 300 + b"\n")
    repo.write("big", b"x\n" * 2000)
    repo.git("mv", "dir/b", "z")
    old, new = repo.git("rev-parse", "HEAD^{tree}"), repo.git("rev-parse", f"{repo.commit()}^{{tree}}")

    def read(file_bytes: int, total_bytes: int) -> dict[str, str | int]:
        files = asked(repo.root, lambda git: changed_files(git, old, new, file_bytes, total_bytes))
        return {file.path: file.omitted or len(file.hunks) for file in files}

    rest = {**dict.fromkeys("cdefghij", 1), "z": 0}
    over = "the diff is longer than 5,000 bytes"
    assert read(100_000, 100_000) == {"big": 1, **rest}
    assert read(3000, 100_000) == {"big": "its patch is longer than 3,000 bytes", **rest}
    limited = read(3000, 5000)
    assert limited == {"big": "its patch is longer than 3,000 bytes", **dict.fromkeys(rest, over)}
    with pytest.raises(Exception, match="the list of changed files is incomplete"):
        read(500, 5000)
