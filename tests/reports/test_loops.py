"""Reports 31 to 37: a model that does the same over and over."""

from pathlib import Path

from ferrule.types.messages import Text
from ferrule.types.outcome import Outcome
from ferrule.types.records import AssistantSaid, CallFinished, Retried
from tests.e2e.wire import Home
from tests.engine.opening import Ran, Step, call, run, step
from tests.engine.opening import ends as done


def always(one: Step) -> Step:
    return {**one, "times": "always"}


def results(ran: Ran) -> list[str]:
    return [entry.result.text for entry in ran.entries(CallFinished)]


def test_report_32_the_same_file_read_again_and_again_is_stuck(tmp_path: Path) -> None:
    write(tmp_path, "a.txt", "a\n")
    ran = run(tmp_path, always(step(call("read_file", path="a.txt"))))
    assert (ran.result.outcome, len(ran.entries(AssistantSaid)) <= 20) == (Outcome.STUCK, True)


def test_report_33_reading_on_through_one_file_is_progress(tmp_path: Path) -> None:
    write(tmp_path, "a.txt", "".join(f"line {number}\n" for number in range(400)))
    steps = [step(call("read_file", path="a.txt", offset=10 * turn + 1, limit=10)) for turn in range(40)]
    ran = run(tmp_path, *steps, done())
    assert (ran.result.outcome, ran.result.turns) == (Outcome.FINISHED, 41)
    assert [f"line {10 * turn}\n" in text for turn, text in enumerate(results(ran)[:40])] == [True] * 40


def test_report_34_an_edit_that_fails_alike_each_time_is_told_what_to_change_and_then_stuck(tmp_path: Path) -> None:
    write(tmp_path, "a.txt", "one\ntwo\n")
    ran = run(tmp_path, always(step(call("edit", file_path="a.txt", old_string="tow", new_string="2"))))
    assert (ran.result.outcome, len(ran.entries(AssistantSaid)) <= 20) == (Outcome.STUCK, True)
    assert {entry.result.kind for entry in ran.entries(CallFinished)} == {"error"}
    assert all("two" in text for text in results(ran)), results(ran)[0]


def test_report_35_the_same_text_without_end_stops_at_the_output_limit_and_is_bounded(tmp_path: Path) -> None:
    ran = run(tmp_path, always({"text": "I will do it now. " * 200, "stop": "length"}))
    assert (ran.result.outcome, len(ran.entries(AssistantSaid))) == (Outcome.INCOMPLETE, 3)


def test_report_35_a_passage_that_fills_pages_is_broken_off_and_asked_for_again(tmp_path: Path) -> None:
    ran = run(tmp_path, {"text": "I will do it now. " * 20_000, "chunk": 40}, done())
    assert (ran.result.outcome, ran.result.turns) == (Outcome.FINISHED, 1)
    (retried,) = ran.entries(Retried)
    assert "the model repeated one passage without end" in retried.fault.sentence
    (heard,) = retried.partial
    assert isinstance(heard, Text)
    assert 6_000 <= len(heard.text) <= 7_000, "of 360,000 characters"


def test_report_35_a_model_that_only_repeats_itself_is_stuck_after_three_answers(tmp_path: Path) -> None:
    ran = run(tmp_path, always({"text": "I will do it now. " * 20_000, "chunk": 400}))
    assert (ran.result.outcome, len(ran.entries(Retried)), ran.entries(AssistantSaid)) == (Outcome.STUCK, 2, [])
    assert str(ran.result.error).startswith("The model said the same passage over and over.")


def test_report_36_no_output_is_told_as_such_and_the_command_over_and_over_is_stuck(tmp_path: Path) -> None:
    ran = run(tmp_path, always(step(call("execute_command", command="true"))))
    assert (ran.result.outcome, len(ran.entries(AssistantSaid)) <= 20) == (Outcome.STUCK, True)
    assert all("no output" in text and "exit code 0" in text.lower() for text in results(ran)), results(ran)[0]


def test_report_37_answers_of_nothing_are_not_sent_back_and_going_on_is_bounded_too(tmp_path: Path) -> None:
    home = Home(tmp_path)
    nothing: list[Step] = [{"text": " "}, {"parts": [], "times": "always"}]
    first = home.play("anthropic", *nothing)
    second = home.play("anthropic", *nothing, prompt=("-c", "-p", "go on"))
    assert [played.result["outcome"] for played in (first, second)] == ["incomplete"] * 2
    assert len(first.calls) == len(second.calls) <= 10
    assert first.complaints() + second.complaints() == []
    assert [message["role"] for message in second.bodies[-1]["messages"]].count("assistant") == 0


def write(base: Path, name: str, text: str) -> None:
    folder = base / "project"
    folder.mkdir()
    (folder / name).write_text(text)
