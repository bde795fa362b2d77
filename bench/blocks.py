"""The block around a line of a large file, beside what `sed` takes to print the same lines."""

import asyncio
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from ferrule.process.supervisor import Supervisor
from ferrule.tools.read.block import Block, block_page
from ferrule.workspace.lines import LineReader
from ferrule.workspace.outline.base import Wanted
from ferrule.workspace.reading.child import Hands

from .rows import Row

CLASSES, METHODS, STATEMENTS = 497, 10, 18
"""Of the generated file; blank lines make up what lacks to 100,000."""
ANCHORS = (50, 25_031, 50_017, 75_090, 99_800)


def source() -> str:
    """100,000 lines of classes with methods of nested blocks."""
    parts = ["import os\nimport sys\n"]
    for number in range(CLASSES):
        parts.append(f"class Class{number}(Base):\n")
        for method in range(METHODS):
            parts.append(f"    def method_{method}(self, value):\n        if value:\n")
            parts += [f"            self.step_{at} = value + {at}  # what this statement does\n" for at in range(STATEMENTS)]
    text = "".join(parts)
    return text + "\n" * (100_000 - text.count("\n"))


def block() -> Row:
    """Each time with a reader that has seen nothing; a method, and the class around it."""
    with tempfile.TemporaryDirectory(prefix="ferrule-bench-") as base:
        path = Path(base) / "large.py"
        path.write_text(source())
        own, by_sed = [], []
        exact = True
        for anchor in ANCHORS:
            for levels in (2, 0):
                began = time.perf_counter()
                text = asyncio.run(_block(path, anchor, levels))
                own.append(time.perf_counter() - began)
                exact &= f"{anchor} | " in text and f"lines {anchor}-{anchor}" not in text and "| import os" in text
            began = time.perf_counter()
            subprocess.run(["sed", "-n", f"{anchor},{anchor + 200}p", str(path)], check=True, stdout=subprocess.DEVNULL)
            by_sed.append(time.perf_counter() - began)
    middle, worst = statistics.median(own) * 1000, max(own) * 1000
    sed = statistics.median(by_sed) * 1000
    return Row(
        "a block in a 100,000-line file",
        f"{middle:.0f} ms (worst {worst:.0f}; sed {sed:.0f})" + ("" if exact else ", LINES MISSING"),
        f"{middle / sed:.1f} × sed",
        "≤ 50 ms",
        exact and middle <= 50,
    )


async def _block(path: Path, anchor: int, levels: int) -> str:
    processes = Supervisor()
    try:
        hands = Hands(processes, (), path.parent)
        return await block_page(LineReader(), path, path.name, Block(anchor, Wanted(levels), 256_000), hands)
    finally:
        await processes.close()
