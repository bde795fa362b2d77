"""Every end has a name, and the exit code, the JSON result and the journal say the same."""

import shlex

import pytest

from .driving import Json, Project, Ran, call, completes, runs, step

JSON = ("--approve", "all", "--output-format", "json")
OPEN, DONE = call("update_todo_list", todos="[ ] later"), call("update_todo_list", todos="[x] later")


def ended(project: Project, ran: Ran, outcome: str, code: int) -> Json:
    """The result, which must name this end, as must the process and the journal."""
    result = ran.result
    assert (ran.code, result["outcome"], result["exit_code"]) == (code, outcome, code), ran
    assert project.journal.entries("outcome")[-1]["outcome"] == outcome
    receipt = project.journal.entries("receipt")[-1]
    assert (receipt["outcome"], result["receipt"]) == (outcome, project.journal.rows()[-2].hash)
    assert receipt["head"] == project.journal.rows()[-3].hash
    project.journal.check()
    return result


def origins(project: Project) -> list[str]:
    return [entry["origin"] for entry in project.journal.entries("user")]


@pytest.mark.parametrize(("said", "answers"), [("All done, I think.", 3), ("", 4)], ids=["words", "nothing"])
def test_an_answer_without_an_act_is_reminded_twice_and_never_finishes(project: Project, said: str, answers: int) -> None:
    model = project.model(*[{"text": said}] * answers, step(completes("Too late.")))
    result = ended(project, project.run("-p", "x", "--model", model, *JSON), "incomplete", 7)
    assert result["turns"] == answers
    assert origins(project) == ["person", *["reminder"] * (answers - 1)]
    assert result["result"] == said or not said
    assert "2 reminders" in result["error"]


def test_a_reminder_brings_the_act(project: Project) -> None:
    model = project.model({"text": "I will finish now."}, step(completes("Finished."), expect={"last": "user"}))
    assert ended(project, project.run("-p", "x", "--model", model, *JSON), "finished", 0)["result"] == "Finished."


def test_an_incomplete_task_goes_on_without_words(project: Project) -> None:
    model = project.model(*[{"text": "Hm."}] * 3, step(completes("Finished.")))
    ended(project, project.run("-p", "x", "--model", model, *JSON), "incomplete", 7)
    assert ended(project, project.run("-c", *JSON), "finished", 0)["result"] == "Finished."


def test_a_verification_that_keeps_failing_ends_unverified_with_its_evidence(project: Project) -> None:
    model = project.model(step(completes("Tests pass!"), times="always"))
    command = "echo broken; exit 3"
    result = ended(project, project.run("-p", "x", "--model", model, "--verify", command, *JSON), "unverified", 8)
    assert (result["result"], result["turns"]) == ("Tests pass!", 5)
    gate = result["verification"][-1]
    assert (gate["gate"], gate["passed"], gate["command"], gate["exit_code"]) == ("verify", False, command, 3)
    assert len(gate["output_sha256"]) == 64
    assert project.journal.entries("receipt")[-1]["gates"] == result["verification"]


def test_an_unverified_task_goes_on_without_words_and_with_as_many_tries(project: Project) -> None:
    model = project.model(step(completes("Done."), times=7), step(runs("touch fixed")), step(completes("Really.")))
    arguments = ("--verify", "test -e fixed", *JSON)
    ended(project, project.run("-p", "x", "--model", model, *arguments), "unverified", 8)
    assert ended(project, project.run("-c", *arguments), "finished", 0)["result"] == "Really."


def test_a_failed_verification_tells_the_model_its_output_and_the_next_completion_is_checked_anew(project: Project) -> None:
    fix = step(runs("touch fixed"), expect={"last_result": "it is broken"})
    model = project.model(step(completes("Done.")), fix, step(completes("Really.")))
    ran = project.run("-p", "x", "--model", model, "--verify", "test -e fixed || { echo it is broken; exit 1; }", *JSON)
    result = ended(project, ran, "finished", 0)
    assert (result["result"], result["turns"]) == ("Really.", 3)


def test_every_verification_command_must_pass_and_they_run_in_order(project: Project) -> None:
    model = project.model(step(completes("Done.")))
    ran = project.run("-p", "x", "--model", model, "--verify", "echo a >> ran", "--verify", "echo b >> ran", *JSON)
    gates = [gate["command"] for gate in ended(project, ran, "finished", 0)["verification"] if gate["gate"] == "verify"]
    assert gates == ["echo a >> ran", "echo b >> ran"]
    assert project.lines("ran") == ["a", "b"]


