"""Names found in a project of 200,000 files, beside `rg --files` and `fzf --filter`, and contents beside `rg --json`."""

import asyncio
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from .diffs import own_peak
from .measure import run
from .rows import Row

if TYPE_CHECKING:
    from ferrule.workspace.finding.finder import Finder

FILES, FOLDERS, IGNORED = 200_000, 9_500, 10_000
WORDS = """
    user auth login token session handler service model view controller route util helper parser lexer index search query cache
    store queue worker task job event stream client server config schema test mock data graph node edge tree list map file path
    report invoice order cart payment account profile image render layout widget button form table chart export import sync
""".split()  # noqa: SIM905 one word a name reads better than a quoted list
ENDINGS = ("py", "ts", "tsx", "go", "rs", "md", "json", "java", "c", "h", "css", "yaml")
RULES = "node_modules/ __pycache__/ *.pyc *.log /build/ /dist/ .venv/ *.egg-info/ .DS_Store *.swp coverage/ .cache/ *.tmp"
QUERIES = ("ush", "userhandler1", "authrt", "u", "session store", "mod/usr", "zzzz")
NEEDLE = "the needle of the bench"
TIMES = 5
BESIDE = Path(sys.executable).parent


def plant(root: Path) -> None:
    """Always the same tree."""
    chance = random.Random(7)
    folders = [str(root)]
    while len(folders) < FOLDERS:
        folder = f"{chance.choice(folders[-3000:])}/{chance.choice(WORDS)}_{chance.choice(WORDS)}{chance.randrange(100)}"
        if folder.count("/") - str(root).count("/") <= 8 and not Path(folder).exists():
            Path(folder).mkdir(parents=True)
            folders.append(folder)
    text = "".join(f"{chance.choice(WORDS)} = {chance.choice(WORDS)}({chance.choice(WORDS)})\n" for _ in range(12)).encode()
    for number in range(FILES - 1):
        name = f"{chance.choice(WORDS)}{chance.choice('_-')}{chance.choice(WORDS)}{number % 1000}_{number // 1000}"
        write(f"{chance.choice(folders)}/{name}.{chance.choice(ENDINGS)}", text + NEEDLE.encode() * (number % 1000 == 0))
    for number in range(IGNORED):
        write(f"{root}/node_modules/{number % 300}/{number}.js", text)
    write(f"{root}/.gitignore", RULES.replace(" ", "\n").encode())


def write(path: str, content: bytes) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_CREAT | os.O_WRONLY)
    os.write(descriptor, content)
    os.close(descriptor)


def finding() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="ferrule-bench-") as base:
        root = Path(base).resolve() / "project"
        root.mkdir()
        plant(root)
        listing = [str(BESIDE / "rg"), "--files", "--hidden", "--no-require-git", "--glob=!.git"]
        listed, firsts, figures = [], [], {}
        for _ in range(TIMES):
            listed.append(run(listing, cwd=str(root)).wall)
            program = f"from bench.finding import measure; measure({str(root)!r}, {len(firsts) == TIMES - 1})"
            figures = json.loads(run([sys.executable, "-c", program]).out)
            firsts.append(figures["first"])
        names = Path(base) / "names"
        names.write_bytes(run(listing, cwd=str(root)).out)
        return [*_names(listed, firsts, figures, names), _contents(root)]


def _names(listed: list[float], firsts: list[float], figures: dict[str, float], names: Path) -> list[Row]:
    ratio = statistics.median(firsts) / statistics.median(listed)
    beside = {query: fzf(query, names) for query in QUERIES}
    worst = max(QUERIES, key=lambda query: figures[query] / beside[query])
    slowest = max(figures[query] for query in QUERIES) * 1000
    of_fzf = figures[worst] / beside[worst]
    update, peak = figures["update"] * 1000, figures["peak"]
    return [
        Row(
            f"first index of {FILES:,} files",
            f"{statistics.median(firsts):.2f} s (rg --files {statistics.median(listed):.2f}), "
            f"first query answered after {figures['answered']:.2f} s",
            f"{ratio:.2f} × rg",
            "≤ 1.5 ×",
            ratio <= 1.5,
        ),
        Row(
            "a warm fuzzy query among them, the slowest",
            f"{slowest:.0f} ms",
            f"{of_fzf:.2f} × fzf at most (`{worst}`)",
            "≤ 0.5 ×, ≤ 50 ms",
            of_fzf <= 0.5 and slowest <= 50,
        ),
        Row("index update after one change", f"{update:.0f} ms", "", "≤ 50 ms", update <= 50),
        Row("peak memory of the whole process", f"{peak:.0f} MB", "", "≤ 150 MB", peak <= 150),
    ]


