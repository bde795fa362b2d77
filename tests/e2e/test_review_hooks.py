import os
import subprocess
import sys
from pathlib import Path

import pytest

from .driving import COMMAND, Project, Ran
from .reviewing import CHANGED, FIRST, PERSON, QUIET, Reviewed

ROOT = Path(__file__).parents[2]
PRE_COMMIT = (sys.executable, "-m", "pre_commit")


@pytest.fixture
def repo(project: Project) -> Reviewed:
    return Reviewed(project.base)


def command(repo: Reviewed, *words: str) -> Ran:
    """As a person's shell runs it, with `ferrule` on the path."""
    path = os.pathsep.join([str(Path(COMMAND[0]).parent), os.environ["PATH"]])
    environ = repo.environ(
        {**QUIET, **PERSON, "PATH": path, "PRE_COMMIT_HOME": str(repo.home / "pre-commit"), "GIT_EDITOR": "true"}
    )
    done = subprocess.run(words, cwd=repo.folder, env=environ, capture_output=True, text=True, timeout=50, check=False)
    return Ran(done.returncode, done.stdout, done.stderr)


def hooked(repo: Reviewed) -> None:
    """pre-commit is installed in the repository with our hook, which takes the command that is installed already."""
    source = Reviewed(repo.base / "hooks")
    manifest = (ROOT / ".pre-commit-hooks.yaml").read_text()
    source.write(".pre-commit-hooks.yaml", manifest.replace("language: python", "language: unsupported"))
    rev = source.commit()
    repo.write(".pre-commit-config.yaml", f"repos:\n- repo: {source.folder}\n  rev: {rev}\n  hooks:\n  - id: ferrule-review\n")
    repo.commit()
    assert command(repo, *PRE_COMMIT, "install").code == 0


def test_pre_commit_takes_our_manifest(repo: Reviewed) -> None:
    ran = command(repo, *PRE_COMMIT, "validate-manifest", str(ROOT / ".pre-commit-hooks.yaml"))
    assert ran.code == 0, ran


def test_a_commit_with_a_blocking_finding_is_stopped_and_one_without_is_made(repo: Reviewed) -> None:
    hooked(repo)
    before = repo.git("rev-parse", "HEAD")
    repo.write("a.py", CHANGED)
    repo.git("add", "a.py")
    repo.write("a.py", FIRST)
    stopped = command(repo, "git", "commit", "-m", "x")
    assert (stopped.code, repo.git("rev-parse", "HEAD")) == (1, before), stopped
    said = stopped.out + stopped.err
    assert "- exit code: 10" in said
    assert "blocking  a.py:4" in said and "2 blocking, 1 nit in what is staged against" in said
    assert (repo.folder / "a.py").read_text() == FIRST
    repo.write("a.py", "import os\n\nprint(os.linesep)\n")
    made = command(repo, "git", "commit", "-a", "-m", "x")
    assert made.code == 0, made
    assert "ferrule review...." in made.out + made.err
    assert repo.git("log", "--format=%s", f"{before}..HEAD") == "x"


def test_a_hook_reviews_what_the_commit_is_made_of(repo: Reviewed) -> None:
    repo.put("b.py", FIRST)
    repo.commit()
    hook = repo.folder / ".git/hooks/pre-commit"
    hook.write_text("#!/bin/sh\nexec ferrule review --staged --fail-on blocking --output-format json\n")
    hook.chmod(0o755)
    repo.write("a.py", CHANGED)
    repo.git("add", "a.py")
    repo.put("b.py", "import os\n\nprint(os.linesep)\n")
    part = command(repo, "git", "commit", "-m", "only b", "--", "b.py")
    assert part.code == 0, part
    said = part.out + part.err
    assert "b.py" in said and "a.py" not in said
    whole = command(repo, "git", "commit", "-m", "a too")
    assert whole.code == 1
    assert repo.git("status", "--porcelain") == "M  a.py"
