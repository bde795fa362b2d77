"""What a review by checks costs beside the checkers run by hand, and what reading a large diff costs."""

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
FILES, FILE_LINES = 500, 40
OFTEN = ".github/workflows/ci.yml"
WORKFLOW = "name: ci\non: push\npermissions: {}\njobs:\n  test:\n    runs-on: ubuntu-24.04\n    steps:\n      - run: make test\n"


def reviews() -> list[Row]:
    return [beside_the_checkers(), large_diff()]


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


READING = """
import resource, sys, time
from pathlib import Path
from ferrule.workspace.diff.anchors import Anchor, check
from ferrule.workspace.diff.model import Diff
from ferrule.workspace.diff.parse import parse
output = Path(sys.argv[1]).read_bytes()
began = time.process_time()
diff = Diff(parse(output).files)
lines = [(file.path, line) for file in diff.files for hunk in file.hunks for line in hunk.lines]
found = [check(diff, path, line.new) for path, line in lines if line.kind == "added"]
seconds = time.process_time() - began
exact = all(isinstance(each, Anchor) for each in found)
print(seconds, len(found) if exact else 0, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def large_diff() -> Row:
    """Parsed, and an anchor found for every added line, in a process of its own."""
    with repository() as (folder, environ):
        for number in range(FILES):
            (folder / f"f{number}.py").write_text("".join(f"value = {line}\n" for line in range(FILE_LINES * 3)))
        git(folder, environ, "add", "--all")
        git(folder, environ, "commit", "--quiet", "--message=second")
        for number in range(FILES):
            rows = [f"value = {'x' * (line % 3 == 0)}{line}\n" for line in range(FILE_LINES * 3)]
            (folder / f"f{number}.py").write_text("".join(rows))
        git(folder, environ, "add", "--all")
        git(folder, environ, "commit", "--quiet", "--message=third")
        patch = folder / "patch"
        patch.write_bytes(
            git(folder, environ, "diff-tree", "-r", "-z", "--raw", "--patch", "--full-index", "-M", "HEAD~1", "HEAD")
        )
        said = [run([sys.executable, "-c", READING, str(patch)], environ).out.split() for _ in range(RUNS)]
    seconds, count, peak = (sorted(float(each[place]) for each in said)[RUNS // 2] for place in range(3))
    reached = seconds <= 1 and peak <= 150 and count == FILES * FILE_LINES
    figure = f"{seconds:.2f} s, {peak:.0f} MB"
    return Row(
        f"diff of {FILES} files and {count:,.0f} added lines, parsed and anchored, CPU", figure, "", "≤ 1 s, ≤ 150 MB", reached
    )
