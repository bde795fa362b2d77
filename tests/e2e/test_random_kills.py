import os
import random
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from .driving import KILLED, Json, Project, asks, call, completes, runs, step
from .story import SILENT, SPOKEN, go_on, prepare

STATES = ("assistant stored", "call started", "effect done but not recorded", "finished", "waiting")
POINTS = ("after:assistant:2", "after:call_started:2", "before:call_finished:2", "after:receipt:1", "after:question:1")
"""Where to stop for each state, for those that chance does not meet often enough."""

STEPS: list[Json] = [
    step(call("read_file", path="notes.txt"), runs("sleep 0.03; echo nonce-1 >> effects; sleep 0.03")),
    step(
        runs("echo nonce-2 >> effects; sleep 0.03"),
        call("edit", file_path="notes.txt", old_string="end", new_string="nonce-3 \nend"),
    ),
    step(runs("sleep 0.03; echo nonce-4 >> effects"), asks("Which way?", "left"), text="Almost.", chunk=2, delay=0.005),
    step(runs("echo nonce-5 >> effects"), completes()),
    step(completes(), times="always"),
]
TASK = ("--approve", "all", "--output-format", "stream-json")


def state_of(project: Project) -> str:
    """Where the kill hit, as the journal and the effects tell."""
    state = project.journal.state()
    if state.waiting:
        return "waiting"
    if state.ended or state.outcome == "finished":
        return "finished"
    begun = [one for one in state.open if one in state.started]
    if begun:
        nonce = state.nonce(begun[0])
        there = (
            any(nonce == line.strip() for name in ("effects", "notes.txt") for line in project.lines(name)) if nonce else False
        )
        return "effect done but not recorded" if there else "call started"
    return "assistant stored" if state.open else "between turns"


def killed_by_chance(project: Project, arguments: tuple[str, ...], dice: random.Random, events: int) -> bool:
    """Kill after some of the events that a whole run tells, and a little later than that. Whether it came in time."""
    after, later = dice.randrange(1, events), dice.choice((0.0, 0.0, dice.random() * 0.03))
    with project.started(*arguments) as process:
        assert process.stdout is not None
        for _ in range(after):
            process.stdout.readline()
        time.sleep(later)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    return process.returncode == KILLED


def begin(base: Path) -> tuple[Project, tuple[str, ...]]:
    project = Project(base)
    prepare(project)
    return project, ("--model", project.model(*STEPS), *TASK)


def answered(project: Project, arguments: tuple[str, ...], dice: random.Random) -> tuple[str, ...]:
    """Words of a new session, or, every other time, of the answer in one that waits."""
    if dice.random() < 0.5:
        return ("-p", "Do it.", *arguments)
    assert project.run("-p", "Do it.", *arguments).code == 3
    return ("-c", "-p", "left", *arguments)


def kills(base: Path, count: int, seed: int) -> Counter[str]:
    dice = random.Random(seed)
    events = {}
    project, arguments = begin(base / "whole")
    for flag, words in (("-p", ("-p", "Do it.")), ("-c", ("-c", "-p", "left"))):
        events[flag] = len(project.run(*words, *arguments).out.splitlines())
    found: Counter[str] = Counter()
    while found.total() < count:
        project, arguments = begin(base / f"chance-{found.total()}-{os.urandom(2).hex()}")
        line = answered(project, arguments, dice)
        if killed_by_chance(project, line, dice, events[line[0]]):
            found[state_of(project)] += 1
            go_on(project, dice.choice((SILENT, SPOKEN)), *arguments)
    return found


def top_up(base: Path, found: Counter[str], least: int) -> Counter[str]:
    """Kills at named points until every state was met `least` times."""
    added: Counter[str] = Counter()
    for state, point in zip(STATES, POINTS, strict=True):
        while found[state] + added[state] < least:
            project, arguments = begin(base / f"named-{added.total()}")
            words: tuple[str, ...] = ("-p", "Do it.")
            if state == "finished":
                assert project.run(*words, *arguments).code == 3
                words = ("-c", "-p", "left")
            ran = project.run(*words, *arguments, FERRULE_FAULT_POINT=point)
            assert (ran.code, state_of(project)) == (KILLED, state), ran
            added[state] += 1
            go_on(project, (SILENT, SPOKEN)[added[state] % 2], *arguments)
    return added


def test_runs_killed_at_random_moments_go_on_and_repeat_no_effect(tmp_path: Path) -> None:
    assert kills(tmp_path, 5, seed=1).total() == 5


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_a_hundred_random_kills_and_ten_in_every_state(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = kills(tmp_path, 100, seed=2)
    added = top_up(tmp_path, found, 10)
    with capsys.disabled():
        for state in sorted({*STATES, *found}):
            print(f"\n{state:<30} {found[state]:>3} by chance, {added[state]:>3} at a named point", end="")
    assert all(found[state] + added[state] >= 10 for state in STATES)
