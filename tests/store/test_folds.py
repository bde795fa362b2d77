import gc
import time
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from ferrule.store.folds import (
    Conversation,
    NotStarted,
    OpenCall,
    Started,
    Waiting,
    changes,
    conversation,
    denials,
    last_outcome,
    open_calls,
    todos,
    transcript,
    usage,
)
from ferrule.types.fault import Fault
from ferrule.types.messages import Results, Text, ToolResult
from ferrule.types.outcome import Outcome
from ferrule.types.records import (
    Answered,
    Approval,
    Asked,
    CallFinished,
    CallStarted,
    Entry,
    Record,
    Retried,
    RunEnded,
    TodosSet,
)
from ferrule.types.result import Denial
from ferrule.types.tools import Effect, FileChange, Option, Question, Todo
from ferrule.types.usage import Usage

from .entries import BRANCHES, ENTRIES, answered, finished, law, result, said, started


def stored(*entries: Entry, branch: str = "main") -> list[Record]:
    return [Record(seq, branch, 0.0, entry, "") for seq, entry in enumerate(entries, 1)]


def test_transcript_gathers_results_in_the_order_of_the_calls() -> None:
    hello, first, thanks = said("hello"), answered("a", "b", "c"), answered(text="thanks")
    history = stored(hello, first, started("c"), finished("c"), finished("a"), finished("b"), thanks)
    results = Results((result("a"), result("b"), result("c")))
    assert transcript(history) == (hello.message, first.message, results, thanks.message)


def test_unfinished_turn_shows_only_what_is_recorded() -> None:
    call = answered("a", "b")
    assert transcript(stored(call)) == (call.message,)
    assert transcript(stored(call, finished("b"))) == (call.message, Results((result("b"),)))


def test_message_of_the_person_during_a_turn_follows_its_results() -> None:
    call, steer = answered("a", "b"), said("also look at c")
    history = stored(call, finished("a"), steer, finished("b"))
    assert transcript(history) == (call.message, Results((result("a"), result("b"))), steer.message)
    assert transcript(stored(call, steer, finished("a"))) == (call.message, Results((result("a"),)), steer.message)


def test_result_that_comes_after_later_turns_still_stands_behind_its_own_call() -> None:
    one, two, three = answered("a"), answered("b"), answered("c")
    history = stored(one, two, finished("b"), three, finished("a", "late"), finished("c"))
    late, second, third = Results((result("a", "late"),)), Results((result("b"),)), Results((result("c"),))
    assert transcript(history) == (one.message, late, two.message, second, three.message, third)


def test_result_without_its_call_is_left_out() -> None:
    assert transcript(stored(said("x"), finished("nobody"))) == (said("x").message,)


def test_answer_is_the_result_of_its_question_until_another_result_is_stored() -> None:
    call, question = answered("q"), Question("Which?", (Option("this"), Option("that")))
    asked = stored(call, CallStarted("q", "ask", Effect.IDEMPOTENT), Asked("q", question))
    assert open_calls(asked) == (OpenCall(call.message.calls[0], Waiting(question)),)
    given_ = stored(*(record.entry for record in asked), Answered("q", "this"))
    assert open_calls(given_) == ()
    assert transcript(given_)[-1] == Results((ToolResult("q", "read_file", "ok", (Text("this"),)),))
    told = stored(*(record.entry for record in given_), finished("q", "<answer>this</answer>"), Answered("q", "again"))
    assert transcript(told)[-1] == Results((result("q", "<answer>this</answer>"),))


def test_open_calls_say_how_far_each_call_came() -> None:
    call, question = answered("a", "b", "c", "d"), Question("Sure?", (Option("yes"),))
    write = CallStarted("b", "edit", Effect.MUTATING)
    history = stored(call, started("a"), finished("a"), write, Asked("c", question))
    assert open_calls(history) == (
        OpenCall(call.message.calls[1], Started(Effect.MUTATING)),
        OpenCall(call.message.calls[2], Waiting(question)),
        OpenCall(call.message.calls[3], NotStarted()),
    )
    assert open_calls(stored(call, answered(text="later"))) == ()
    assert open_calls([]) == ()


def test_usage_counts_answers_and_retried_calls() -> None:
    retried = Retried(Fault("cut"), 1.0, (), Usage(input=5, output=1, cost=0.5))
    history = stored(answered(usage=Usage(input=10, output=2, cost=0.25)), retried, answered(usage=Usage(cache_read=3, cost=0.0)))
    assert usage(history) == Usage(input=15, output=3, cache_read=3, cost=0.75)
    assert usage(stored(answered(usage=Usage(input=1)), retried)) == Usage(input=6, output=1, cost=None)
    assert usage([]) == Usage(cost=0.0)