def test_a_verification_that_leaves_a_process_behind_fails(project: Project) -> None:
    model = project.model(step(completes("Done."), times="always"))
    result = ended(
        project,
        project.run("-p", "x", "--model", model, "--verify", "setsid sleep 60 >/dev/null 2>&1 & true", *JSON),
        "unverified",
        8,
    )
    assert "left 1 process" in result["verification"][-1]["detail"]


def test_open_todos_refuse_a_completion(project: Project) -> None:
    refused = {"result_kind": "error", "last_result": "later"}
    model = project.model(step(OPEN), step(completes("Early.")), step(DONE, expect=refused), step(completes("Done.")))
    assert ended(project, project.run("-p", "x", "--model", model, *JSON), "finished", 0)["result"] == "Done."


@pytest.mark.parametrize("first", [True, False], ids=["completion first", "completion last"])
@pytest.mark.parametrize(
    "failing",
    [call("read_file", path="missing"), call("no_such_tool"), call("read_file")],
    ids=["fails", "unknown tool", "bad arguments"],
)
def test_a_failed_call_of_the_same_turn_refuses_a_completion_whatever_the_order(
    project: Project, failing: Json, first: bool
) -> None:
    turn = [completes("Early."), failing] if first else [failing, completes("Early.")]
    model = project.model(step(*turn), step(completes("Done.")))
    assert ended(project, project.run("-p", "x", "--model", model, *JSON), "finished", 0)["result"] == "Done."
    assert sorted(project.journal.state().results.values()) == [["error"], ["error"], ["ok"]]


def test_a_completion_is_judged_after_the_other_calls_of_its_turn(project: Project) -> None:
    model = project.model(step(completes("Done."), runs("touch made"), DONE))
    ran = project.run("-p", "x", "--model", model, "--verify", "test -e made", *JSON)
    assert ended(project, ran, "finished", 0)["turns"] == 1


def test_a_command_that_exits_with_an_error_is_no_failed_call(project: Project) -> None:
    model = project.model(step(runs("exit 4"), completes("It exits with 4.")))
    assert ended(project, project.run("-p", "x", "--model", model, *JSON), "finished", 0)["turns"] == 1


def test_a_call_whose_effect_is_unknown_after_a_crash_refuses_the_completion_beside_it(project: Project) -> None:
    model = project.model(step(runs("echo once >> effects"), completes("Early.")), step(completes("Looked.")))
    project.run("-p", "x", "--model", model, *JSON, FERRULE_FAULT_POINT="before:call_finished")
    result = ended(project, project.run("-c", *JSON), "finished", 0)
    assert (result["result"], project.lines("effects")) == ("Looked.", ["once"])
    assert list(project.journal.state().results.values()) == [["unknown"], ["error"], ["ok"]]


def test_a_task_that_was_accepted_before_a_crash_ends_without_asking_the_model_again(project: Project) -> None:
    model = project.model(step(call("write_to_file", path="made", content="x\n")), step(completes("Done.")))
    project.run("-p", "x", "--model", model, "--verify", "true", *JSON, FERRULE_FAULT_POINT="after:call_finished:2")
    result = ended(project, project.run("-c", *JSON), "finished", 0)
    assert (result["result"], result["turns"], result["files_changed"]) == ("Done.", 0, ["made"])
    assert [gate["gate"] for gate in result["verification"]] == ["failed_tool", "open_todos", "verify"]
    assert project.journal.entries("receipt")[-1]["terminal_action"] == "attempt_completion"


@pytest.mark.parametrize(
    ("denied", "tool"),
    [
        (runs("touch made"), "execute_command"),
        (call("write_to_file", path="made", content=""), "write_to_file"),
        (call("read_file", path="/etc/hostname"), "read_file"),
    ],
    ids=["command", "file", "outside"],
)
def test_what_nobody_can_approve_is_denied_and_the_named_flag_allows_it(project: Project, denied: Json, tool: str) -> None:
    model = project.model(step(denied), step(completes("Done.")))
    ran = project.run("-p", "x", "--model", model, "--output-format", "json")
    (denial,) = ended(project, ran, "finished", 0)["denials"]
    assert (denial["tool"], (project.folder / "made").exists()) == (tool, False)
    assert project.journal.state().results["call_00001"] == ["denied"]
    again = Project(project.base / "again")
    again.write("script", "")
    allowed = again.run("-p", "x", "--model", model, *shlex.split(denial["flag"]), "--output-format", "json")
    assert (allowed.code, allowed.result["denials"]) == (0, []), allowed
    assert again.journal.state().results["call_00001"] in (["ok"], ["error"])
    assert (again.folder / "made").exists() is (tool != "read_file")


