"""The laws of a run (design, section 3), held by whatever a model does: any script, judged by the journal and the files."""

import json
import tempfile
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ferrule.attempt.ledger import CAUSES
from ferrule.task.config.schema import Config
from ferrule.types.messages import ToolCall
from ferrule.types.outcome import EXIT_CODES, Outcome
from ferrule.types.records import (
    Asked,
    AssistantSaid,
    AttemptEnded,
    AttemptStarted,
    CallFinished,
    CallStarted,
    Receipt,
    Retried,
    RunEnded,
    UserSaid,
)
from ferrule.types.result import Limits

from .opening import Ran, Step, call, run, step

TURNS = 6

CALLS = (
    call("read_file", path="a.txt"),
    call("read_file", path="missing"),
    call("read_file"),
    call("read_file", path="/etc/hostname"),
    call("list_files", path="."),
    call("no_such_tool", x=1),
    call("write_to_file", path="b.txt", content="b\n"),
    call("edit", file_path="a.txt", old_string="a", new_string="b"),
    call("update_todo_list", todos="[ ] open"),
    call("update_todo_list", todos="[x] done"),
    call("update_todo_list", todos="no list"),
    call("attempt_completion", result="Done."),
    call("attempt_completion", result=""),
    call("attempt_completion"),
    call("ask_followup_question", question="Which?", follow_up=[{"text": "this"}]),
    {"name": " Read File ", "arguments": {"path": "a.txt"}},
    {"name": "read_file", "arguments": '{"path": "a.t'},
    {"name": "read_file", "arguments": "[]", "id": ""},
    {**call("list_files", path="."), "id": "same"},
)
FAULTS: tuple[Step, ...] = (
    {"kind": "http", "status": 503, "headers": {"Retry-After": "0"}},
    {"kind": "http", "status": 429, "headers": {"Retry-After": "0"}},
    {"kind": "cut"},
    {"kind": "cut", "at": "end"},
    {"kind": "reset"},
    {"kind": "error"},
)
turns = st.builds(
    lambda text, reasoning, calls, stop: {
        **({"text": text} if text is not None else {}),
        **({"reasoning": reasoning} if reasoning else {}),
        "calls": calls,
        **({"stop": stop} if stop else {}),
    },
    text=st.none() | st.sampled_from(["", "I look.", "\ud83d alone"]),
    reasoning=st.none() | st.just("hm"),
    calls=st.lists(st.sampled_from(CALLS), max_size=4),
    stop=st.sampled_from([*[None] * 12, "end", *["length"] * 6, "refusal"]),
)
effects = st.lists(st.booleans(), min_size=1, max_size=3)
"""Whether each of some commands of one turn succeeds."""


def with_effects(number: int, exits: list[bool]) -> list[Step]:
    commands = [f"echo {number}-{place} >> effects{'' if good else '; exit 3'}" for place, good in enumerate(exits)]
    return [call("execute_command", command=command) for command in commands]


@st.composite
def scripts(draw: st.DrawFn) -> list[Step]:
    steps: list[Step] = []
    faults = 0
    for number in range(draw(st.integers(1, TURNS))):
        turn: Step = draw(turns)
        if draw(st.integers(0, 2)):
            turn = {**turn, "calls": draw(st.permutations([*turn["calls"], *with_effects(number, draw(effects))]))}
        if faults < 1 and draw(st.integers(0, 5)) == 0:
            faults += 1
            fault = draw(st.sampled_from(FAULTS))
            steps.append({"fault": fault} if fault["kind"] == "http" else {**turn, "fault": fault})
        steps.append(turn)
    todos = step(call("update_todo_list", todos="[x] done"))
    return [*steps, todos, {**step(call("attempt_completion", result="At last.")), "times": "always"}]


def acts(steps: list[Step], approve: Any = "all") -> tuple[Ran, Counter[str]]:
    """A run in a folder of its own, and how often each effect happened, by a file that only the commands write."""
    with tempfile.TemporaryDirectory(prefix="ferrule-laws-") as base:
        (Path(base) / "project").mkdir()
        (Path(base) / "project" / "a.txt").write_text("a\n")
        ran = run(Path(base), *steps, config=Config(approve=approve, limits=Limits(turns=12)))
        file = Path(base) / "project" / "effects"
        return ran, Counter(file.read_text().splitlines() if file.exists() else ())


@settings(max_examples=30)
@given(scripts())
def test_every_run_keeps_the_laws_whatever_the_model_does(steps: list[Step]) -> None:
    ran, happened = acts(steps)
    no_call_begins_before_its_message_and_its_own_start_are_stored(ran)
    every_call_has_one_result_in_source_order(ran)
    no_effect_happened_twice_or_without_a_start(ran, happened)
    assert ran.result.outcome is not Outcome.FAILED, ran.result.error  # the script judges every request
    the_end_has_one_name(ran)
    only_an_accepted_act_finishes(ran)
    tries_are_bounded_and_nothing_is_taken_back(ran)


