import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from itertools import pairwise
from pathlib import Path

import pytest

from ferrule.process.protocol import allowed_environment
from ferrule.process.supervisor import Supervisor
from ferrule.workspace.diagnostics.edited import Edited
from ferrule.workspace.diagnostics.languages import Known
from ferrule.workspace.diagnostics.watch import PATIENT, Setting, Watch

SERVER = str(Path(__file__).with_name("server.py"))
ENVIRONMENT = allowed_environment({**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"})
Say = Callable[[str | None, str | None], Awaitable[str]]


def known(how: str) -> Known:
    return Known("judge", (sys.executable, SERVER, how), {".x": "x"})


RUFF = Known("ruff", ("ruff", "server"), {".py": "python"})


async def watched(
    root: Path,
    server: Known | None,
    does: Callable[[Say, Watch], Awaitable[None]],
    name: str = "é.x",
    setting: Setting = "servers",
    limit: float = 10,
) -> None:
    """`does` gets what edits one file and looks at it; afterwards nothing of the server is left."""
    processes = Supervisor()
    watch = Watch(root, ENVIRONMENT, setting, () if server is None else (server,), limit)
    path = root / name

    async def say(before: str | None, after: str | None) -> str:
        if after is None:
            path.unlink()
        else:
            path.write_text(after, errors="surrogateescape")
        return await watch.look((Edited(path, name, before, after),), processes)

    try:
        await does(say, watch)
    finally:
        await watch.close()
        await processes.close()


async def up(watch: Watch, suffix: str) -> None:
    server = watch._servers[suffix]
    assert server is not None
    await asyncio.wait([server.ready], timeout=20)


@pytest.mark.parametrize("how", ["push", "pull"])
def test_a_server_tells_what_is_new_and_nothing_else(tmp_path: Path, how: str) -> None:
    async def does(say: Say, watch: Watch) -> None:
        assert await say("bad\nb\n", "x\nbad\nb\n") == ""
        assert await say("x\nbad\nb\n", "x\nbad\nb\nbad too\n") == "New problems:\né.x:4: error: bad line [judge B1]"
        assert await say("x\nbad\nb\nbad too\n", "x\nbad\nb\nbad too!\n") == ""
        assert await say("x\nbad\nb\nbad too!\n", "x\n") == ""
        assert await say("x\n", None) == ""
        assert await say(None, "bad\n") == "New problems:\né.x:1: error: bad line [judge B1]"

    asyncio.run(watched(tmp_path, known(how), does))


def test_a_slow_server_is_said_once_and_tells_later_what_came_meanwhile(tmp_path: Path) -> None:
    async def does(say: Say, watch: Watch) -> None:
        began = time.monotonic()
        assert await say("a\n", "a\nbad\n") == "(judge is still starting; until it answers only checkers look at .x files.)"
        assert await say("a\nbad\n", "a\nbad\nc\n") == ""
        assert time.monotonic() - began < 1
        await up(watch, ".x")
        assert await say("a\nbad\nc\n", "a\nbad\nc\nd\n") == "New problems:\né.x:2: error: bad line [judge B1]"

    asyncio.run(watched(tmp_path, known("slow"), does))


@pytest.mark.parametrize(
    ("how", "note"),
    [
        ("ends", "ended with exit code 3"),
        ("garbled", "wrote b'no header here xxxxxxxxxxxxxxxxxxxxxxxxx' where a header belongs"),
    ],
)
def test_a_server_that_fails_is_said_once_and_left_alone(tmp_path: Path, how: str, note: str) -> None:
    async def does(say: Say, watch: Watch) -> None:
        assert await say("bad\n", "bad\nbad\n") == f"(judge {note}; only checkers look at .x files.)"
        assert await say("bad\nbad\n", "bad\nbad\nbad\n") == ""

    asyncio.run(watched(tmp_path, known(how), does))


def test_a_program_that_cannot_be_started_is_said(tmp_path: Path) -> None:
    async def does(say: Say, watch: Watch) -> None:
        said = await say("a", "bad")
        assert said == "(judge ended with exit code 127; only checkers look at .x files.)"

    program = tmp_path / "program"
    program.write_text("#!/no/such/interpreter\n")
    program.chmod(0o755)
    asyncio.run(watched(tmp_path, Known("judge", (str(program),), {".x": "x"}), does))


def test_a_real_server_of_python(tmp_path: Path) -> None:
    async def does(say: Say, watch: Watch) -> None:
        old = "import os\nprint(os.sep)\n"
        first = await say(old, "print(os.sep)\n")
        if "still starting" in first:
            await up(watch, ".py")
            first = await say("print(os.sep)\n", "print(os.sep)  # \n")
        assert first == "New problems:\na.py:1: error: Undefined name `os` [Ruff F821]"
        assert await say("print(os.sep)  # \n", old) == ""

    (tmp_path / "ruff.toml").write_text('lint.select = ["F"]\n')
    asyncio.run(watched(tmp_path, RUFF, does, "a.py"))


@pytest.mark.parametrize(
    ("name", "before", "after", "said"),
    [
        ("a.py", "import os\nos.sep\n", "os.sep\n", "a.py:1: error: Undefined name `os`"),
        ("a.py", "def f(:\n", "def f(:\nx = 1\n", ""),
        ("a.json", '{"a": 1}', '{"a": 1', "a.json:1: error: "),
        ("a.txt", "a", "b", ""),
        ("a.py", "x = 1\n", "import os\n", ""),
    ],
)
def test_without_a_server_checkers_look(tmp_path: Path, name: str, before: str, after: str, said: str) -> None:
    async def does(say: Say, watch: Watch) -> None:
        told = await say(before, after)
        assert told.startswith(f"New problems:\n{said}") if said else told == ""

    asyncio.run(watched(tmp_path, None, does, name))


def test_a_setting_turns_it_off(tmp_path: Path) -> None:
    async def does(say: Say, watch: Watch) -> None:
        assert await say("x = 1\n", "x = (\n") == ""

    asyncio.run(watched(tmp_path, RUFF, does, "a.py", "off"))


def test_a_text_with_bytes_that_are_none_is_looked_at(tmp_path: Path) -> None:
    async def does(say: Say, watch: Watch) -> None:
        assert await say("a\n", "a\udcff\nbad\n") == "New problems:\né.x:2: error: bad line [judge B1]"

    asyncio.run(watched(tmp_path, known("pull"), does))


def test_a_disk_that_takes_nothing_costs_the_look_and_not_the_edit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def does(say: Say, watch: Watch) -> None:
        assert await say("x = 1\n", "x = (\n") == "(Problems could not be looked for: No such file or directory.)"

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    asyncio.run(watched(tmp_path, None, does, "a.py"))


def test_only_so_many_problems_are_told(tmp_path: Path) -> None:
    async def does(say: Say, watch: Watch) -> None:
        lines = (await say("", "bad\n" * 50)).split("\n")
        assert (len(lines), lines[-1]) == (22, "… and 30 more")

    asyncio.run(watched(tmp_path, known("pull"), does))


def test_a_server_that_never_answers_costs_a_bounded_time_and_is_left_alone(tmp_path: Path) -> None:
    async def does(say: Say, watch: Watch) -> None:
        await say("", "a\n")
        await up(watch, ".x")
        texts = [f"{number}\n" for number in range(PATIENT + 3)]
        said = [await say(old, new) for old, new in pairwise(texts)]
        late = "(Problems were looked for no longer than 0.2 s; those that are missing here may be told later.)"
        stopped = f"(judge was too slow {PATIENT} times; only checkers look at .x files.)"
        lates = said.count(late)
        assert lates in (PATIENT - 2, PATIENT - 1)
        assert said == [late] * lates + [stopped] + [""] * (len(said) - lates - 1)

    asyncio.run(watched(tmp_path, known("silent"), does, limit=0.2))
