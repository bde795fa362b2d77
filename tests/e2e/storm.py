"""A run in which a provider does most things wrong, killed again and again until the work is done.

A model behind a loopback server plays it, so that each request is judged as a vendor would judge it.
"""

import json
import os
import random
import signal
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.fakes.server import FakeServer
from tests.judge import violations

from .driving import KILLED, Json, Project, State, asks, call, completes, keys, runs, step, until

DIALECTS = ("openai", "openai-responses", "anthropic", "google")
TASK = ("--approve", "all", "--verify", "true", "--output-format", "stream-json")
HOOKS = """
[[hooks]]
event = "before_tool"
command = "exec true"
match = "edit"

[[hooks]]
event = "after_tool"
command = "exec true"
match = "write_to_file"

[[hooks]]
event = "before_finalize"
command = "exec true"
"""
HAND_OVER = "\n".join(
    f"## {heading}\n- {line}"
    for heading, line in {
        "Progress": "Commands ran.",
        "Decisions": "None.",
        "Open TODOs": "Write what is missing.",
        "Constraints/Rules": "None.",
        "Pending user asks": "Do it.",
        "Exact identifiers": "effects, notes.txt",
    }.items()
)


def effect(number: int, more: str = "") -> Json:
    """Takes a moment before and after, so that chance meets it."""
    return runs(f"sleep 0.02; echo nonce-{number} >> effects; sleep 0.03{more}")


def faulty(kind: str, **more: object) -> Json:
    return {"fault": {"kind": kind, **more}}


def prints(first: int) -> Json:
    return runs(f"seq {first} {first + 500}")


READS = (call("read_file", path="notes.txt"), call("list_files", path="."), call("read_file", path="long.txt"))
BUSY = {"status": 503, "headers": {"Retry-After": "0"}}
OVERFLOW = faulty("http", status=400, says="context_overflow", tokens=2_000_000)
STEPS: list[Json] = [
    step(*READS, effect(1), reasoning="Look first."),
    faulty("http", **BUSY),
    step(asks("Which way?", "left", "right"), effect(2)),
    {**step(effect(3)), **faulty("cut", at="middle", how="drop")},
    step(
        call("edit", file_path="notes.txt", old_string="end", new_string="nonce-4 \nend"),
        call("write_to_file", path="written.txt", content="nonce-5\n"),
        effect(6),
        text="Now the work.",
        chunk=8,
        delay=0.002,
    ),
    {**step(effect(7)), **faulty("error", at="middle", says="overloaded")},
    step({"name": "execute_command", "arguments": '{"command": "echo nonce-8 >> effects'}),
    step({**effect(9), "id": "twin"}, {**effect(10), "id": "twin"}),
    step(call("Read_File", path="notes.txt"), call("no_such_tool"), {**effect(11), "name": " execute_command "}),
    step(*(prints(1000 * number) for number in range(1, 7))),
    OVERFLOW,
    faulty("reset"),
    step(effect(12), *READS, text="Further."),
    OVERFLOW,
    OVERFLOW,
    {"text": "I am done, I think."},
    step(effect(13, "; (sleep 30; echo late >> effects) & echo started"), text="In the background."),
    {"text": ""},
    step(completes("First."), effect(14)),
    step(completes("Second."), times="always"),
    {"when": {"system": "hand-over"}, "text": HAND_OVER, "times": "always"},
]  # fmt: skip

POINTS = {
    "model asked": "after:attempt_started:1",
    "failed": "before:retry:1",
    "retry stored": "after:retry:1",
    "assistant stored": "after:assistant:1",
    "assistant stored after a repair": "after:repair:1",
    "hook told": "after:hook:1",
    "call started": "after:call_started:1",
    "effect done but not recorded": "before:call_finished:1",
    "shrunk": "after:shrunk:1",
    "waiting": "after:question:1",
    "finished": "after:receipt:1",
}
"""Each state in which a kill may meet a journal, and a point that is in it, for those that chance does not meet often enough."""


@dataclass
class Tally:
    chance: Counter[str] = field(default_factory=Counter)
    named: Counter[str] = field(default_factory=Counter)
    runs: int = 0
    requests: int = 0
    results: int = 0

    def total(self, state: str) -> int:
        return self.chance[state] + self.named[state]

    @property
    def kills(self) -> int:
        return self.chance.total() + self.named.total()

    def report(self) -> str:
        heading = f"{self.chance.total()} kills by chance and {self.named.total()} at a named point in {self.runs} runs; "
        heading += f"{self.requests} requests judged, {self.results} results told"
        return "\n".join([heading, *(f"  {state:<32} {self.chance[state]:>3} + {self.named[state]:>3}" for state in POINTS)])


def state_of(project: Project) -> str:
    """Where the kill hit, as the journal and the effects tell."""
    state = project.journal.state()
    if state.waiting:
        return "waiting"
    if state.ended or state.outcome == "finished":
        return "finished"
    last = state.kinds[-1]
    begun = [one for one in state.open if one in state.started]
    if begun:
        nonces = {state.nonce(one) for one in begun} - {None}
        return "effect done but not recorded" if nonces & set(effects(project)) else "call started"
    if last in ("hook", "shrunk"):
        return {"hook": "hook told", "shrunk": "shrunk"}[last]
    if state.open:
        after_repair = state.kinds[-2:] == ["repair", "assistant"]
        return "assistant stored after a repair" if after_repair else "assistant stored"
    if last == "retry":
        return "retry stored"
    return "failed" if last == "attempt_ended" else "model asked"


def effects(project: Project) -> Counter[str]:
    """How often each effect is there."""
    names = ("effects", "notes.txt", "written.txt")
    return Counter(line.strip() for name in names for line in project.lines(name) if line.startswith("nonce-"))


