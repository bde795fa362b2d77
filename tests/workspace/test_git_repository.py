import asyncio
import os
import re
import shutil
from pathlib import Path

import pytest

from ferrule.process.supervisor import Supervisor
from ferrule.types.errors import FerruleError, UsageError
from ferrule.types.names import spell
from ferrule.workspace.git.changes import staged, worktree
from ferrule.workspace.git.repository import Git

from .repository import Content, Repository, asked, executable, link, repository, submodule


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    made = repository(tmp_path / "repo")
    made.write("dir/a", b"a\n")
    made.commit()
    return made


def test_the_top_is_found_from_below(repo: Repository) -> None:
    assert [asked(repo.root / folder, Git.top) for folder in ("", "dir")] == [repo.root, repo.root]


def test_the_top_of_a_second_working_tree_is_its_own(repo: Repository, tmp_path: Path) -> None:
    repo.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "second"))
    second = Repository(tmp_path / "second")
    second.write("new", b"x\n")
    assert asked(second.root, Git.top) == second.root
    assert [file.path for file in asked(second.root, worktree).diff.files] == ["new"]
    assert asked(repo.root, worktree).diff.files == ()


@pytest.mark.parametrize("name", ["with space", "new\nline", 'quo"te', "back\\slash", "co:lon", "ünï"])
def test_any_name_of_the_folder_will_do(tmp_path: Path, name: str) -> None:
    repo = repository(tmp_path / name)
    repo.write("a", b"1\n")
    repo.commit()
    repo.write("a", b"2\n")
    (file,) = asked(repo.root, worktree).diff.files
    assert [line.text for line in file.hunks[0].lines] == ["1", "2"]


def test_a_repository_with_longer_ids(tmp_path: Path) -> None:
    repo = repository(tmp_path, "--object-format=sha256")
    repo.write("a", b"1\n")
    head = repo.commit()
    repo.write("a", b"2\n")

    async def ask(git: Git) -> tuple[str | None, int, dict[str, bytes]]:
        (file,) = (await worktree(git)).diff.files
        assert file.new_blob is not None
        return await git.head(), len(file.new_blob), await git.contents([file.new_blob])

    found = asked(repo.root, ask)
    assert (found[0], found[1], list(found[2].values())) == (head, 64, [b"2\n"])


@pytest.mark.parametrize("ref", ["HEAD", "@", "main", "v1", "v1~0", "refs/heads/main", "HEAD^{/x}", "short"])
def test_a_commit_is_found_by_any_name(repo: Repository, ref: str) -> None:
    head = repo.git("rev-parse", "HEAD")
    repo.git("tag", "--annotate", "--message=x", "v1")
    name = head[:8] if ref == "short" else ref
    assert asked(repo.root, lambda git: git.resolve(name)) == head


