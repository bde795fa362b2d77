"""What a repository, a person or a machine has configured starts no program and changes no diff."""

import os
import subprocess
from pathlib import Path

import pytest

from ferrule.types.errors import FerruleError
from ferrule.workspace.git.changes import Comparison, between, commit, staged, worktree
from ferrule.workspace.git.repository import Git

from .repository import PERSON, Repository, asked, repository

PROGRAMS = """
[core]
	fsmonitor = {program}
	hooksPath = {hooks}
	pager = {program}
	editor = {program}
	sshCommand = {program}
	askPass = {program}
	gitProxy = {program}
	alternateRefsCommand = {program}
	untrackedCache = true
	splitIndex = true
[credential]
	helper = !{program}
[diff]
	external = {program}
	submodule = log
[diff "evil"]
	command = {program}
	textconv = {program}
	cachetextconv = true
[filter "evil"]
	clean = {program}
	smudge = {program}
	required = true
[filter "evil.two=3"]
	process = {program}
	required = true
[gpg]
	program = {program}
[pager]
	diff-tree = {program}
	diff-files = {program}
[submodule]
	recurse = true
[include]
	path = {included}
"""
INCLUDED = '[filter "included"]\n\tclean = {program}\n\trequired = true\n'
WORKTREE = '[filter "of-worktree"]\n\tclean = {program}\n'
ATTRIBUTES = b"""*.evil filter=evil diff=evil merge=evil
*.two filter=evil.two=3 diff=evil
*.included filter=included
*.worktree filter=of-worktree
"""
HOOKS = ("post-index-change", "pre-commit", "post-checkout", "fsmonitor-watchman", "reference-transaction", "pre-auto-gc")
NAMES = ("x.evil", "x.two", "x.included", "x.worktree", "plain")


class Trap:
    """A program that leaves a mark when it is run, and configuration that names it wherever git could run one."""

    def __init__(self, folder: Path) -> None:
        self.mark = folder / "mark"
        self.program = folder / "program"
        self.program.write_text(f'#!/bin/sh\necho "$0 $*" >> {self.mark}\nexec cat\n')
        self.program.chmod(0o755)
        self.hooks = folder / "hooks"
        self.hooks.mkdir()
        for name in HOOKS:
            (self.hooks / name).symlink_to(self.program)
        self.included = folder / "included"
        self.included.write_text(INCLUDED.format(program=self.program))

    def text(self) -> str:
        return PROGRAMS.format(program=self.program, hooks=self.hooks, included=self.included)

    @property
    def run(self) -> list[str]:
        return self.mark.read_text().splitlines() if self.mark.exists() else []


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    folder = tmp_path / "trap"
    folder.mkdir()
    return Trap(folder)


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    """Two commits, a staged change, one in the working tree, an untracked file and a submodule with changes."""
    made = repository(tmp_path / "repo")
    other = repository(tmp_path / "other")
    other.write("x.evil", b"x\n")
    other.commit()
    made.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other.root), "sub")
    for text in (b"1\n", b"2\n"):
        for name in NAMES:
            made.write(name, text)
        made.commit()
    for name in NAMES:
        made.write(name, b"staged\n")
    made.git("add", "--all")
    for name in NAMES:
        made.write(name, b"changed\n")
        made.write(f"new-{name}", b"new\n")
    made.write("sub/x.evil", b"y\n")
    made.write("sub/new.evil", b"new\n")
    return made


async def everything(git: Git) -> list[Comparison]:
    """Every operation that there is, once."""
    compared = (worktree(git), worktree(git, "HEAD~1"), staged(git), commit(git), between(git, "HEAD~1"))
    found = [await each for each in compared]
    for each in found:
        ids = [id for file in each.diff.files for id in (file.blob("LEFT"), file.blob("RIGHT")) if id]
        await git.contents(ids)
        await git.file_at(each.tree, "plain")
        await git.attributes(each.tree, ["x.evil"], ["filter", "diff"])
    return found


def shown(comparisons: list[Comparison]) -> list[dict[str, list[str]]]:
    return [
        {
            file.path: [f"{line.kind} {line.text}" for hunk in file.hunks for line in hunk.lines]
            for file in each.diff.files
            if file.path != ".gitattributes"
        }
        for each in comparisons
    ]


def test_no_configured_program_runs(repo: Repository, trap: Trap) -> None:
    clean = shown(asked(repo.root, everything))
    (repo.root / ".gitattributes").write_bytes(ATTRIBUTES)
    (repo.root / ".git/info/attributes").write_bytes(ATTRIBUTES)
    (repo.root / "sub/.gitattributes").write_bytes(b"*.evil filter=of-submodule\n")
    repo.config(trap.text() + "[extensions]\n\tworktreeConfig = true\n")
    (repo.root / ".git/config.worktree").write_text(WORKTREE.format(program=trap.program))
    for folder in (repo.root / ".git", repo.root / ".git/modules/sub"):
        for name in HOOKS:
            (folder / "hooks").mkdir(exist_ok=True)
            (folder / "hooks" / name).symlink_to(trap.program)
    with (repo.root / ".git/modules/sub/config").open("a") as file:
        file.write(trap.text().replace("evil", "of-submodule"))
    assert shown(asked(repo.root, everything)) == clean
    assert trap.run == []
    untracked = sorted([*NAMES, *(f"new-{name}" for name in NAMES)])
    assert [list(each) for each in clean] == [untracked, untracked, *[sorted(NAMES)] * 3]
    for name in NAMES:
        subprocess.run(["git", "diff", "--textconv", "--", name], cwd=repo.root, capture_output=True, check=False)
    subprocess.run(["git", "add", "--all"], cwd=repo.root, capture_output=True, check=False)
    assert trap.run, "the configuration would have run nothing anyway"


