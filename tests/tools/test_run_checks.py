import asyncio
import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from ferrule.process.protocol import allowed_environment
from ferrule.process.supervisor import Supervisor
from ferrule.store.blobs import FileBlobs
from ferrule.tools.base import Place, ToolContext
from ferrule.tools.checks.run_checks import RunChecks, run_checks_tool
from ferrule.types.errors import ToolError, UsageError
from ferrule.types.tools import Action, Effect
from ferrule.workspace.checkers.base import Changed, Report
from ferrule.workspace.checkers.catalog import checkers
from ferrule.workspace.checkers.run import run_all
from ferrule.workspace.checkers.subject import Subject, subject
from ferrule.workspace.git.changes import worktree
from ferrule.workspace.git.repository import Git


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "work"
    root.mkdir()
    (root / "a.py").write_text("import os\n\nprint(os.sep)\n")
    (root / "run.sh").write_text("#!/bin/sh\ntrue\n")
    (root / "run.sh").chmod(0o755)
    (root / "ruff.toml").write_text('lint.ignore = ["F841"]\n')
    (root / "README.md").write_text("[a](a.py)\n")
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "first")
    return root


def git(root: Path, *arguments: str) -> None:
    who = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@b"}
    subprocess.run(["git", *arguments], cwd=root, check=True, env={**os.environ, **who}, capture_output=True)


@asynccontextmanager
async def working_tree(params: RunChecks, context: ToolContext) -> AsyncIterator[Subject]:
    """The working tree against the commit that is checked out, or `base`."""
    git = Git(context.processes, context.place.root, context.environment)
    try:
        paths = tuple(context.place.resolve(path) for path in params.paths)
        yield await subject(git, await worktree(git, params.base, paths))
    finally:
        git.close()


def checked(root: Path, params: RunChecks | None = None) -> tuple[str, Report]:
    """The text of a call on the working tree, and its report."""
    reports: list[Report] = []

    async def run() -> str:
        processes = Supervisor()
        context = ToolContext(Place(root), processes, FileBlobs(root.parent / "blobs"), allowed_environment(os.environ))
        try:
            output = await run_checks_tool(working_tree).run(params or RunChecks(), context)
            async with working_tree(params or RunChecks(), context) as given:
                around = (context.environment, given.base_file, given.exists)
                reports.append(await run_all(given.files, checkers(), processes, *around))
        finally:
            await processes.close()
        assert output.kind == "ok"
        return "\n".join(part.text for part in output.parts)  # type: ignore[union-attr]  # only text

    return asyncio.run(run()), reports[0]


def test_a_clean_working_tree_says_what_was_checked(repository: Path) -> None:
    (repository / "a.py").write_text("import os\n\nprint(os.linesep)\n")
    text, _ = checked(repository)
    assert text.startswith("No findings.\n\nCoverage: Checked 1 changed line in 1 file. ruff ")
    assert "NOT RUN" not in text and "skipped" not in text


def test_nothing_changed_is_told_as_nothing_checked(repository: Path) -> None:
    assert checked(repository)[0] == "No findings.\n\nCoverage: Checked 0 changed lines in 0 files."


def test_findings_stand_below_their_files_with_lines_severities_and_rules(repository: Path) -> None:
    (repository / "a.py").write_text("import os\nimport re\n\nprint(os.sep, z)\n")
    (repository / "new.md").write_text("[b](gone.py)\n[a](a.py)\n")
    (repository / "run.sh").chmod(0o644)
    text, report = checked(repository)
    body = text.rpartition("\n\nCoverage: ")[0]
    assert body == (
        "4 findings.\n\n"
        "# a.py\n"
        "    2 | nit | `re` imported but unused [ruff F401]\n"
        "    4 | blocking | Undefined name `z` [ruff F821]\n\n"
        "# new.md\n"
        "    1 | should-fix | This link leads to `gone.py`, which does not exist. [links broken-link]\n\n"
        "# run.sh\n"
        " file | should-fix | This script is no longer executable, but begins with `#!`. [modes script-not-executable]"
    )
    assert len(report.findings) == 4


