"""One function a row. Each returns what was measured and what is to be reached."""

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.fakes.server import FakeServer

from .measure import Cost, bare_python, median, run

FERRULE = str(Path(sys.executable).parent / "ferrule")
RUNS = 5


@dataclass(frozen=True)
class Row:
    name: str
    figure: str
    ratio: str
    reach: str
    reached: bool


@contextmanager
def workplace() -> Iterator[tuple[Path, dict[str, str]]]:
    """An empty project folder and an environment of its own."""
    with tempfile.TemporaryDirectory(prefix="ferrule-bench-") as base:
        folder = Path(base) / "project"
        folder.mkdir()
        environ = {"PATH": os.environ["PATH"], "HOME": base, "FERRULE_HOME": f"{base}/state", "OPENAI_API_KEY": "bench-key-0000"}
        yield folder, environ


def task(script: dict[str, Any], check: bool = True) -> tuple[Cost, FakeServer, Path]:
    """One headless run against a loopback server that plays `script`."""
    with workplace() as (folder, environ), FakeServer(script) as server:
        argv = [FERRULE, "-p", "Do the work.", "--model", "openai/bench", "--approve", "all", "-C", str(folder)]
        cost = run(argv, {**environ, "OPENAI_BASE_URL": f"{server.url}/v1"})
        if check and cost.exit_code != 0:
            raise RuntimeError(f"exit {cost.exit_code}: {cost.out.decode(errors='replace')}")
        produced = {path.name: path.read_bytes() for path in folder.iterdir()}
        server.produced = produced  # type: ignore[attr-defined]
        return cost, server, folder


def completion(text: str = "Done.") -> dict[str, Any]:
    return {"calls": [{"name": "attempt_completion", "arguments": {"result": text}}], "usage": {"input": 10, "output": 5}}


def turns(count: int) -> dict[str, Any]:
    """`true` with a running number: the same call with the same result again and again would rightly be stopped as stuck."""
    calls = [
        {
            "calls": [{"name": "execute_command", "arguments": {"command": f"true {number}"}}],
            "usage": {"input": 10, "output": 5},
        }
        for number in range(count)
    ]
    return {"version": 1, "steps": [*calls, completion()]}


def version() -> Row:
    python = bare_python()
    own = [run([FERRULE, "--version"]) for _ in range(15)]
    ratio = median(own, lambda cost: cost.wall) / median(python, lambda cost: cost.wall)
    return Row(
        "`--version`, wall", f"{median(own, lambda cost: cost.wall) * 1000:.0f} ms", f"{ratio:.1f} × python", "≤ 4 ×", ratio <= 4
    )


def one_turn() -> list[Row]:
    python = bare_python()
    base = median(python, lambda cost: cost.cpu)
    costs = [task({"version": 1, "steps": [completion()]})[0] for _ in range(RUNS)]
    cpu, peak, wall = (median(costs, key) for key in (lambda c: c.cpu, lambda c: c.peak, lambda c: c.wall))
    allowed = 0.26 / 0.009
    return [
        Row(
            "one turn, CPU",
            f"{cpu:.3f} s (wall {wall:.2f})",
            f"{cpu / base:.1f} × python",
            f"≤ {allowed:.0f} × (0.26 s)",
            cpu / base <= allowed,
        ),
        Row(
            "one turn, peak memory",
            f"{peak:.0f} MB",
            f"{peak / median(python, lambda c: c.peak):.1f} × python",
            "≤ 60 MB",
            peak <= 60,
        ),
    ]


def per_turn() -> list[Row]:
    few = [task(turns(50)) for _ in range(3)]
    many = [task(turns(200)) for _ in range(3)]
    cpu = (median([c for c, _, _ in many], lambda c: c.cpu) - median([c for c, _, _ in few], lambda c: c.cpu)) / 150 * 1000
    gaps = [gap for _, server, _ in many for gap in server_gaps(server)]
    gap = statistics.median(gaps)
    first = statistics.median(g for _, server, _ in many for g in server_gaps(server)[:20])
    last = statistics.median(g for _, server, _ in many for g in server_gaps(server)[-20:])
    growth = median([c for c, _, _ in many], lambda c: c.peak) - median([c for c, _, _ in few], lambda c: c.peak)
    base = median(bare_python(), lambda c: c.cpu) * 1000
    return [
        Row("per turn, 50 → 200 `true`, CPU", f"{cpu:.1f} ms", f"{cpu / base:.2f} × python", "≤ 8 ms", cpu <= 8),
        Row("gap from answer to next request", f"{gap:.1f} ms", f"{gap / base:.2f} × python", "≤ 8 ms", gap <= 8),
        Row(
            "gap, first 20 → last 20", f"{first:.1f} → {last:.1f} ms", f"{last / first:.2f}", "flat (≤ 1.3)", last / first <= 1.3
        ),
        Row("memory growth 50 → 200", f"{growth:.1f} MB", "", "≤ 10 MB", growth <= 10),
    ]


