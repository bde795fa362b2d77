"""What it costs to go on with a long session."""

import asyncio
import os
import tempfile
from pathlib import Path
from typing import Any

from ferrule.store.private import state_folder
from ferrule.store.sessions import Sessions
from ferrule.types.messages import Assistant, Text, ToolCall, ToolResult, User
from ferrule.types.names import spell
from ferrule.types.outcome import Outcome
from ferrule.types.records import (
    Approval,
    AssistantSaid,
    AttemptEnded,
    AttemptStarted,
    CallFinished,
    CallStarted,
    Entry,
    ModelChosen,
    RunEnded,
    UserSaid,
)
from ferrule.types.tools import Effect
from ferrule.types.usage import Usage
from tests.fakes.server import FakeServer

from .measure import Cost, bare_python, median, run
from .rows import FERRULE, Row, completion, task

RECORDS = 10_000


def resume_long() -> Row:
    """`-c -p` in a session of 10,000 records, over and above the first turn of a session of its own."""
    base = median(bare_python(), lambda cost: cost.cpu)
    fresh = median([task(script())[0] for _ in range(5)], lambda cost: cost.cpu)
    long = median([_resumed() for _ in range(5)], lambda cost: cost.cpu)
    more = long - fresh
    figure = f"{more:.3f} s more than a new session's {fresh:.3f} s"
    return Row(f"resuming {RECORDS:,} records, CPU", figure, f"{more / base:.1f} × python", "≤ 0.3 s", more <= 0.3)


def script() -> dict[str, Any]:
    return {"version": 1, "steps": [completion()]}


def _resumed() -> Cost:
    with tempfile.TemporaryDirectory(prefix="ferrule-bench-") as base, FakeServer(script()) as server:
        folder = Path(base) / "project"
        folder.mkdir()
        environ = {"PATH": os.environ["PATH"], "HOME": base, "FERRULE_HOME": f"{base}/state", "OPENAI_API_KEY": "bench-key-0000"}
        asyncio.run(_fill(folder, environ))
        argv = [FERRULE, "-c", "-p", "Go on.", "--model", "openai/bench", "--approve", "all", "-C", str(folder)]
        cost = run(argv, {**environ, "OPENAI_BASE_URL": f"{server.url}/v1"})
        if cost.exit_code != 0:
            raise RuntimeError(f"exit {cost.exit_code}: {cost.out.decode(errors='replace')}")
        return cost


async def _fill(folder: Path, environ: dict[str, str]) -> None:
    """A session as a long task leaves it: every turn one command, its output of some lines."""
    sessions = Sessions(state_folder(environ))
    journal = sessions.create(spell(str(folder.resolve())), "code")
    opening = (ModelChosen("openai/bench", "http://127.0.0.1:1/v1"), UserSaid(User((Text("Do the work."),)), "person"))
    entries: list[Entry] = [*opening, AttemptStarted(1)]
    turn = 0
    while len(entries) < RECORDS - 3:
        turn += 1
        id = f"call_{turn:05d}"
        call = ToolCall(id, "execute_command", f'{{"command":"make part-{turn}"}}')
        text = Text(f"Building part {turn} of the work, then looking at what it says.")
        said = Assistant((text, call), "calls", "openai/bench")
        output = "\n".join(f"part {turn}: step {step} of 12 done, nothing to report" for step in range(12))
        entries += [
            AssistantSaid(said, Usage(1000 + 200 * turn, 60), 1.0),
            Approval(id, "0" * 64, "allow", "approve all, rules"),
            CallStarted(id, "execute_command", Effect.MUTATING),
            CallFinished(ToolResult(id, "execute_command", "ok", (Text(output),)), 0.2),
        ]
    entries += [AttemptEnded(1, "interrupted", 900.0), RunEnded(Outcome.INTERRUPTED, "Interrupted.", "Interrupted.")]
    await journal.append(*entries)
    await journal.close()
