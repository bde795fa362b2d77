"""What a newcomer sees: `make run`, and the demonstration of a review."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.workspace.repository import Repository, repository

from .command import FERRULE, Ran, Shell

MAKEFILE = Path(__file__).parents[2] / "Makefile"
FOUND = [
    ("README.md", 3, "should-fix", "links/broken-link"),
    ("durations.py", 28, "should-fix", "ruff/B006"),
    ("durations.py", 31, "blocking", "ruff/T100"),
    ("durations.py", 32, "blocking", "ruff/F821"),
    ("limits.json", 3, "blocking", "json/parse-error"),
]


def test_the_demonstration_shows_findings_with_their_lines_and_says_that_no_model_reviewed(shell: Shell) -> None:
    ran = shell.run("demo", "review")
    assert ran.code == 0
    assert ran.err.startswith("This is a demonstration: a small change with faults in it")
    assert "reviewed without a model" in ran.err
    for path, line, severity, source in FOUND:
        assert f"  {severity}  {path}:{line}  {source}\n" in ran.out
    assert "    > 31 +    breakpoint()\n" in ran.out
    *_, who, coverage = ran.out.splitlines()
    assert who == "Reviewed by builtin/checks: by checks alone, nobody read the change for what it means."
    assert coverage.startswith("Coverage: 3 files of the change (3 full). Checked 10 changed lines in 3 files. ruff ")
    assert (os.listdir(shell.folder), list(shell.state.rglob("*.db"))) == ([], [])


def test_the_demonstration_is_told_to_programs_too(shell: Shell) -> None:
    ran = shell.run("demo", "review", "--output-format", "json", "--receipt", "../receipt.json")
    result = json.loads(ran.out)
    found = [(each["path"], each["line"], each["severity"], each["source"]) for each in result["findings"]]
    assert (ran.code, found, result["model"]) == (0, FOUND, "builtin/checks")
    receipt = json.loads((shell.folder.parent / "receipt.json").read_text())
    assert (receipt["terminal_action"], receipt["session_id"]) == ("submit_review", None)


def test_the_demonstration_has_its_own_settings(shell: Shell) -> None:
    refused = Ran(2, "", "ferrule: the demo has its own settings; leave --model out\n")
    assert shell.run("demo", "review", "--model", "x") == refused


@pytest.fixture
def clone(shell: Shell) -> Repository:
    """A repository with the Makefile of this one, where everything is installed already."""
    repo = repository(shell.folder)
    shutil.copy(MAKEFILE, repo.root)
    repo.write("pyproject.toml", b"")
    repo.write(".gitignore", b".venv\n")
    repo.write("a.py", b"import os\n\nprint(os.sep)\n")
    repo.commit()
    installed(repo.root)
    return repo


def installed(folder: Path) -> None:
    (folder / ".venv/bin").mkdir(parents=True)
    (folder / ".venv/bin/python").symlink_to(sys.executable)
    (folder / ".venv/bin/ferrule").symlink_to(FERRULE[0])
    (folder / ".venv/.product").touch()


def make_run(shell: Shell, folder: Path) -> Ran:
    done = subprocess.run(
        ["make", "run"], cwd=folder, env=shell.environ({}), capture_output=True, text=True, timeout=50, check=False
    )
    return Ran(done.returncode, done.stdout, done.stderr)


DEMONSTRATED = "  blocking  durations.py:31  ruff/T100\n"


def test_make_run_reviews_the_last_commit_and_shows_its_findings(shell: Shell, clone: Repository) -> None:
    clone.write("a.py", b"import os\n\nprint(os.sep, undefined)\n")
    head = clone.commit()
    clone.write("later.py", b"print(unknown)\n")
    ran = make_run(shell, clone.root)
    assert ran.code == 0, ran
    assert "  blocking  a.py:3  ruff/F821\n" in ran.out
    assert f"\n1 blocking in commit {head[:12]}.\nReviewed by builtin/checks:" in ran.out
    assert ran.out.splitlines()[-1].startswith("Coverage: 1 file of the change (1 full). Checked 1 changed line in 1 file.")
    assert "later.py" not in ran.out and DEMONSTRATED not in ran.out


def test_make_run_needs_neither_a_key_nor_a_model_and_asks_none(shell: Shell, clone: Repository) -> None:
    clone.write("a.py", b"import os\n\nprint(os.sep, undefined)\n")
    clone.commit()
    shell.config.parent.mkdir(parents=True)
    shell.config.write_text('model = "openai/m"\n')
    assert "Reviewed by builtin/checks:" in make_run(shell, clone.root).out


def test_make_run_goes_on_to_a_faulty_change_where_the_last_commit_has_no_findings(shell: Shell, clone: Repository) -> None:
    clone.write("a.py", b"import os\n\nprint(os.linesep)\n")
    clone.commit()
    ran = make_run(shell, clone.root)
    own, _, demonstration = ran.out.partition("\n\nREADME.md\n")
    assert ran.code == 0, ran
    assert "Coverage: 1 file of the change (1 full). Checked 1 changed line in 1 file. ruff " in own
    assert DEMONSTRATED in demonstration and "\nCoverage: 3 files of the change" in demonstration


def test_make_run_is_useful_in_a_shallow_clone(shell: Shell, clone: Repository) -> None:
    clone.write("a.py", b"import os\n\nprint(os.sep, undefined)\n")
    clone.commit()
    clone.git("clone", "--quiet", "--depth=1", f"file://{clone.root}", str(shell.folder.parent / "shallow"))
    installed(shell.folder.parent / "shallow")
    ran = make_run(shell, shell.folder.parent / "shallow")
    assert ran.code == 0, ran
    assert "`git fetch --deepen=1` gets it." in ran.err
    assert DEMONSTRATED in ran.out and "\nCoverage: 3 files of the change" in ran.out


def test_make_run_is_useful_without_a_repository(shell: Shell, clone: Repository) -> None:
    shutil.rmtree(clone.root / ".git")
    ran = make_run(shell, clone.root)
    assert ran.code == 0, ran
    assert "is not in a git repository" in ran.err
    assert DEMONSTRATED in ran.out and "\nCoverage: 3 files of the change" in ran.out