class Storm:
    """One session, from its first process to the end of its work."""

    def __init__(self, base: Path, dialect: str, dice: random.Random, tally: Tally, least: int) -> None:
        self.project = Project(base)
        self.dialect = dialect
        self.dice = dice
        self.tally = tally
        self.least = least
        self.told: list[str] = []
        self.project.write("notes.txt", "end\n")
        self.project.write("long.txt", "line\n" * 300)
        config = self.project.home / ".config" / "ferrule" / "config.toml"
        config.parent.mkdir(parents=True)
        config.write_text(HOOKS)

    def rage(self) -> None:
        """Start, kill and go on until the work is accepted; what must hold is judged after every process."""
        script = {"version": 1, "on_lost": "again", "steps": STEPS}
        with FakeServer(script, validate=violations) as server:
            environ = keys(server.url)
            for _ in range(200):
                if self.over(environ):
                    break
            else:
                raise AssertionError("the work was not done in 200 processes")
            assert server.problems == []
            self.tally.requests += len(server.calls)
        assert server.calls
        self.tally.runs += 1

    def over(self, environ: dict[str, str]) -> bool:
        """One process more. Whether the work is done."""
        before = self.project.journal.rows() if self.project.sessions else []
        words = self.words()
        point = self.point()
        more = {"FERRULE_FAULT_POINT": point[1]} if point else {}
        code, told = self.process(words, environ | more, by_chance=point is None)
        until(lambda: not inside(self.project.folder))
        if not self.project.sessions:
            assert code == KILLED, (code, told[-3:])
            return False
        rows = self.project.journal.rows()
        assert rows[: len(before)] == before
        self.project.journal.check()
        self.nothing_lost(told)
        self.nothing_twice(self.project.journal.state())
        if code != KILLED:
            # Overflows without end, and nothing left to shorten: said as a limit, and gone on from.
            assert code in (0, 3, 4), (code, told[-1:])
            return code == 0
        state = state_of(self.project)
        (self.tally.named if point else self.tally.chance)[state] += 1
        return state == "finished" and self.finish(environ)

    def words(self) -> tuple[str, ...]:
        if not self.project.sessions:
            return ("-p", "Do it.")
        state = self.project.journal.state()
        if state.waiting:
            return ("-c", "-p", "left")
        spoken = not state.prompted or self.dice.random() < 0.3
        return ("-c", "-p", "Go on.") if spoken else ("-c",)

    def point(self) -> tuple[str, str] | None:
        """A named point in every other process, of the state that was met least often; None for a kill by chance."""
        rare = min(POINTS, key=self.tally.total)
        if self.tally.total(rare) >= self.least or self.dice.random() < 0.5:
            return None
        return rare, POINTS[rare]

    def process(self, words: tuple[str, ...], environ: dict[str, str], by_chance: bool) -> tuple[int, list[str]]:
        """The exit code, and the whole lines that it told."""
        model = f"{self.dialect}/m"
        with self.project.started(*words, "--model", model, *TASK, **environ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            told: list[str] = []
            if by_chance:
                for _ in range(self.dice.randrange(1, 24)):
                    told.append(process.stdout.readline().decode())
                    if not told[-1]:
                        break
                time.sleep(self.dice.choice((0.0, 0.0, self.dice.random() * 0.05)))
                with suppress(ProcessLookupError):
                    process.send_signal(signal.SIGKILL)
                # What the pipe's reader holds already, `communicate` would not give.
                out, err = process.stdout.read(), process.stderr.read()
            else:
                out, err = process.communicate(timeout=60)
        told += out.decode(errors="replace").splitlines(keepends=True)
        assert process.wait(60) != 1, (told[-1:], err.decode(errors="replace"))
        return process.returncode, [line for line in told if line.endswith("\n")]

    def nothing_lost(self, told: list[str]) -> None:
        """Whatever was told as stored is stored, results of calls among it."""
        hashes = {row.hash for row in self.project.journal.rows()}
        records = [line["record"] for line in map(json.loads, told) if line["type"] == "record"]
        assert [record for record in records if record["hash"] not in hashes] == []
        self.tally.results += sum(record["entry"]["type"] == "call_finished" for record in records)

    def nothing_twice(self, state: State) -> None:
        """No effect ran more often than calls that may have had it; what was reported done is done, once for each report."""
        there = effects(self.project)
        assert "late" not in self.project.lines("effects")
        assert {one: found for one, found in state.results.items() if len(found) != 1} == {}
        surely: Counter[str] = Counter()
        perhaps: Counter[str] = Counter()
        for one in state.calls:
            nonce, started = state.nonce(one), state.started.get(one, 0)
            if state.name(one) in ("execute_command", "edit"):
                assert started <= 1, f"{one} began {started} times"
            if nonce is None or not started:
                continue
            kind = state.results.get(one, ["open"])[0]
            surely[nonce] += kind == "ok"
            perhaps[nonce] += kind != "ok"
        for nonce in there | surely | perhaps:
            assert surely[nonce] <= there[nonce] <= surely[nonce] + perhaps[nonce], (nonce, there, surely, perhaps)

    def finish(self, environ: dict[str, str]) -> bool:
        """After a kill at the very end: it ends as it was accepted, or says that nothing is to be done."""
        ran = self.project.run("-c", "--model", f"{self.dialect}/m", *TASK, **environ)
        assert (ran.code, ran.result["outcome"]) in ((0, "finished"), (2, "usage_error")), ran
        self.project.journal.check()
        state = self.project.journal.state()
        assert state.open == []
        self.nothing_twice(state)
        return True


def inside(folder: Path) -> list[int]:
    """Living processes that stand in a folder: all that a run there has started."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and Path(os.readlink(entry / "cwd")).is_relative_to(folder):
                found.append(int(entry.name))
    return found
