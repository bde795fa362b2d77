"""Many blocks in one large file, and the same change as a patch, beside `git apply`."""

import asyncio
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from ferrule.process.supervisor import Supervisor
from ferrule.store.blobs import FileBlobs
from ferrule.tools.base import Place, Tool, ToolContext
from ferrule.tools.edit.apply_diff import ApplyDiff, apply_diff
from ferrule.tools.edit.apply_patch import ApplyPatch, apply_patch

from .rows import RUNS, Row

LINES, BLOCKS = 20_000, 20
EVERY = LINES // BLOCKS


def source() -> list[str]:
    """Every line occurs many times, as braces and returns do in code."""
    return [f"    value_{number % 1000} = compute({number % 7})  # line of a generated file" for number in range(LINES)]


def changed() -> list[str]:
    return [line.replace("compute", "computed") if number % EVERY == EVERY // 2 else line for number, line in enumerate(source())]


def blocks() -> str:
    old, new = source(), changed()
    found: list[str] = []
    for at in range(EVERY // 2, LINES, EVERY):
        first = at - 3
        search, replaced = ("\n".join(lines[first : at + 4]) for lines in (old, new))
        found.append(f"<<<<<<< SEARCH\n:start_line:{first + 1}\n-------\n{search}\n=======\n{replaced}\n>>>>>>> REPLACE\n")
    return "".join(found)


def patch() -> str:
    from difflib import unified_diff

    lines = unified_diff([f"{line}\n" for line in source()], [f"{line}\n" for line in changed()], "a/large.py", "b/large.py")
    return "".join(lines)


def editing() -> list[Row]:
    """Each time in a new file, written durably; what looks for new problems is another thing."""
    with tempfile.TemporaryDirectory(prefix="ferrule-bench-") as base:
        folder = Path(base).resolve()
        written = patch()
        (folder / "large.patch").write_text(written)
        git = _median(folder, lambda: subprocess.run(["git", "apply", "large.patch"], cwd=folder, check=True))
        context = ToolContext(Place(folder), Supervisor(), FileBlobs(folder / "blobs"), ())
        by_blocks = _median(folder, _call(apply_diff, ApplyDiff("large.py", blocks()), context))
        by_patch = _median(folder, _call(apply_patch, ApplyPatch(written), context))
    return [
        _row(f"`apply_diff`, {BLOCKS} blocks in {LINES:,} lines", by_blocks, git),
        _row("the same by `apply_patch`", by_patch, git),
    ]


def _call(tool: Callable[[], Tool], params: object, context: ToolContext) -> Callable[[], object]:
    return lambda: asyncio.run(tool().run(params, context))  # type: ignore[arg-type]  # runs are coroutines


def _median(folder: Path, act: Callable[[], object]) -> float:
    """Milliseconds; the result of each is looked at."""
    took: list[float] = []
    for _ in range(RUNS):
        (folder / "large.py").write_text("\n".join(source()) + "\n")
        began = time.perf_counter()
        act()
        took.append((time.perf_counter() - began) * 1000)
        if (folder / "large.py").read_text() != "\n".join(changed()) + "\n":
            raise RuntimeError("the file is not what the change makes it")
    return statistics.median(took)


def _row(name: str, own: float, git: float) -> Row:
    return Row(name, f"{own:.0f} ms (git apply {git:.0f})", f"{own / git:.1f} × git apply", "≤ 50 ms", own <= 50)
