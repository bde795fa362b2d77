"""A large diff, made by git, is parsed and every line of it anchored, in a process of its own."""

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from .measure import run

FILES, CHANGED, CONTEXT = 500, 17, 6
LINES = FILES * (2 * CHANGED + CONTEXT)
"""20,000: in each file 17 lines deleted, 17 added, and six around them."""


@dataclass(frozen=True)
class Figures:
    """Seconds and megabytes of the whole process, interpreter and imports with it; `exact` if it saw every line."""

    cpu: float
    peak: float
    exact: bool


def large_diff() -> Figures:
    """To be reached: 1 s and 150 MB."""
    with tempfile.TemporaryDirectory(prefix="ferrule-bench-") as folder:
        output = Path(folder) / "output"
        output.write_bytes(_diff(Path(folder) / "repository"))
        cost = run([sys.executable, "-c", f"from bench.diffs import anchor; anchor({str(output)!r})"])
    *counts, peak = cost.out.split()
    return Figures(cost.cpu, int(peak) / 1024, counts == [str(FILES).encode(), str(LINES).encode(), str(LINES).encode()])


def anchor(path: str) -> None:
    """Print how many files and lines the diff has, how many lines became anchors with a print of their own, and the peak."""
    from ferrule.workspace.diff.anchors import Anchor, check, fingerprint, snippet
    from ferrule.workspace.diff.model import Diff
    from ferrule.workspace.diff.parse import parse

    diff = Diff(parse(Path(path).read_bytes()).files)
    prints: set[str] = set()
    lines = 0
    for file in diff.files:
        for line in (line for hunk in file.hunks for line in hunk.lines):
            lines += 1
            found = check(diff, file.path, line.new or line.old, None, "RIGHT" if line.new else "LEFT")
            if isinstance(found, Anchor) and line in snippet(diff, found):
                prints.add(fingerprint(diff, found, "bench"))
    print(len(diff.files), lines, len(prints), own_peak())


def own_peak() -> int:
    """Kilobytes. What `wait4` tells of a child is no less than its parent's memory when it was started."""
    status = Path("/proc/self/status").read_text("utf-8")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))


def _diff(folder: Path) -> bytes:
    def file(number: int, word: str) -> bytes:
        changed = (f"    {word}_{number}_{row} = compute(first, second, {row})" for row in range(CHANGED))
        around = [f"    # context {number} {row}" for row in range(30)]
        return "\n".join([*around[:15], *changed, *around[15:], ""]).encode()

    def commit(name: str, word: str) -> bytes:
        entries = (
            b'M 100644 inline "package_%d/module_%d.py"\ndata %d\n%b\n' % (n % 20, n, len(data), data)
            for n, data in ((n, file(n, word)) for n in range(FILES))
        )
        return b"commit refs/heads/%b\ncommitter A <a@example.org> 0 +0000\ndata 0\n" % name.encode() + b"".join(entries) + b"\n"

    environ = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}

    def git(*arguments: str, feed: bytes = b"") -> bytes:
        done = subprocess.run(["git", "-C", str(folder), *arguments], env=environ, input=feed, stdout=subprocess.PIPE, check=True)
        return done.stdout

    folder.mkdir()
    git("init", "--quiet")
    git("fast-import", "--quiet", feed=commit("old", "before") + commit("new", "after"))
    return git("diff-tree", "-r", "-z", "--raw", "--patch", "--full-index", "-M", "old", "new")
