"""What a review by checks costs beside the checkers run by hand."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .measure import Cost, median, run
from .rows import FERRULE, RUNS, Row

BIN = Path(sys.executable).parent
SOURCE = Path(__file__).parents[1] / "src" / "ferrule"
QUIET = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
PERSON = {f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}

LINES = 2000
OFTEN = ".github/workflows/ci.yml"
WORKFLOW = "name: ci\non: push\npermissions: {}\njobs:\n  test:\n    runs-on: ubuntu-24.04\n    steps:\n      - run: make test\n"


@contextmanager
def repository() -> Iterator[tuple[Path, dict[str, str]]]:
    with tempfile.TemporaryDirectory(prefix="ferrule-bench-") as base:
        folder = Path(base) / "project"
        folder.mkdir()
        environ = {"PATH": f"{BIN}:{os.environ['PATH']}", "HOME": base, "FERRULE_HOME": f"{base}/state", **QUIET, **PERSON}
        git(folder, environ, "init", "--quiet", "--initial-branch=main")
        git(folder, environ, "commit", "--quiet", "--allow-empty", "--message=first")
        yield folder, environ


def git(folder: Path, environ: dict[str, str], *arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=folder, env=environ, check=True, capture_output=True).stdout


def change(folder: Path) -> int:
    """New files of several kinds, mostly Python from this very package; returns their lines."""
    (folder / OFTEN).parent.mkdir(parents=True)
    (folder / OFTEN).write_text(WORKFLOW)
    (folder / "settings.yaml").write_text("".join(f"key{number}: value\n" for number in range(60)))
    (folder / "settings.json").write_text("[\n" + ",\n".join('  {"a": 1}' for _ in range(60)) + "\n]\n")
    (folder / "guide.md").write_text("# Guide\n\n" + "A line of words.\n" * 60)
    lines = sum(len(path.read_text().splitlines()) for path in folder.rglob("*") if path.is_file() and ".git/" not in str(path))
    for number, path in enumerate(sorted(SOURCE.glob("workspace/**/*.py"))):
        text = path.read_text().splitlines(keepends=True)[: LINES - lines]
        (folder / f"module{number}.py").write_text("".join(text))
        lines += len(text)
    return lines


def beside_the_checkers() -> Row:
    """The checkers that are programs, one after the other on the same files; those that are ours count nothing."""
    with repository() as (folder, environ):
        lines = change(folder)
        files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and ".git/" not in str(path))
        python = [name for name in files if name.endswith(".py")]
        by_hand = [
            ["ruff", "check", "--no-cache", "--isolated", *python],
            ["typos", *files],
            ["detect-secrets", "scan", *files],
            ["zizmor", "--offline", "--quiet", OFTEN],
        ]
        hand = [sum(run([str(BIN / argv[0]), *argv[1:]], environ, str(folder)).wall for argv in by_hand) for _ in range(RUNS)]
        own = [review(folder, environ) for _ in range(RUNS)]
    reference, wall = sorted(hand)[RUNS // 2], median(own, lambda cost: cost.wall)
    ratio = wall / reference
    figure = f"{wall:.2f} s (by hand {reference:.2f})"
    return Row(f"review of {lines:,} lines by checks, wall", figure, f"{ratio:.2f} × by hand", "≤ 1.5 ×", ratio <= 1.5)


def review(folder: Path, environ: dict[str, str]) -> Cost:
    cost = run([FERRULE, "review", "--model", "builtin/checks", "--no-session"], environ, str(folder))
    if cost.exit_code != 0 or b"NOT RUN" in cost.out:
        raise RuntimeError(f"exit {cost.exit_code}: {cost.out.decode(errors='replace')[-500:]}")
    return cost
