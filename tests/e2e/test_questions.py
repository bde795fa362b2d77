import json

import pytest

from tests.fakes.server import FakeServer
from tests.judge import violations

from .driving import Json, Project, asks, call, completes, keys, runs, step

JSON = ("--approve", "all", "--output-format", "json")


def results_sent(dialect: str, body: Json) -> dict[str, str]:
    """What a request holds as the results of calls, by the call's id."""
    if dialect == "openai":
        return {one["tool_call_id"]: str(one["content"]) for one in body["messages"] if one["role"] == "tool"}
    blocks = [block for one in body["messages"] if isinstance(one["content"], list) for block in one["content"]]
    return {block["tool_use_id"]: json.dumps(block["content"]) for block in blocks if block["type"] == "tool_result"}


def calls_sent(dialect: str, body: Json) -> dict[str, str]:
    """Names of the calls that a request holds, by id."""
    if dialect == "openai":
        said = [one for message in body["messages"] for one in message.get("tool_calls", [])]
        return {one["id"]: one["function"]["name"] for one in said}
    blocks = [block for one in body["messages"] if isinstance(one["content"], list) for block in one["content"]]
    return {block["id"]: block["name"] for block in blocks if block["type"] == "tool_use"}


def test_a_question_waits_with_its_options_in_the_result(project: Project) -> None:
    ran = project.run("-p", "x", "--model", project.model(step(asks("Which one?", "this", "that"))), *JSON)
    options = [{"text": text, "mode": None} for text in ("this", "that")]
    assert (ran.code, ran.result["outcome"], ran.result["question"]) == (
        3,
        "needs_input",
        {"text": "Which one?", "options": options},
    )


@pytest.mark.parametrize("dialect", ["openai", "anthropic"])
def test_an_answer_is_the_result_of_the_very_call_that_asked(project: Project, dialect: str) -> None:
    steps = [step(runs("true"), asks("Which one?"), runs("echo beside")), step(completes("Took it."))]
    with FakeServer({"version": 1, "steps": steps}, validate=violations) as server:
        arguments = ("--model", f"{dialect}/m", *JSON)
        assert project.run("-p", "x", *arguments, **keys(server.url)).code == 3
        ran = project.run("-c", "-p", "the blue one", *arguments, **keys(server.url))
        assert (ran.code, ran.result["result"], server.problems) == (0, "Took it.", [])
        body = server.bodies[-1]
    (asking,) = [id for id, name in calls_sent(dialect, body).items() if name == "ask_followup_question"]
    assert "the blue one" in results_sent(dialect, body)[asking]
    assert json.dumps(body).count("the blue one") == 1


def test_going_on_without_an_answer_names_the_question_again_and_changes_nothing(project: Project) -> None:
    model = project.model(step(asks("Which one?")), step(completes("Took it.")))
    assert project.run("-p", "x", "--model", model, *JSON).code == 3
    before = project.journal.rows()
    for _ in range(2):
        ran = project.run("-c", *JSON)
        assert (ran.code, ran.result["outcome"]) == (2, "usage_error")
        assert "Which one?" in ran.result["error"]
        assert "Which one?" in ran.err
    assert project.journal.rows() == before
    assert project.run("-c", "-p", "this", *JSON).result["result"] == "Took it."


def test_a_question_beside_a_completion_is_asked_and_the_task_stays_open(project: Project) -> None:
    model = project.model(step(asks("Sure?"), completes("Too early.")), step(completes("Now.")))
    ran = project.run("-p", "x", "--model", model, *JSON)
    assert (ran.code, ran.result["result"]) == (3, "Sure?")
    assert list(project.journal.state().results.values()) == [["skipped"]]
    assert project.run("-c", "-p", "yes", *JSON).result["result"] == "Now."


@pytest.mark.parametrize("options", [[], ["1", "2", "3", "4", "5"]])
def test_a_question_without_one_to_four_options_is_an_error_that_says_so(project: Project, options: list[str]) -> None:
    bad = call("ask_followup_question", question="Which?", follow_up=[{"text": option} for option in options])
    told = {"result_kind": "error", "last_result": "follow_up"}
    ran = project.run("-p", "x", "--model", project.model(step(bad), step(completes(), expect=told)), *JSON)
    assert ran.code == 0, ran


def test_feedback_after_the_end_goes_on_with_the_same_task(project: Project) -> None:
    model = project.model(step(completes("First.")), step(completes("Second."), expect={"last_user": "Not yet."}))
    assert project.run("-p", "x", "--model", model, *JSON).result["result"] == "First."
    ran = project.run("-c", "-p", "Not yet.", *JSON)
    assert (ran.code, ran.result["result"]) == (0, "Second.")
    assert len(project.sessions) == 1


def test_going_on_with_nothing_to_do_after_the_end_is_refused_every_time_and_changes_nothing(project: Project) -> None:
    model = project.model(step(completes("First.")), step(completes("Never.")))
    assert project.run("-p", "x", "--model", model, *JSON).code == 0
    before = project.journal.rows()
    for _ in range(2):
        ran = project.run("-c", *JSON)
        assert (ran.code, ran.result["outcome"], "finished" in ran.result["error"]) == (2, "usage_error", True)
    assert project.journal.rows() == before


def test_feedback_that_was_interrupted_goes_on_without_words(project: Project) -> None:
    model = project.model(step(completes("First.")), step(runs("echo more")), step(completes("Second.")))
    assert project.run("-p", "x", "--model", model, *JSON).code == 0
    project.run("-c", "-p", "Not yet.", *JSON, FERRULE_FAULT_POINT="after:call_finished")
    ran = project.run("-c", *JSON)
    assert (ran.code, ran.result["result"]) == (0, "Second.")