def server_gaps(server: FakeServer) -> list[float]:
    """Milliseconds from the end of an answer to the arrival of the next request."""
    requests = [request for request in server.requests if request.method == "POST"]
    pairs = pairwise(requests)
    return [(after.arrived - before.ended) * 1000 for before, after in pairs if before.ended is not None]


def big_write() -> Row:
    content = "".join(f"line {number:05d} of a file that a model writes in one call\n" for number in range(4000))[:200_000]
    assert len(content) == 200_000

    def script(text: str) -> dict[str, Any]:
        write = {"calls": [{"name": "write_to_file", "arguments": {"path": "big.txt", "content": text}}], "chunk": 24}
        return {"version": 1, "steps": [write, completion()]}

    small = [task(script("x")) for _ in range(RUNS)]
    large = [task(script(content)) for _ in range(RUNS)]
    exact = all(server.produced == {"big.txt": content.encode()} for _, server, _ in large)  # type: ignore[attr-defined]
    added = median([c for c, _, _ in large], lambda c: c.cpu) - median([c for c, _, _ in small], lambda c: c.cpu)
    base = median(bare_python(), lambda c: c.cpu)
    said = "file exact" if exact else "FILE DIFFERS"
    return Row(
        "200 kB write in 24-byte deltas, added CPU",
        f"{added:.3f} s, {said}",
        f"{added / base:.1f} × python",
        "≤ 0.15 s",
        exact and added <= 0.15,
    )


def repair() -> Row:
    from ferrule.context.pairing import repair as repair_messages
    from ferrule.types.messages import Assistant, Message, Results, Text, ToolCall, ToolResult, User

    def damaged(turns: int) -> list[Message]:
        messages: list[Message] = [User((Text("go"),))]
        for number in range(turns):
            id = f"call_{number:06d}"
            messages.append(Assistant((Text("step"), ToolCall(id, "read_file", "{}")), "calls", "m"))
            messages.append(User((Text("in between"),)))
            if number % 3:
                messages.append(Results((ToolResult(id, "read_file", "ok", (Text("x"),)),)))
        return messages

    def seconds(turns: int) -> float:
        messages = damaged(turns)
        began = time.perf_counter()
        repair_messages(messages)
        return time.perf_counter() - began

    half, whole = seconds(18_750), seconds(37_500)
    linear = whole / half < 3
    return Row(
        "repair of 100,000 damaged messages",
        f"{whole:.2f} s",
        f"{whole / half:.1f} × half of them",
        "linear, ≤ 0.5 s",
        linear and whole <= 0.5,
    )


def read_far() -> list[Row]:
    """2000 lines at line 5,000,000 of a 1 GB file, beside sed; memory beside a process that only imports the reader."""
    with tempfile.TemporaryDirectory(prefix="ferrule-bench-") as base:
        path = Path(base) / "big.log"
        line = b"%07d " + b"some words of a log line that is neither short nor long; " * 2 + b"\n"
        with path.open("wb") as file:
            for block in range(0, 8_400_000, 10_000):
                file.write(b"".join(line % number for number in range(block, block + 10_000)))
        size = path.stat().st_size / 1e9
        run(["cat", str(path)])
        sed = [run(["sed", "-n", "5000000,5001999p;5002000q", str(path)]) for _ in range(3)]
        program = "from bench.reading import far; far({path!r}, {read})"
        own = [run([sys.executable, "-c", program.format(path=str(path), read=True)]) for _ in range(3)]
        idle = run([sys.executable, "-c", program.format(path=str(path), read=False)])
        first, second, exact = (float(word) for word in own[-1].out.split())
    wall = median(sed, lambda c: c.wall)
    ratio = first / wall
    more = median(own, lambda c: c.peak) - idle.peak
    return [
        Row(
            f"read_file at line 5,000,000 of {size:.1f} GB",
            f"{first:.2f} s (sed {wall:.2f})",
            f"{ratio:.2f} × sed",
            "≤ 1.5 ×",
            ratio <= 1.5 and exact == 1,
        ),
        Row("its memory, more than idle", f"{more:.1f} MB", "", "≤ 10 MB", more <= 10),
        Row("the next page", f"{second * 1000:.0f} ms", "", "≤ 50 ms", second <= 0.05),
    ]


def review() -> Row:
    """By checks alone, beside these checkers run by hand."""
    from .reviews import beside_the_checkers

    return beside_the_checkers()


def large_diff() -> Row:
    """Every line of it anchored; of the whole process, interpreter and imports with it."""
    from .diffs import FILES, LINES
    from .diffs import large_diff as measure

    base = median(bare_python(), lambda cost: cost.cpu)
    figures = [measure() for _ in range(3)]
    cpu, peak = (statistics.median(of) for of in zip(*((each.cpu, each.peak) for each in figures), strict=True))
    exact = all(each.exact for each in figures)
    return Row(
        f"diff of {FILES} files and {LINES:,} lines, parsed and anchored",
        f"{cpu:.2f} s CPU, {peak:.0f} MB{'' if exact else ', LINES MISSING'}",
        f"{cpu / base:.0f} × python",
        "≤ 1 s, ≤ 150 MB",
        exact and cpu <= 1 and peak <= 150,
    )
