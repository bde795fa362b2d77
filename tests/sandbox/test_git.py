"""Git works in a sandboxed workspace, and what decides about later runs of git and Ferrule cannot be changed from inside."""

import asyncio
import os
import subprocess
from pathlib import Path

import pytest

from ferrule.process.protocol import Command, Processes
from tests.process.probe import until

from .world import ENVIRONMENT, World, run, said, shell, with_sandbox

MODES = pytest.mark.parametrize("mode", ["workspace", "strict"])
IDENTITY = "git -c user.name=N -c user.email=e@example.org"


def git(folder: Path, *arguments: str) -> str:
    argv = ["git", "-c", "user.name=N", "-c", "user.email=e@example.org", *arguments]
    return subprocess.run(argv, cwd=folder, check=True, capture_output=True, text=True).stdout


def repository(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    (folder / "file").write_text("one\n")
    git(folder, "add", "file")
    git(folder, "commit", "-qm", "First")


@MODES
def test_a_commit_is_made(world: World, mode: str) -> None:
    repository(world.workspace)
    script = f"echo two >> file; {IDENTITY} commit -qam Second; git switch -qc topic; git status -s; git log --oneline | wc -l"
    assert said(world.wish(mode), shell(world, script)).split() == ["2"]
    assert git(world.workspace, "log", "--format=%s").split() == ["Second", "First"]


@MODES
def test_a_commit_is_made_in_a_worktree(world: World, mode: str) -> None:
    repository(world.outside / "main")
    world.workspace.rmdir()
    git(world.outside / "main", "worktree", "add", "-q", str(world.workspace))
    script = f"echo two >> file; {IDENTITY} commit -qam Second; git log --oneline | wc -l"
    assert said(world.wish(mode), shell(world, script)).split() == ["2"]
    script = (
        f"echo x > {world.outside}/main/file; echo x > {world.outside}/main/.git/hooks/post-commit; echo x > {world.outside}/made"
    )
    run(world.wish(mode), shell(world, f"({script}) 2>/dev/null; {IDENTITY} commit -q --allow-empty -m Third"))
    assert (world.outside / "main" / "file").read_text() == "one\n"
    assert not (world.outside / "main" / ".git" / "hooks" / "post-commit").exists()
    assert not (world.outside / "made").exists()
    assert git(world.workspace, "log", "--format=%s").split() == ["Third", "Second", "First"]


@MODES
@pytest.mark.parametrize("leads", [".git", ".git/worktrees/theirs"])
def test_a_forged_worktree_opens_nothing(world: World, mode: str, leads: str) -> None:
    repository(world.outside / "other")
    git(world.outside / "other", "worktree", "add", "-q", "../theirs")
    (world.workspace / ".git").write_text(f"gitdir: {world.outside}/other/{leads}\n")
    run(world.wish(mode), shell(world, f"echo stolen > {world.outside}/other/.git/made"))
    assert not (world.outside / "other" / ".git" / "made").exists()


@MODES
@pytest.mark.parametrize(
    "script",
    [
        "echo evil > .git/hooks/pre-commit",
        "echo evil >> .git/config",
        "git config core.fsmonitor evil",
        "mv .git/hooks .git/other; mkdir .git/hooks; echo evil > .git/hooks/pre-commit",
        "rm -rf .git/config; echo evil > .git/config",
        "mv .git other; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit; echo evil > .git/config",
        "rm -rf .git; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit",
        "rm .git/hooks/*; ln -s $PWD/evil .git/hooks/pre-commit",
        "echo evil >> .ferrule/config.toml",
        "rm -rf .ferrule; mkdir .ferrule; echo evil > .ferrule/config.toml",
        "mv .ferrule away; mkdir .ferrule; echo evil > .ferrule/config.toml",
    ],
)
def test_hooks_and_configuration_stay_as_they_are(world: World, mode: str, script: str) -> None:
    repository(world.workspace)
    (world.workspace / ".ferrule").mkdir()
    (world.workspace / ".ferrule" / "config.toml").write_text('approve = "ask"\n')
    watched = (".git/config", ".ferrule/config.toml")
    before = [(world.workspace / name).read_text() for name in watched]
    hooks = sorted(path.name for path in (world.workspace / ".git" / "hooks").iterdir())
    run(world.wish(mode), shell(world, f"({script}) 2>/dev/null"))
    assert [(world.workspace / name).read_text() for name in watched] == before
    assert sorted(path.name for path in (world.workspace / ".git" / "hooks").iterdir()) == hooks


@MODES
def test_links_in_the_place_of_hooks_are_not_followed(world: World, mode: str) -> None:
    repository(world.workspace)
    hooks = world.workspace / ".git" / "hooks"
    subprocess.run(["rm", "-rf", str(hooks)], check=True)
    hooks.symlink_to(world.outside)
    ended, _ = run(world.wish(mode), Command(("git", "status", "--short"), str(world.workspace), ENVIRONMENT, 10))
    assert ended.exit_code == 0


@MODES
@pytest.mark.parametrize(
    ("script", "made"),
    [
        ("mkdir -p evil/hooks; cp .git/config evil; echo ../evil > .git/commondir", ".git/commondir"),
        ("mkdir .ferrule; echo evil > .ferrule/config.toml; chmod 0500 .ferrule", ".ferrule"),
        ("ln -s . .ferrule", ".ferrule"),
    ],
)
def test_what_would_decide_and_was_not_there_is_removed_and_told(world: World, mode: str, script: str, made: str) -> None:
    repository(world.workspace)
    ended, _ = run(world.wish(mode), shell(world, script))
    assert ended.error is not None and f"{world.workspace}/{made}" in ended.error
    assert not os.path.lexists(world.workspace / made)
    assert git(world.workspace, "log", "--format=%s").split() == ["First"]


@MODES
def test_what_was_made_is_removed_from_a_command_that_was_cancelled_too(world: World, mode: str) -> None:
    async def use(processes: Processes) -> None:
        running = asyncio.create_task(processes.run(shell(world, "mkdir .ferrule; sleep 60"), lambda data: None))
        assert await until((world.workspace / ".ferrule").exists)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    with_sandbox(world.wish(mode), use)
    assert os.listdir(world.workspace) == []
