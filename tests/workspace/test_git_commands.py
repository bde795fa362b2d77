"""Which programs are asked, and how: told by a `git` that writes down how it was called."""

import ast
import asyncio
import shutil
import subprocess
from pathlib import Path

import pytest

from ferrule.process.supervisor import Supervisor
from ferrule.workspace.checkers.subject import subject
from ferrule.workspace.git import changes
from ferrule.workspace.git.repository import Git

from .repository import asked, environment, repository

SOURCE = Path(changes.__file__).parents[2]
PLUMBING = {
    *("cat-file", "check-attr", "diff-files", "diff-index", "diff-tree", "for-each-ref", "hash-object", "ls-files", "ls-tree"),
    *("merge-base", "read-tree", "rev-list", "rev-parse", "update-index", "write-tree"),
}
ASKED_FIRST = {"version", "config --list"}
"""Which git it is, and what is configured."""
TELLING = """#!/bin/sh
printf '%s\\n' "$*" >> {log}
case $* in version|"config --list"*) exec {git} "$@" ;; esac
echo "$GIT_CONFIG_NOSYSTEM $GIT_ATTR_NOSYSTEM $GIT_CONFIG_GLOBAL" >> {log}.config
exec {git} "$@"
"""


@pytest.fixture
def calls(tmp_path: Path) -> list[str]:
    """How git was called for one comparison of each kind, with the contents and attributes of what changed."""
    repo = repository(tmp_path / "repo")
    for name in ("a", "b"):
        repo.write(name, b"x\n")
        repo.commit()
    repo.write("a", b"y\n")
    repo.write("new", b"y\n")
    log, folder = tmp_path / "log", tmp_path / "bin"
    folder.mkdir()
    program = folder / "git"
    program.write_text(TELLING.format(log=log, git=shutil.which("git")))
    program.chmod(0o755)
    variables = dict(environment())

    async def ask() -> None:
        processes = Supervisor()
        git = Git(processes, repo.root, tuple((variables | {"PATH": f"{folder}:{variables['PATH']}"}).items()))
        try:
            for comparison in (
                await changes.worktree(git),
                await changes.staged(git, "HEAD~1"),
                await changes.commit(git, "HEAD"),
                await changes.between(git, "HEAD~1"),
            ):
                checked = await subject(git, comparison)
                await checked.exists("a")
                await checked.base_file("a")
                await git.attributes(comparison.base_tree, ["a"], ("linguist-generated",))
        finally:
            git.close()
            await processes.close()

    asyncio.run(ask())
    return log.read_text().splitlines()


def test_only_plumbing_is_asked(calls: list[str]) -> None:
    words = [call.replace("--no-pager ", "") for call in calls]
    others = [call for call in words if call.split()[0] not in PLUMBING and not call.startswith(tuple(ASKED_FIRST))]
    assert others == []
    assert len(words) > 10


def test_every_diff_is_asked_for_with_all_that_configuration_could_change(calls: list[str]) -> None:
    diffs = [call.split() for call in calls if "diff-tree" in call.split()]
    assert len(diffs) == 4
    for call in diffs:
        assert {
            *("--no-ext-diff", "--no-textconv", "--no-color", "-M", "--src-prefix=a/", "--dst-prefix=b/", "--raw", "-z"),
        } <= set(call)


def test_the_system_s_and_the_person_s_configuration_are_off(calls: list[str], tmp_path: Path) -> None:
    assert set((tmp_path / "log.config").read_text().splitlines()) == {"1 1 /dev/null"}


def test_a_filter_that_the_person_has_configured_does_not_run(tmp_path: Path, isolated_environment: Path) -> None:
    repo = repository(tmp_path / "repo")
    ran = tmp_path / "ran"
    (isolated_environment / ".gitconfig").write_text(f'[filter "mine"]\n\tclean = touch {ran}; cat\n\trequired = true\n')
    repo.write(".gitattributes", b"* filter=mine\n")
    repo.write("a", b"x\n")
    assert [file.path for file in asked(repo.root, changes.worktree).diff.files] == [".gitattributes", "a"]
    assert not ran.exists()
    subprocess.run(["git", "add", "a"], cwd=repo.root, check=True)
    assert ran.exists(), "the configuration would have run nothing anyway"


def test_git_is_started_by_one_folder_alone() -> None:
    starters = {
        path.relative_to(SOURCE).parent.as_posix()
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.List | ast.Tuple)
        and node.elts
        and isinstance(node.elts[0], ast.Constant)
        and node.elts[0].value == "git"
    }
    assert starters == {"workspace/git"}
