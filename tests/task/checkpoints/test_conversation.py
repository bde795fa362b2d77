import asyncio
from pathlib import Path

import pytest

from ferrule.store.folds import Conversation, Waiting, conversation
from ferrule.task.checkpoints.undo import points
from ferrule.task.receipts.evidence import Evidence
from ferrule.types.errors import UsageError
from ferrule.types.messages import Assistant, Results, Text, User
from ferrule.types.outcome import Outcome
from ferrule.types.records import AssistantSaid, CallFinished, CallStarted, Receipt, RunEnded, UserSaid

from .world import World, call, world, write


def two_runs(base: Path) -> World:
    made = world(base, {"a.txt": "one\n"})
    made.run(write("a.txt", "two\n"))
    made.run(write("a.txt", "three\n"), prompt="More.", more=True)
    return made


def now(made: World) -> Conversation:
    return conversation(made.records)


def said(folded: Conversation) -> list[str]:
    return [part.text for each in folded.messages if isinstance(each, User) for part in each.parts if isinstance(part, Text)]


def test_files_and_conversation_go_back_together_and_come_back_together(tmp_path: Path) -> None:
    made = two_runs(tmp_path)
    before = tuple(now(made).messages)
    made.undo()
    assert ((made.folder / "a.txt").read_text(), said(now(made))) == ("two\n", ["Do it."])
    made.undo()
    assert ((made.folder / "a.txt").read_text(), tuple(now(made).messages)) == ("three\n", before)


def test_the_files_alone_go_back_and_the_model_is_told(tmp_path: Path) -> None:
    made = two_runs(tmp_path)
    made.undo(conversation=False)
    *earlier, note = said(now(made))
    assert ((made.folder / "a.txt").read_text(), earlier) == ("two\n", ["Do it.", "More."])
    assert note.startswith("[Note] The person undid changes") and note.endswith(": a.txt")
    made.undo()
    assert ((made.folder / "a.txt").read_text(), said(now(made))) == ("three\n", ["Do it.", "More."])


def test_the_conversation_alone_goes_back_and_the_model_is_told(tmp_path: Path) -> None:
    made = two_runs(tmp_path)
    made.undo(files=False)
    prompt, note = said(now(made))
    assert ((made.folder / "a.txt").read_text(), prompt) == ("three\n", "Do it.")
    assert note.startswith("[Note] The person went back to this point")


def test_before_the_first_words_there_is_no_prompt_to_go_on_with(tmp_path: Path) -> None:
    made = two_runs(tmp_path)
    made.undo(all=True, files=False)
    assert list(now(made).messages) == []
    with pytest.raises(UsageError, match="holds no prompt yet"):
        result = made.run(prompt=None, more=True)
        raise UsageError(result.error or "")


def test_going_back_into_a_turn_closes_its_calls_and_the_session_goes_on(tmp_path: Path) -> None:
    made = two_runs(tmp_path)
    second = [record for record in made.records if isinstance(record.entry, CallStarted)][2]
    assert made.undo(to=second.seq).state == "done"
    results = now(made).messages[-1]
    assert isinstance(results, Results)
    assert [(part.name, part.kind) for part in results.parts] == [("write_to_file", "unknown")]
    assert ((made.folder / "a.txt").read_text(), now(made).open_calls) == ("two\n", ())
    asked = next(record for record in made.records if isinstance(record.entry, AssistantSaid) and record.seq > 8)
    made.undo(to=asked.seq)
    assert now(made).open_calls == ()
    assert made.run(write("a.txt", "four\n"), prompt="On.", more=True).outcome is Outcome.FINISHED


def test_a_call_of_an_undone_point_is_never_started_again(tmp_path: Path) -> None:
    made = two_runs(tmp_path)
    before = {record.entry.call_id for record in made.records if isinstance(record.entry, CallStarted)}
    asked = [record for record in made.records if isinstance(record.entry, AssistantSaid)]
    made.undo(to=asked[2].seq)
    made.run(prompt="On.", more=True)
    begun = [record.entry.call_id for record in made.records if isinstance(record.entry, CallStarted)]
    assert len(begun) == len(set(begun)) and before < set(begun)