def no_call_begins_before_its_message_and_its_own_start_are_stored(ran: Ran) -> None:
    """Laws 2 and 3."""
    said: set[str] = set()
    started: set[str] = set()
    for record in ran.records:
        match record.entry:
            case AssistantSaid(message=message):
                assert message.stop != "refusal"
                said |= {one.id for one in message.calls}
            case CallStarted(call_id=id):
                assert id in said and id not in started
                started.add(id)
            case CallFinished(result=result):
                assert result.call_id in said
                assert result.call_id in started or result.kind in ("error", "denied", "skipped")
            case Asked(call_id=id):
                assert id in started


def every_call_has_one_result_in_source_order(ran: Ran) -> None:
    """Law 4: only an open question waits for its result."""
    calls = [one for entry in ran.entries(AssistantSaid) for one in entry.message.calls]
    finished = [entry.result for entry in ran.entries(CallFinished)]
    waiting = {entry.call_id for entry in ran.entries(Asked)}
    assert len({one.id for one in calls}) == len(calls)
    assert Counter(result.call_id for result in finished) == Counter(one.id for one in calls if one.id not in waiting)
    assert len(waiting) <= 1
    assert (ran.result.outcome is Outcome.NEEDS_INPUT) == bool(waiting)
    assert all(result.parts for result in finished)
    order = {one.id: place for place, one in enumerate(calls)}
    ordinary = [result.call_id for result in finished if not terminal(calls[order[result.call_id]])]
    assert ordinary == sorted(ordinary, key=order.__getitem__) or reads_overlap(ran)


def terminal(one: ToolCall) -> bool:
    return one.name in ("attempt_completion", "ask_followup_question")


def reads_overlap(ran: Ran) -> bool:
    """Reads that stand together may end in another order than they were called in; their results are sent in order."""
    reading = {"read_file", "list_files", "find_files", "search_files", "list_code_definitions"}
    for entry in ran.entries(AssistantSaid):
        names = [one.name for one in entry.message.calls if not terminal(one)]
        if any(a in reading and b in reading for a, b in pairwise(names)):
            return True
    return False


def no_effect_happened_twice_or_without_a_start(ran: Ran, happened: Counter[str]) -> None:
    """Laws 2, 3 and 7: a call of an answer that failed or was cut never ran; what was started ran once."""
    started = {entry.call_id for entry in ran.entries(CallStarted)}
    asked: Counter[str] = Counter()
    for entry in ran.entries(AssistantSaid):
        for one in entry.message.calls:
            if one.name == "execute_command" and one.id in started:
                assert one.problem is None and entry.message.stop != "length"
                asked[json.loads(one.arguments)["command"].split()[1]] += 1
    assert happened == asked


def the_end_has_one_name(ran: Ran) -> None:
    """Law 5."""
    *_, receipt, end = ran.records
    assert isinstance(receipt.entry, Receipt) and isinstance(end.entry, RunEnded)
    assert len(ran.entries(Receipt)) == len(ran.entries(RunEnded)) == 1
    assert receipt.entry.outcome is end.entry.outcome is ran.result.outcome
    assert ran.result.exit_code == EXIT_CODES[ran.result.outcome]
    assert receipt.entry.head == ran.records[-3].hash
    assert bool(ran.result.error) == (ran.result.outcome not in (Outcome.FINISHED, Outcome.NEEDS_INPUT))


def only_an_accepted_act_finishes(ran: Ran) -> None:
    """Law 6."""
    accepted = [entry.ends for entry in ran.entries(CallFinished) if entry.ends is not None]
    assert (ran.result.outcome is Outcome.FINISHED) == (len(accepted) == 1 and accepted[0].outcome is Outcome.FINISHED)
    if ran.result.outcome is Outcome.FINISHED:
        assert all(gate.passed for gate in ran.result.verification)
        assert ran.entries(Receipt)[0].terminal_action == "attempt_completion"
        beside = {one.id for one in ran.entries(AssistantSaid)[-1].message.calls if not terminal(one)}
        assert {one.result.kind for one in ran.entries(CallFinished) if one.result.call_id in beside} <= {"ok"}
    stops = [entry for entry in ran.entries(UserSaid) if entry.origin == "reminder"]
    assert len(stops) <= sum(CAUSES[cause].run or 0 for cause in ("reminder", "empty", "reasoning_only", "announced"))
    assert sum("attempt_completion" in entry.message.parts[0].text for entry in stops) <= 2


def tries_are_bounded_and_nothing_is_taken_back(ran: Ran) -> None:
    """Laws 7 and 8: attempts come in order and end, retries are counted, and the chain only grows."""
    began = [entry.number for entry in ran.entries(AttemptStarted)]
    assert began == [entry.number for entry in ran.entries(AttemptEnded)] == list(range(1, len(began) + 1))
    assert len(ran.entries(Retried)) <= (CAUSES["transport"].run or 0) + (CAUSES["silent_error"].run or 0)
    assert [record.seq for record in ran.records] == list(range(1, len(ran.records) + 1))
