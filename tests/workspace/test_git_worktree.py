import asyncio
import fcntl
import os
from pathlib import Path

import pytest

from ferrule.process.supervisor import Supervisor
from ferrule.types.errors import UsageError
from ferrule.workspace.git.repository import Git
from ferrule.workspace.git.worktree import Done, Worktree, done_in, make_worktree, remove_worktree

from .repository import Repository, asked, environment, repository


def make(there: Repository, folder: Path, name: str = "one") -> Worktree:
    return asked(there.root, lambda git: make_worktree(git, name, folder / name))


@pytest.fixture
def there(tmp_path: Path) -> Repository:
    return repository(tmp_path / "project")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "worktrees"


def test_a_worktree_has_the_last_commit_on_a_branch_of_its_own(there: Repository, place: Path) -> None:
    there.write("a", b"1\n")
    head = there.commit()
    there.write("a", b"changed\n")
    there.write("b", b"new\n")
    made = make(there, place)
    assert made == Worktree(
        place / "one",
        there.root,
        "ferrule/one",
        head,
        left=(f"2 uncommitted changes of {there.root} are not in it.",),
    )
    assert sorted(os.listdir(place / "one")) == [".git", "a"]
    assert (place / "one" / "a").read_text() == "1\n"
    assert (there.root / "a").read_text() == "changed\n"
    assert asked(place / "one", lambda git: done_in(git, made)) == Done(0, 0)


def test_what_was_done_in_it_is_counted_and_keeps_it(there: Repository, place: Path) -> None:
    there.write("a", b"1\n")
    there.commit()
    made = make(there, place)
    (place / "one" / "new").write_text("x")
    assert asked(place / "one", lambda git: done_in(git, made)) == Done(0, 1)
    assert not asked(there.root, lambda git: remove_worktree(git, made))
    assert (place / "one" / "new").exists()
    (place / "one" / "new").unlink()
    assert asked(there.root, lambda git: remove_worktree(git, made))
    assert not (place / "one").exists()
    assert make(there, place).branch == "ferrule/one"


def test_the_same_name_again_is_refused_and_changes_nothing(there: Repository, place: Path) -> None:
    there.write("a", b"1\n")
    there.commit()
    make(there, place)
    (place / "one" / "work").write_text("x")
    with pytest.raises(UsageError, match=rf"There is a worktree one already. Go on in it with -C {place}/one"):
        make(there, place)
    assert (place / "one" / "work").read_text() == "x"
    with pytest.raises(UsageError, match="There is a branch ferrule/one already"):
        make(there, place / "elsewhere")


@pytest.mark.parametrize("name", ["", "-x", "../up", "a/b", "a..b", "a.lock", ".hidden", "a b", "a~1", "x" * 101, "a\n"])
def test_a_name_that_git_or_a_path_would_read_otherwise_is_refused(there: Repository, place: Path, name: str) -> None:
    there.write("a", b"1\n")
    there.commit()
    with pytest.raises(UsageError, match="cannot be the name of a worktree"):
        make(there, place, name)
    assert not place.exists()


def test_without_a_commit_there_is_nothing_to_make_it_of(there: Repository, place: Path) -> None:
    with pytest.raises(UsageError, match="has no commits yet"):
        make(there, place)


def test_many_at_once_are_made_one_after_the_other_and_all_of_them(there: Repository, place: Path) -> None:
    there.write("a", b"1\n")
    there.commit()

    async def all_of_them() -> list[Worktree]:
        processes = Supervisor()
        gits = [Git(processes, there.root, environment()) for _ in range(6)]
        try:
            made = (make_worktree(git, f"n{number}", place / f"n{number}") for number, git in enumerate(gits))
            return await asyncio.gather(*made)
        finally:
            for git in gits:
                git.close()
            await processes.close()

    assert [made.folder.name for made in asyncio.run(all_of_them())] == [f"n{number}" for number in range(6)]
    assert sorted(os.listdir(place)) == [f"n{number}" for number in range(6)]


def test_while_somebody_else_makes_one_it_waits(there: Repository, place: Path) -> None:
    there.write("a", b"1\n")
    there.commit()

    async def beside_another(git: Git) -> Worktree:
        descriptor = os.open(there.root / ".git", os.O_RDONLY)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        making = asyncio.create_task(make_worktree(git, "one", place / "one"))
        await asyncio.wait([making], timeout=0.3)
        assert not making.done()
        assert not (place / "one").exists()
        os.close(descriptor)
        return await making

    assert asked(there.root, beside_another).folder == place / "one"


def test_ignored_files_that_are_listed_are_taken_along_and_no_others(there: Repository, place: Path) -> None:
    there.write(".gitignore", b".env\nbuild/\nsecret\n")
    there.write(".worktreeinclude", b"# mine\n.env\nbuild/*.cfg\n*.log\na\n")
    there.write("a", b"1\n")
    there.commit()
    for name in (".env", "sub/.env", "build/x.cfg", "build/big.o", "secret", "untracked.log"):
        there.write(name, name.encode())
    (there.root / ".env").chmod(0o600)
    made = make(there, place)
    found = sorted(
        str(path.relative_to(made.folder)) for path in made.folder.rglob("*") if path.is_file() and path.name != ".git"
    )
    assert found == [".env", ".gitignore", ".worktreeinclude", "a", "build/x.cfg", "sub/.env"]
    assert (made.copied, (made.folder / ".env").stat().st_mode & 0o777) == (3, 0o600)


def test_nothing_is_copied_out_of_the_worktree_or_over_what_the_commit_brought(there: Repository, place: Path) -> None:
    outside = place.parent / "outside"
    outside.mkdir()
    there.write(".gitignore", b"out\nlink\n")
    there.write(".worktreeinclude", b"out\nlink\n")
    (there.root / "out").symlink_to(outside)
    (there.root / "link").symlink_to("/etc/passwd")
    there.git("add", "-f", "out", ".gitignore", ".worktreeinclude")
    there.git("commit", "-q", "-m", "a link")
    (there.root / "out").unlink()
    there.git("rm", "-q", "--cached", "out")
    there.write("out/file", b"x")
    made = make(there, place)
    assert os.listdir(outside) == []
    assert "out/file was not copied: its folder leads out of the worktree." in made.left
    assert os.readlink(made.folder / "link") == "/etc/passwd"


def test_no_hook_of_the_repository_runs(there: Repository, place: Path) -> None:
    there.write("a", b"1\n")
    there.commit()
    hook = there.root / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {place.parent}/ran\n")
    hook.chmod(0o755)
    make(there, place)
    assert not (place.parent / "ran").exists()