@pytest.mark.parametrize(
    ("ref", "said"),
    [
        ("nowhere", "no commit that is called nowhere"),
        ("HEAD~1", "no commit that is called HEAD~1"),
        ("main..main", "no commit that is called"),
        ("^main", "no commit that is called"),
        ("HEAD:dir/a", "no commit that is called"),
        ("HEAD^{tree}", "no commit that is called"),
        ("--all", "'--all' can't be the name of a commit"),
        ("-1", "'-1' can't be the name of a commit"),
        ("--output=x", "can't be the name of a commit"),
        ("", "'' can't be the name of a commit"),
        ("HEAD\n", "can't be the name of a commit"),
        ("HEAD\0", "can't be the name of a commit"),
    ],
)
def test_what_names_no_commit_is_an_error(repo: Repository, ref: str, said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        asked(repo.root, lambda git: git.resolve(ref))


def test_before_the_first_commit_there_is_no_head(tmp_path: Path) -> None:
    repository(tmp_path)
    assert asked(tmp_path, Git.head) is None
    with pytest.raises(UsageError, match=r"^The repository has no commits yet\.$"):
        asked(tmp_path, lambda git: git.resolve("HEAD"))


def test_places_without_a_working_tree_are_errors(repo: Repository, tmp_path: Path) -> None:
    repository(tmp_path / "bare", "--bare")
    (tmp_path / "nothing").mkdir()
    for folder, said in [
        (tmp_path / "nothing", "is not in a git repository"),
        (tmp_path / "bare", "is a bare repository"),
        (repo.root / ".git", "is a bare repository, or the inside of one"),
        (tmp_path / "absent", "is not a folder"),
    ]:
        with pytest.raises(UsageError, match=said):
            asked(folder, Git.top)


def test_a_working_tree_elsewhere_is_an_error(repo: Repository, tmp_path: Path) -> None:
    repo.git("config", "core.worktree", str(tmp_path / "repo/dir"))
    with pytest.raises(UsageError, match="is not in the working tree of its repository"):
        asked(repo.root, Git.top)


def test_questions_may_be_asked_at_once(repo: Repository) -> None:
    repo.write("dir/a", b"staged\n")
    repo.git("add", "--all")
    repo.write("new", b"x\n")

    async def ask(git: Git) -> list[list[str]]:
        found = await asyncio.gather(worktree(git), staged(git), worktree(git), staged(git))
        return [[file.path for file in each.diff.files] for each in found]

    assert asked(repo.root, ask) == [["dir/a", "new"], ["dir/a"]] * 2


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_repository_of_another_user_needs_their_trust(repo: Repository, isolated_environment: Path) -> None:
    os.chown(repo.root, 12345, 12345)
    os.chown(repo.root / ".git", 12345, 12345)
    with pytest.raises(UsageError, match=f"git config --global --add safe.directory {repo.root}$"):
        asked(repo.root / "dir", Git.head)
    (isolated_environment / ".gitconfig").write_text(f"[safe]\n\tdirectory = {repo.root}\n")
    assert asked(repo.root, Git.head) == repo.git("-c", f"safe.directory={repo.root}", "rev-parse", "HEAD")


def test_without_git_it_is_said(repo: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="git is not installed"):
        asked(repo.root, Git.head)


def test_an_old_git_is_refused(repo: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tmp_path / "bin" / "git"
    old.parent.mkdir()
    old.write_text("#!/bin/sh\necho git version 2.31.9\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{old.parent}:{os.environ['PATH']}")
    with pytest.raises(UsageError, match=r"git 2\.31 is too old: 2\.32 is the oldest"):
        asked(repo.root, Git.head)


def test_a_failure_says_what_git_says(repo: Repository) -> None:
    shutil.rmtree(repo.root / ".git/objects")
    (repo.root / ".git/objects").mkdir()
    with pytest.raises(FerruleError, match=r"^git ls-tree failed: fatal: not a tree object$"):
        asked(repo.root, lambda git: git.output(["ls-tree", "1" * 40]))


def test_nothing_is_left_behind(repo: Repository) -> None:
    folders: list[Path] = []

    async def ask(git: Git) -> None:
        await worktree(git)
        folders.append(git.scratch)
        assert git.scratch.is_dir()

    asked(repo.root, ask)
    assert not folders[0].exists()


def test_many_contents_at_once(repo: Repository) -> None:
    wanted = {f"f{number}".encode(): b"%d\n" % number * number for number in range(300)}
    (head,) = repo.imported({**wanted, b"sub": submodule("1" * 40)})
    ids = {line.split()[2]: line.split("\t")[1] for line in repo.git("ls-tree", head).splitlines()}
    found = asked(repo.root, lambda git: git.contents([*ids, *ids, "2" * 40], most=800))
    assert {ids[id].encode(): data for id, data in found.items()} == {
        name: data for name, data in wanted.items() if len(data) <= 800
    }
    with pytest.raises(ValueError, match="not the id of a blob"):
        asked(repo.root, lambda git: git.contents(["HEAD"]))


def test_files_of_a_tree(repo: Repository) -> None:
    tree: dict[bytes, Content] = {
        b"AGENTS.md": link(b"docs/rules.md"),
        b"docs/rules.md": executable(b"rules\n"),
        b"outside": link(b"../../etc/passwd"),
        b"absolute": link(b"/etc/passwd"),
        b"loop": link(b"loop"),
        "ü x".encode(): b"\0\n",
        b"\xff": b"x\n",
        b"empty": b"",
        b"sub": submodule("1" * 40),
    }
    (head,) = repo.imported(tree)
    nothing = ["outside", "absolute", "loop", "sub", "docs", "absent", "AGENTS.md/x", "a\nb"]

    async def ask(git: Git) -> dict[str, bytes | None]:
        names = [
            "AGENTS.md",
            "ü x",
            spell(b"\xff"),
            "empty",
            "outside",
            "absolute",
            "loop",
            "sub",
            "docs",
            "absent",
            "AGENTS.md/x",
            "a\nb",
        ]
        return {name: await git.file_at(head, name, most=6) for name in names}

    assert asked(repo.root, ask) == {
        "AGENTS.md": b"rules\n",
        "ü x": b"\0\n",
        spell(b"\xff"): b"x\n",
        "empty": b"",
        **dict.fromkeys(nothing),
    }
    assert asked(repo.root, lambda git: git.file_at(head, "AGENTS.md", most=5)) is None


def test_attributes_are_those_of_the_tree(repo: Repository) -> None:
    lines = b"*.lock linguist-generated\nvendor/** linguist-vendored=true -diff\n"
    (head,) = repo.imported({b".gitattributes": lines})
    repo.write(".gitattributes", b"* linguist-generated\n")
    paths = ["a.lock", "vendor/new\nline", spell(b"plain \xff")]
    names = ["linguist-generated", "linguist-vendored", "diff"]
    assert asked(repo.root, lambda git: git.attributes(head, paths, names)) == {
        "a.lock": {"linguist-generated": "set"},
        "vendor/new\nline": {"linguist-vendored": "true", "diff": "unset"},
        spell(b"plain \xff"): {},
    }


def test_a_supervisor_that_is_closed_is_told(repo: Repository) -> None:
    async def ask(git: Git) -> None:
        supervisor = Supervisor()
        await supervisor.close()
        await Git(supervisor, repo.root, tuple(os.environ.items())).head()

    with pytest.raises(RuntimeError, match="closed"):
        asked(repo.root, ask)