def test_a_denied_call_beside_a_completion_refuses_it(project: Project) -> None:
    model = project.model(step(runs("touch made"), completes("Early.")), step(completes("Without it.")))
    ran = project.run("-p", "x", "--model", model, "--output-format", "json")
    assert ended(project, ran, "finished", 0)["result"] == "Without it."


@pytest.mark.parametrize(
    ("flag", "value", "spent"),
    [("--max-turns", "2", 2), ("--max-tokens", "1500", 2), ("--max-time", "1s", None)],
    ids=["turns", "tokens", "time"],
)
def test_a_limit_ends_the_run_and_names_its_flag(project: Project, flag: str, value: str, spent: int | None) -> None:
    usage = {"input": 800, "output": 10}
    model = project.model(step(runs("date +%N; sleep 0.4"), usage=usage, times="always"))
    result = ended(project, project.run("-p", "x", "--model", model, flag, value, *JSON), "limit", 4)
    assert flag in result["error"]
    assert result["turns"] == spent or spent is None
    assert set(result["limits"].values()) != {None}


def test_the_limit_of_cost_ends_the_run_and_a_model_without_a_price_is_refused(project: Project) -> None:
    from tests.fakes.server import FakeServer

    config = project.home / ".config" / "ferrule"
    config.mkdir(parents=True)
    steps = [step(runs("date +%N"), usage={"input": 1_000_000, "output": 0}, times="always")]
    with FakeServer({"version": 1, "steps": steps}) as server:
        (config / "config.toml").write_text(
            f'[endpoints.mine]\ndialect = "openai"\nbase_url = "{server.url}/v1"\nprice = {{ input = 2.0, output = 1.0 }}\n'
        )
        result = ended(project, project.run("-p", "x", "--model", "mine/m", "--max-cost", "3", *JSON), "limit", 4)
    assert (result["turns"], result["cost_usd"], "--max-cost" in result["error"]) == (2, 4.0, True)
    ran = project.run("-p", "x", "--model", project.model(step(completes())), "--max-cost", "1", *JSON)
    assert (ran.code, ran.result["outcome"], "price" in ran.result["error"]) == (2, "usage_error", True)


def test_a_run_that_reached_a_limit_goes_on_with_a_new_one(project: Project) -> None:
    model = project.model(step(runs("echo 1 >> effects")), step(runs("echo 2 >> effects")), step(completes("Done.")))
    ended(project, project.run("-p", "x", "--model", model, "--max-turns", "1", *JSON), "limit", 4)
    assert ended(project, project.run("-c", "--max-turns", "5", *JSON), "finished", 0)["turns"] == 2
    assert project.lines("effects") == ["1", "2"]


def test_the_same_call_with_the_same_result_over_and_over_is_stuck(project: Project) -> None:
    project.write("a", "a\n")
    model = project.model(step(call("read_file", path="a"), times="always"))
    result = ended(project, project.run("-p", "x", "--model", model, *JSON), "stuck", 5)
    assert result["turns"] == 6
    assert origins(project) == ["person", "note", "note", "note"]


def test_the_same_call_with_another_result_each_time_is_progress(project: Project) -> None:
    model = project.model(step(runs("date +%s.%N"), times=8), step(completes("Done.")))
    assert ended(project, project.run("-p", "x", "--model", model, *JSON), "finished", 0)["turns"] == 9


def test_a_refusal_ends_refused(project: Project) -> None:
    model = project.model({"text": "I can't help with that.", "stop": "refusal"})
    ended(project, project.run("-p", "x", "--model", model, *JSON), "refused", 6)


def test_a_provider_that_stays_away_is_unavailable(project: Project) -> None:
    model = project.model({"fault": {"kind": "http", "status": 429, "headers": {"Retry-After": "7200"}}, "times": "always"})
    result = ended(project, project.run("-p", "x", "--model", model, *JSON), "unavailable", 75)
    assert result["turns"] == 0