def test_an_open_question_waits_again_after_its_answer_was_undone(tmp_path: Path) -> None:
    made = world(tmp_path)
    question = call("ask_followup_question", question="Which?", follow_up=[{"text": "left"}])
    assert made.run(question).outcome is Outcome.NEEDS_INPUT
    assert made.run(write("left.txt", "x\n"), prompt="left", more=True).outcome is Outcome.FINISHED
    made.undo()
    (waiting,) = now(made).open_calls
    assert (isinstance(waiting.state, Waiting), list(made.tree)) == (True, [])


def test_what_was_undone_is_not_finished_any_more(tmp_path: Path) -> None:
    made = two_runs(tmp_path)
    made.undo()
    assert now(made).last_outcome == RunEnded(Outcome.FINISHED, "Done.")
    assert (now(made).ended, now(made).undoing) == (None, False)


def test_usage_and_changes_stay_counted(tmp_path: Path) -> None:
    made = two_runs(tmp_path)
    used, calls = now(made).usage, now(made).calls_made
    made.undo(all=True)
    assert (now(made).usage, now(made).calls_made, now(made).changes) == (used, calls, ())


def test_every_receipt_can_be_made_again_after_undos(tmp_path: Path) -> None:
    made = two_runs(tmp_path)
    made.undo()
    made.undo()
    made.undo(conversation=False, last=3)
    made.run(write("b.txt", "new\n"), prompt="On.", more=True)
    evidence, head, receipts = Evidence(), "", 0
    for record in made.records:
        if isinstance(record.entry, Receipt):
            said = record.entry
            assert evidence.receipt(said.outcome, said.limits, said.environment, head, said.sandbox) == said
            receipts += 1
        evidence.replay(record)
        head = record.hash
    assert receipts == 3
    assert [change.path for change in said.changes] == ["b.txt"]


def test_points_tell_what_was_said_written_and_run(tmp_path: Path) -> None:
    made = world(tmp_path)
    made.run(write("a.txt", "x\n"), call("execute_command", command="true"))
    made.run(write("sub/b.txt", "x\n"), prompt="More.", more=True)
    made.undo()
    _, found = asyncio.run(points(made.environ, None, made.folder))
    assert [(point.kind, point.text, point.files, point.commands) for point in found] == [
        ("prompt", "Do it.", ("a.txt",), ("true",)),
        ("prompt", "More.", ("sub/b.txt",), ()),
        ("undo", f"back to record {found[1].to}", ("sub/b.txt",), ()),
    ]


def test_the_records_stay(tmp_path: Path) -> None:
    made = two_runs(tmp_path)
    before = made.records
    made.undo(all=True)
    assert made.records[: len(before)] == before
    assert [type(record.entry).__name__ for record in made.records[len(before) :]] == ["Undoing", "Undone"]


def test_nothing_to_undo_is_said_and_stores_nothing(tmp_path: Path) -> None:
    made = two_runs(tmp_path)
    made.undo(conversation=False, all=True)
    stored = len(made.records)
    assert made.undo(conversation=False, last=3).state == "nothing"
    assert len(made.records) == stored


def test_an_answer_of_the_model_and_its_results_stay_together(tmp_path: Path) -> None:
    made = two_runs(tmp_path)
    for record in made.records[2:]:
        made.undo(to=record.seq, force=True)
        messages = list(now(made).messages)
        for place, message in enumerate(messages):
            if isinstance(message, Assistant) and message.calls:
                results = messages[place + 1]
                assert isinstance(results, Results)
                assert [part.call_id for part in results.parts] == [each.id for each in message.calls]
    assert not any(isinstance(record.entry, UserSaid) and record.entry.origin == "note" for record in made.records)
    assert any(isinstance(record.entry, CallFinished) for record in made.records)