def test_rules_come_from_the_commit_and_not_from_the_working_tree(repository: Path) -> None:
    (repository / "a.py").write_text("import os\n\n\ndef f():\n    x = 1\n    return z\n\n\nprint(os.sep)\n")
    (repository / "ruff.toml").write_text('lint.ignore = ["ALL"]\nexclude = ["*"]\n')
    assert [each.rule for each in checked(repository)[1].findings] == ["F821"]


def test_a_renamed_file_is_judged_on_its_changed_lines(repository: Path) -> None:
    (repository / "long.py").write_text("import os\n" + "".join(f"a{n} = {n}\n" for n in range(40)))
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "second")
    (repository / "long.py").rename(repository / "moved.py")
    with (repository / "moved.py").open("a") as file:
        file.write("print(z)\n")
    found = checked(repository)[1].findings
    assert [(each.path, each.line, each.rule) for each in found] == [("moved.py", 42, "F821")]


def test_base_and_paths_choose_what_is_checked(repository: Path) -> None:
    (repository / "b.py").write_text("print(z)\n")
    (repository / "c.py").write_text("print(z)\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "second")
    assert checked(repository)[1].findings == ()
    assert [each.path for each in checked(repository, RunChecks(base="HEAD~1", paths=("c.py",)))[1].findings] == ["c.py"]


def test_binary_large_and_linked_files_are_told(repository: Path) -> None:
    (repository / "photo.png").write_bytes(b"\x89PNG\0\0")
    (repository / "big.txt").write_bytes(b"x" * 2_000_000)
    (repository / "link.py").symlink_to("a.py")
    (repository / "a.py").unlink()
    text, report = checked(repository)
    assert [(each.path, each.rule) for each in report.findings] == [("big.txt", "large-file")]
    assert {(each.path, each.reason) for each in report.coverage.skipped} == {
        ("a.py", "deleted"),
        ("big.txt", "larger than 1048576 bytes"),
        ("link.py", "a symbolic link"),
        ("photo.png", "binary"),
    }
    assert "skipped a.py (deleted); big.txt (larger than 1048576 bytes); link.py (a symbolic link); photo.png (binary)." in text


def test_names_that_are_not_utf8_are_checked(repository: Path) -> None:
    Path(os.fsdecode(os.fsencode(repository) + b"/caf\xe9.py")).write_text("print(z)\n")
    found = checked(repository)[1].findings
    assert [(each.path, each.rule) for each in found] == [("caf\N{REPLACEMENT CHARACTER}E9.py", "F821")]


@pytest.mark.parametrize("params", [RunChecks(base="gone"), RunChecks(paths=("gone.py",)), RunChecks(paths=("../..",))])
def test_what_cannot_be_compared_is_refused(repository: Path, params: RunChecks) -> None:
    with pytest.raises(ToolError):
        checked(repository, params)


def test_a_folder_without_repository_is_refused(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    with pytest.raises(ToolError):
        checked(tmp_path.resolve() / "work")


def test_the_tool_reads_the_workspace_and_its_source_is_closed(tmp_path: Path) -> None:
    closed: list[bool] = []

    @asynccontextmanager
    async def source(params: RunChecks, context: ToolContext) -> AsyncIterator[Subject]:
        async def none(path: str) -> None:
            return None

        async def no(path: str) -> bool:
            return False

        try:
            if params.base:
                raise UsageError("no such commit")
            yield Subject((Changed("a.txt", b"x\n", None, (1,)),), none, no, ("A note.",))
        finally:
            closed.append(True)

    async def run(params: RunChecks) -> str:
        processes = Supervisor()
        context = ToolContext(Place(tmp_path), processes, FileBlobs(tmp_path / "blobs"), ())
        try:
            return (await tool.run(params, context)).parts[0].text  # type: ignore[union-attr]  # only text
        finally:
            await processes.close()

    tool = run_checks_tool(source)
    assert asyncio.run(run(RunChecks())).startswith("No findings.\nA note.\n\nCoverage: Checked 1 changed line in 1 file.")
    with pytest.raises(ToolError, match="no such commit"):
        asyncio.run(run(RunChecks(base="x")))
    assert closed == [True, True]
    place = Place(tmp_path)
    assert (tool.effect, tool.actions(RunChecks(), place)) == (Effect.READ, (Action("read", (str(tmp_path),)),))
    assert tool.actions(RunChecks(paths=("/etc",)), place) == (Action("read", (str(tmp_path), "/etc")),)
