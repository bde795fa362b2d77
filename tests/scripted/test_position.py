"""Which step answers, across faults, branches and processes."""

from pathlib import Path
from typing import Any

import pytest

from ferrule.types.messages import Assistant, Message, Text, ToolCall, User
from ferrule.types.stream import Done, Failed
from tests.scripted.playing import GO, done, play, provider, results, write

FAIL = {"fault": {"kind": "http", "status": 429}}
CALL = {"calls": [{"name": "f"}]}


def said(last: Done | Failed) -> str:
    return last.message.text if isinstance(last, Done) else last.fault.code


def test_one_process_plays_one_step_a_call(tmp_path: Path) -> None:
    player = provider(write(tmp_path, {**FAIL, "times": 2}, {"text": "one"}, {"text": None}, {"text": "two"}))
    assert [said(play(player)) for _ in range(6)] == ["rate_limit", "rate_limit", "one", "", "two", "bad_request"]


def test_the_last_step_repeats_when_asked(tmp_path: Path) -> None:
    player = provider(write(tmp_path, {"text": "one"}, {"text": "two"}, on_end="repeat_last"))
    assert [said(play(player)) for _ in range(4)] == ["one", "two", "two", "two"]


def test_always_never_ends(tmp_path: Path) -> None:
    player = provider(write(tmp_path, {"text": "one", "times": "always"}, {"text": "never"}))
    assert {said(play(player)) for _ in range(20)} == {"one"}


def test_a_new_process_goes_on_after_every_prefix(tmp_path: Path) -> None:
    steps: list[dict[str, Any]] = [FAIL, {**CALL, "times": 3}, {"text": None}, FAIL, {"text": "then", **CALL}, {"text": "end"}]
    path = write(tmp_path, *steps)
    whole = provider(path)
    conversation: list[Message] = [GO]
    while True:
        last = play(whole, *conversation)
        if isinstance(last, Failed) and last.fault.code == "bad_request":
            break
        if not isinstance(last, Done) or not last.message.parts:
            continue
        resumed = provider(path)
        again = next(got for _ in range(4) if isinstance(got := play(resumed, *conversation), Done) and got.message.parts)
        assert again.message == last.message
        conversation += [last.message, results(last.message, *("r" for _ in last.message.calls)) if last.message.calls else GO]
    assert len(conversation) == 11


def test_marks_hold_where_the_beginning_was_shrunk_away(tmp_path: Path) -> None:
    path = write(tmp_path, {**CALL, "times": 5}, {"text": "end"})
    player = provider(path)
    conversation: list[Message] = [GO]
    for _ in range(4):
        answer = done(player, *conversation)
        conversation.extend((answer, results(answer, "r")))
    resumed = provider(path)
    assert done(resumed, GO, *conversation[-2:]).calls[0].id == "call_1_5_1"
    assert said(play(resumed)) == "end"


def test_another_models_answers_do_not_count(tmp_path: Path) -> None:
    path = write(tmp_path, {"text": "one"}, {"text": "two"})
    stranger = Assistant((Text("said elsewhere"),), "end", "openai/m")
    assert said(play(provider(path), GO, stranger, GO)) == "one"
    assert said(play(provider(path), GO, done(provider(path)), GO, stranger, GO)) == "two"


def test_a_step_with_a_condition_is_played_when_it_holds(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        {"text": "title", "when": {"system": "title"}, "times": "always"},
        {"text": "stopped", "when": {"last_user": "stop"}},
        {"text": "saw", "when": {"last_result": "boom", "last": "results"}},
        CALL,
        {"text": "end"},
    )
    player = provider(path)
    assert said(play(player, system=("make a title",))) == "title"
    first = done(player)
    assert said(play(player, GO, first, results(first, "boom"))) == "saw"
    assert said(play(player, system=("make a title",))) == "title"
    stop = User((Text("stop that"),))
    assert said(play(player, stop)) == "stopped"
    assert said(play(player, stop)) == "end"


def test_a_new_process_knows_which_conditional_steps_were_played(tmp_path: Path) -> None:
    path = write(tmp_path, {"text": "once", "when": {"last_user": "go"}}, {"text": "end"})
    answer = done(provider(path))
    assert answer.text == "once"
    assert said(play(provider(path), GO, answer, GO)) == "end"


def test_a_new_process_that_is_first_asked_for_a_summary_goes_on_where_the_conversation_stands(tmp_path: Path) -> None:
    summary = {"text": "short", "when": {"last_user": "summarise"}, "times": "always"}
    path = write(tmp_path, CALL, {"text": "one"}, {"text": "two"}, summary)
    player = provider(path)
    first = done(player)
    second = done(player, GO, first, results(first, "r"))
    resumed = provider(path)
    assert said(play(resumed, User((Text("summarise it"),)))) == "short"
    assert said(play(resumed, GO, second, GO)) == "two"


@pytest.mark.parametrize(
    "bad", [{"text": "x", "stop": "length"}, {"calls": [{"name": "f", "arguments": "{"}]}, {"text": None}, FAIL]
)
def test_only_a_sound_answer_that_was_lost_is_given_again(tmp_path: Path, bad: dict[str, Any]) -> None:
    player = provider(write(tmp_path, bad, {"text": "good"}, {"text": "next"}, on_lost="again"))
    play(player)
    good = done(player)
    assert (good.text, said(play(player)), said(play(player, GO, good, GO))) == ("good", "good", "next")


def test_a_mark_that_was_spoilt_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, CALL, {"text": "end"})
    answer = done(provider(path))
    call = answer.calls[0]
    assert call.opaque
    for data in ("", "[]", "{"):
        spoilt = ToolCall(call.id, call.name, call.arguments, opaque=type(call.opaque)("scripted", str(path), data))
        message = Assistant((spoilt,), "calls", answer.model)
        last = play(provider(path), GO, message, results(message, "r"))
        assert isinstance(last, Failed)
        assert "opaque data was changed" in last.fault.detail