def fzf(query: str, names: Path) -> float:
    """Seconds that the program takes over the same names, which it reads from a file."""
    argv = ["sh", "-c", 'exec "$0" --filter "$1" --scheme=path < "$2"', str(BESIDE / "fzf"), query, str(names)]
    return statistics.median(run(argv).wall for _ in range(TIMES))


def measure(root: str, whole: bool) -> None:
    """Print the figures as JSON: of the first index alone, or of all."""
    print(json.dumps(asyncio.run(_measure(Path(root), whole))))


async def _measure(root: Path, whole: bool) -> dict[str, float]:
    from ferrule.process.protocol import Command, allowed_environment
    from ferrule.process.supervisor import Supervisor
    from ferrule.workspace.finding.finder import Finder

    processes, environment = Supervisor(), allowed_environment(os.environ)
    await processes.run(Command(("true",), "/", environment), lambda data: None)
    began = time.perf_counter()
    finder = Finder.open(root, processes, environment)
    assert await finder.listed(120)
    figures = {"first": time.perf_counter() - began}
    assert (await finder.query(QUERIES[0])).known >= FILES
    figures["answered"] = time.perf_counter() - began
    if whole:
        assert await finder.settled(120)
        for query in QUERIES:
            figures[query] = statistics.median([await timed(lambda query=query: finder.query(query)) for _ in range(TIMES)])
        figures["update"] = statistics.median([await _noticed(finder, root / f"noticed{at}") for at in range(TIMES * 3)])
        figures["peak"] = own_peak() / 1024
    await finder.close()
    await processes.close()
    return figures


async def _noticed(finder: "Finder", path: Path) -> float:
    began = time.perf_counter()
    path.write_text("x")
    while not (await finder.query(path.name, 1)).total:  # noqa: ASYNC110 the answer is what is waited for
        await asyncio.sleep(0.001)
    took = time.perf_counter() - began
    path.unlink()
    return took


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await work()
    return time.perf_counter() - began


def _contents(root: Path) -> Row:
    """The tool, from its arguments to the text for the model, beside the program with the same options."""
    from ferrule.workspace.ripgrep import arguments

    argv = arguments(str(BESIDE / "rg"), NEEDLE, "./", None)
    beside, own = [], []
    for _ in range(TIMES):
        beside.append(run(argv, cwd=str(root)).wall)
        own.append(asyncio.run(_search(root)))
    ratio = statistics.median(own) / statistics.median(beside)
    return Row(
        "search_files over them",
        f"{statistics.median(own):.2f} s (rg --json {statistics.median(beside):.2f})",
        f"{ratio:.2f} × rg",
        "≤ 1.2 ×",
        ratio <= 1.2,
    )


async def _search(root: Path) -> float:
    from ferrule.process.protocol import Command, allowed_environment
    from ferrule.process.supervisor import Supervisor
    from ferrule.store.blobs import FileBlobs
    from ferrule.tools.base import Place, ToolContext
    from ferrule.tools.read.search_files import SearchFiles, search_files

    processes, environment = Supervisor(), allowed_environment(os.environ)
    await processes.run(Command(("true",), "/", environment), lambda data: None)
    context = ToolContext(Place(root), processes, FileBlobs(root.parent / "blobs"), environment)
    took = await timed(lambda: search_files().run(SearchFiles(".", NEEDLE), context))
    await processes.close()
    return took