def test_no_program_runs_to_fetch_what_is_missing(repo: Repository, trap: Trap) -> None:
    blob = repo.git("rev-parse", "HEAD:plain")
    (repo.root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    repo.config(
        f'[extensions]\n\tpartialClone = evil\n[remote "evil"]\n\tpromisor = true\n\turl = {repo.root.parent / "other"}\n'
        f"\tuploadpack = {trap.program} </dev/null\n[protocol]\n\tallow = always\n[core]\n\trepositoryformatversion = 1\n"
    )
    with pytest.raises(FerruleError):
        asked(repo.root, commit)
    assert trap.run == []
    subprocess.run(["git", "cat-file", "blob", blob], cwd=repo.root, capture_output=True, check=False)
    assert trap.run, "the configuration would have run nothing anyway"


TASTES = """
[diff]
	noprefix = true
	mnemonicPrefix = true
	algorithm = patience
	renames = false
	context = 0
	interHunkContext = 50
	suppressBlankEmpty = true
	indentHeuristic = false
	orderFile = /dev/null
	relative = true
	wordRegex = .
	colorMoved = zebra
	dirstat = lines
	ignoreSubmodules = all
	statGraphWidth = 5
[color]
	ui = always
	diff = always
[core]
	quotePath = false
	commentChar = auto
	whitespace = trailing-space
	abbrev = 4
	safecrlf = true
[status]
	relativePaths = true
	showUntrackedFiles = no
[log]
	showSignature = true
[i18n]
	logOutputEncoding = latin1
[user]
	name = somebody
"""


@pytest.mark.parametrize("where", ["person", "repository"])
def test_nobody_s_taste_changes_a_diff(repo: Repository, where: str, isolated_environment: Path) -> None:
    repo.write("ü b", b"1\n\n2\n")
    repo.git("add", "--all")
    repo.git("mv", "-f", "plain", "renamed")
    plain = asked(repo.root, everything)
    if where == "person":
        (isolated_environment / ".gitconfig").write_text(TASTES)
    else:
        repo.config(TASTES)
    assert asked(repo.root, everything) == plain


@pytest.mark.parametrize("where", ["person", "repository"])
def test_converted_line_endings_are_no_change(tmp_path: Path, where: str, isolated_environment: Path) -> None:
    repo = repository(tmp_path / "repo")
    repo.write("a", b"1\n2\n")
    repo.commit()
    repo.write("a", b"1\r\n2\r\n3\r\n")
    text = "[core]\n\tautocrlf = true\n\tsafecrlf = true\n"
    if where == "person":
        (isolated_environment / ".gitconfig").write_text(text)
    else:
        repo.config(text)
    (file,) = asked(repo.root, worktree).diff.files
    assert [(line.kind, line.text) for line in file.hunks[0].lines] == [("context", "1"), ("context", "2"), ("added", "3")]


def test_a_person_s_ignored_files_stay_ignored(tmp_path: Path, isolated_environment: Path) -> None:
    repo = repository(tmp_path / "repo")
    repo.write("notes.mine", b"x\n")
    repo.write("seen", b"x\n")
    (isolated_environment / ".gitconfig").write_text("[core]\n\texcludesFile = ~/ignored\n")
    (isolated_environment / "ignored").write_text("*.mine\n")
    assert [file.path for file in asked(repo.root, worktree).diff.files] == ["seen"]


def test_variables_for_git_do_not_reach_it(repo: Repository, tmp_path: Path, trap: Trap) -> None:
    plain = asked(repo.root, everything)

    async def ask(git: Git) -> list[Comparison]:
        hostile = Git(git._processes, repo.root, tuple({**git._source, **variables}.items()))
        try:
            return await everything(hostile)
        finally:
            hostile.close()

    variables = {
        "GIT_EXTERNAL_DIFF": str(trap.program),
        "GIT_DIFF_OPTS": "--unified=0",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": str(trap.program),
        "GIT_CONFIG_PARAMETERS": f"'core.fsmonitor={trap.program}'",
        "GIT_SSH_COMMAND": str(trap.program),
        "GIT_TRACE": str(tmp_path / "trace"),
        "GIT_OBJECT_DIRECTORY": str(tmp_path),
        "GIT_NAMESPACE": "x",
        "GIT_DIR": str(tmp_path),
        "GIT_WORK_TREE": str(tmp_path),
        "GIT_LITERAL_PATHSPECS": "0",
        "GIT_GLOB_PATHSPECS": "1",
        "LC_ALL": "de_DE.UTF-8",
        "LANGUAGE": "de",
    }
    assert asked(repo.root, ask) == plain
    assert (trap.run, (tmp_path / "trace").exists()) == ([], False)


def test_replaced_commits_are_not_followed(repo: Repository) -> None:
    head, tree = repo.git("rev-parse", "HEAD"), repo.git("rev-parse", "HEAD^{tree}")
    plain = asked(repo.root, commit)
    environ = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in PERSON.items()}
    other = subprocess.run(
        ["git", "commit-tree", "-m", "y", tree], cwd=repo.root, env={**os.environ, **environ}, capture_output=True, check=True
    ).stdout.decode()
    repo.git("replace", head, other.strip())
    assert asked(repo.root, commit) == plain
