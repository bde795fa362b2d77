"""How the calls of one answer are carried out."""

from pathlib import Path

from ferrule.store.folds import Conversation
from ferrule.task.config.schema import Config, Environment
from ferrule.types.messages import Results, ToolResult
from ferrule.types.outcome import Outcome
from ferrule.types.records import AssistantSaid, CallFinished, CallStarted, Receipt, TodosSet
from ferrule.types.tools import Option, Question

from .opening import Ran, call, ends, run, step


def results(ran: Ran) -> list[ToolResult]:
    """As the next request would hold them."""
    conversation = Conversation()
    for record in ran.records:
        conversation.add(record)
    return [result for message in conversation.messages if isinstance(message, Results) for result in message.parts]


def test_calls_that_only_read_run_beside_each_other_and_others_wait_for_them(tmp_path: Path) -> None:
    lists = [call("list_files", path=".", recursive=deep) for deep in (True, False, True)]
    ran = run(tmp_path, step(*lists, call("write_to_file", path="d", content=""), call("list_files", path=".")), ends())
    entries = [record.entry for record in ran.records if isinstance(record.entry, CallStarted | CallFinished)]
    order = [(1, one.call_id) if isinstance(one, CallStarted) else (2, one.result.call_id) for one in entries]
    assert order[:3] == [(1, f"call_{number:05d}") for number in (1, 2, 3)]
    assert sorted(order[3:6]) == [(2, f"call_{number:05d}") for number in (1, 2, 3)]
    assert order[6:] == [(state, f"call_{number:05d}") for number in (4, 5, 6) for state in (1, 2)]
    assert [result.call_id for result in results(ran)] == [f"call_{number:05d}" for number in range(1, 7)]


def test_a_list_that_cannot_be_read_leaves_the_old_one_standing(tmp_path: Path) -> None:
    first, broken = call("update_todo_list", todos="[ ] open"), call("update_todo_list", todos="[x] open\nand so on")
    ran = run(tmp_path, step(first), step(broken), step(call("update_todo_list", todos="[x] open")), ends())
    assert [entry.result.kind for entry in ran.entries(CallFinished)] == ["ok", "error", "ok", "ok"]
    assert [len(entry.todos) for entry in ran.entries(TodosSet)] == [1, 1]
    assert ran.result.outcome is Outcome.FINISHED


def test_a_variable_that_is_passed_reaches_commands_and_stands_in_the_receipt(tmp_path: Path) -> None:
    config = Config(approve="all", env=Environment(("SOME_PLACE",)))
    shows = step(call("execute_command", command="echo $SOME_PLACE-$OTHER"))
    ran = run(tmp_path, shows, ends(), config=config, environ={"SOME_PLACE": "here", "OTHER": "there"})
    assert "here-\n" in ran.entries(CallFinished)[0].result.text + "\n"
    assert ran.entries(Receipt)[0].environment == ("SOME_PLACE",)
    assert run(tmp_path, ends()).entries(Receipt)[0].environment == ()


def test_an_answer_of_nothing_but_reasoning_is_stored_and_reminded_and_the_run_goes_on(tmp_path: Path) -> None:
    ran = run(tmp_path, {"reasoning": "I wonder."}, ends("After all."))
    assert (ran.result.outcome, ran.result.result, ran.result.turns) == (Outcome.FINISHED, "After all.", 2)
    assert [entry.message.text for entry in ran.entries(AssistantSaid)] == ["", ""]


def test_a_suggestion_may_name_a_mode(tmp_path: Path) -> None:
    options = [{"text": "Plan it first.", "mode": "architect"}, {"text": "Just do it."}]
    ran = run(tmp_path, step(call("ask_followup_question", question="How?", follow_up=options)))
    assert ran.result.question == Question("How?", (Option("Plan it first.", "architect"), Option("Just do it.")))