def test_changes_are_one_net_change_a_file() -> None:
    def changed(id: str, *made: FileChange) -> CallFinished:
        return CallFinished(result(id), 0.1, made)

    history = stored(
        changed("1", FileChange("a", "1", "2"), FileChange("new", None, "x")),
        changed("2", FileChange("a", "2", "3"), FileChange("back", "1", "2")),
        changed("3", FileChange("back", "2", "1"), FileChange("new", "x", None)),
    )
    assert changes(history) == (FileChange("a", "1", "3"),)


def test_last_todos_and_last_outcome_count() -> None:
    first, second = RunEnded(Outcome.INCOMPLETE, ""), RunEnded(Outcome.FINISHED, "done")
    list_ = (Todo("x", "pending"),)
    history = stored(TodosSet((Todo("x", "completed"),)), first, TodosSet(list_), second, said("more"))
    assert (todos(history), last_outcome(history)) == (list_, second)
    assert (todos([]), last_outcome([])) == ((), None)


def test_denials_name_the_call_and_the_flag() -> None:
    history = stored(
        answered("a"),
        Approval("a", "", "allow", "rule"),
        Approval("a", "", "deny", "nobody to ask", "writes outside", "--approve all"),
        Approval("gone", "", "deny", "rule"),
    )
    assert denials(history) == (
        Denial("read_file", '{"path": "a"}', "writes outside", "--approve all"),
        Denial("", "", "", ""),
    )


def test_other_branches_change_nothing() -> None:
    main = stored(said("x"), answered("a"))
    other = stored(answered("b", usage=Usage(input=9)), finished("a"), RunEnded(Outcome.FAILED, ""), branch="sub")
    mixed = conversation([*main, *other])
    assert (tuple(mixed.messages), mixed.usage, mixed.last_outcome) == (transcript(main), Usage(cost=0.0), None)
    assert len(conversation(other, "sub").messages) == 1


@law
@given(history=st.lists(st.tuples(BRANCHES, ENTRIES), max_size=12), looks=st.lists(st.booleans(), max_size=12))
def test_folding_never_fails_and_does_not_depend_on_when_it_is_looked_at(
    history: Sequence[tuple[str, Entry]], looks: Sequence[bool]
) -> None:
    records = [Record(seq, branch, 0.0, entry, "") for seq, (branch, entry) in enumerate(history, 1)]
    watched = Conversation()
    for at, record in enumerate(records):
        watched.add(record)
        if at < len(looks) and looks[at]:
            assert watched.messages is watched.messages
            assert len(watched.open_calls) >= 0
    whole = conversation(records)
    assert list(watched.messages) == list(whole.messages)
    assert watched.open_calls == whole.open_calls
    assert (watched.changes, watched.denials, watched.usage) == (whole.changes, whole.denials, whole.usage)


IDS = ("a", "b", "c")
STEPS = st.one_of(
    st.lists(st.sampled_from(IDS), unique=True, max_size=3).map(lambda ids: answered(*ids)),
    st.sampled_from(IDS).map(started),
    st.sampled_from(IDS).map(finished),
    st.just(said("steer")),
    st.sampled_from(IDS).map(lambda call: Answered(call, "yes")),
)


@law
@given(entries=st.lists(STEPS, max_size=14), looks=st.lists(st.booleans(), min_size=14, max_size=14))
def test_results_stand_behind_their_message_whatever_the_order(entries: list[Entry], looks: list[bool]) -> None:
    folded = Conversation()
    for record, look in zip(stored(*entries), looks, strict=False):
        folded.add(record)
        if look:
            assert len(folded.messages) >= 0
    messages = list(folded.messages)
    assert messages == list(transcript(stored(*entries)))
    for before, message in zip([None, *messages], messages, strict=False):
        if isinstance(message, Results):
            ids = [call.id for call in getattr(before, "calls", ())]
            found = [part.call_id for part in message.parts]
            assert found == [id for id in ids if id in found]
            assert found


def fold_seconds(turns: int, look: bool) -> float:
    records = stored(*(entry for turn in range(turns) for entry in (answered(f"c{turn}"), finished(f"c{turn}"))))
    folded = Conversation()
    gc.disable()
    before = time.process_time()
    try:
        for record in records:
            folded.add(record)
            if look:
                assert folded.messages
                assert len(folded.open_calls) < 2
        assert len(folded.messages) == 2 * turns
        return time.process_time() - before
    finally:
        gc.enable()


def test_folding_takes_linear_time_looked_at_or_not() -> None:
    for look in (False, True):
        short, long = (min(fold_seconds(turns, look) for _ in range(3)) for turns in (1_000, 20_000))
        assert long < 80 * max(short, 0.002)


def test_one_turn_of_many_calls_takes_linear_time() -> None:
    ids = [f"c{number}" for number in range(20_000)]
    before = time.process_time()
    folded = conversation(stored(answered(*ids), *map(finished, ids)))
    assert folded.open_calls == ()
    assert len(folded.messages[1].parts) == 20_000
    assert time.process_time() - before < 2.0
