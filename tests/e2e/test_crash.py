import itertools

import pytest

from tests.fakes.server import FakeServer
from tests.judge import violations, violations_history

from .driving import KILLED, Project, keys
from .story import SILENT, SPOKEN, STORIES, TASK, Told, go_on, judge, prepare

SIDES = ("before", "after")
KINDS: dict[str, dict[str, int]] = {
    "story": {
        "model": 1,
        "user": 2,
        "attempt_started": 3,
        "attempt_ended": 3,
        "assistant": 5,
        "approval": 6,
        "call_started": 11,
        "call_finished": 12,
        "todo": 1,
        "retry": 1,
        "repair": 1,
        "receipt": 1,
        "outcome": 1,
    },
    "question": {"question": 1, "assistant": 2, "call_started": 3},
}
"""Kinds of records that each story writes in one run, and how often."""

EVERY = [
    (story, f"{side}:{kind}:{count}")
    for story, kinds in KINDS.items()
    for kind, most in kinds.items()
    for count in range(1, most + 1)
    for side in SIDES
]
MIDDLE = [
    (story, f"{side}:{kind}:{(most + 1) // 2}", told)
    for (story, kinds) in KINDS.items()
    for (kind, most), (side, told) in itertools.product(kinds.items(), zip(SIDES, (SILENT, SPOKEN), strict=True))
]


def start(project: Project, story: str) -> tuple[str, ...]:
    prepare(project)
    return ("-p", "Do it.", "--model", project.model(*STORIES[story]), *TASK)


def killed_at(project: Project, story: str, point: str, told: Told) -> None:
    ran = project.run(*start(project, story), FERRULE_FAULT_POINT=point)
    assert ran.code == KILLED, ran
    side, kind, count = point.split(":")
    assert project.journal.kinds().count(kind) == int(count) - (side == "before")
    go_on(project, told, "--model", project.model(*STORIES[story]), *TASK)


@pytest.mark.parametrize("story", STORIES)
def test_an_undisturbed_run_writes_every_kind_of_record_as_often_as_the_crash_tests_count(project: Project, story: str) -> None:
    ran = project.run(*start(project, story))
    assert ran.code == {"story": 0, "question": 3}[story], ran
    kinds = project.journal.kinds()
    assert {kind: kinds.count(kind) for kind in KINDS[story]} == KINDS[story]
    if story == "story":
        assert set(kinds) == {"session", *KINDS[story]}
        judge(project, project.journal)


@pytest.mark.parametrize(("story", "point", "told"), MIDDLE, ids=lambda value: value if isinstance(value, str) else "")
def test_a_run_killed_at_a_record_of_each_kind_goes_on_and_repeats_no_effect(
    project: Project, story: str, point: str, told: Told
) -> None:
    killed_at(project, story, point, told)


@pytest.mark.parametrize("point", ["before:answer", "after:answer"])
def test_a_run_killed_at_the_answer_to_a_question_goes_on(project: Project, point: str) -> None:
    assert project.run(*start(project, "question")).code == 3
    arguments = ("--model", project.model(*STORIES["question"]), *TASK)
    assert project.run("-c", "-p", "left", *arguments, FERRULE_FAULT_POINT=point).code == KILLED
    go_on(project, SILENT, *arguments)


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("told", [SILENT, SPOKEN], ids=["silent", "spoken"])
@pytest.mark.parametrize(("story", "point"), EVERY)
def test_a_run_killed_at_any_record_goes_on_and_repeats_no_effect(project: Project, story: str, point: str, told: Told) -> None:
    killed_at(project, story, point, told)


ON_THE_WIRE = ("after:assistant:2", "before:call_finished:4", "after:call_started:7", "after:call_finished:12")


@pytest.mark.parametrize("dialect", ["openai", "openai-responses", "anthropic", "google"])
@pytest.mark.parametrize(("point", "told"), [*zip(ON_THE_WIRE, (SILENT, SPOKEN) * 2, strict=True)])
def test_after_a_kill_every_request_is_one_that_the_vendor_takes(project: Project, dialect: str, point: str, told: Told) -> None:
    prepare(project)
    script = {"version": 1, "on_lost": "again", "steps": STORIES["story"]}
    with FakeServer(script, validate=violations) as server:
        arguments = ("--model", f"{dialect}/m", *TASK)
        environ = keys(server.url)
        ran = project.run("-p", "Do it.", *arguments, FERRULE_FAULT_POINT=point, **environ)
        assert ran.code == KILLED, ran
        go_on(project, told, *arguments, **environ)
        assert server.problems == []
        assert violations_history(dialect, server.bodies) == []
