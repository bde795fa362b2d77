from hypothesis import given
from hypothesis import strategies as st

from ferrule.store.folds import conversation, transcript
from ferrule.store.rewinding import in_force
from ferrule.types.records import Entry, Record, Undone

from .entries import ENTRIES, answered, finished, law, said, started


def stored(entries: list[Entry]) -> list[Record]:
    return [Record(seq, "main", 0.0, entry, "") for seq, entry in enumerate(entries, 1)]


def back(to: int) -> Undone:
    return Undone(0, to, conversation=True)


def test_going_back_shows_what_was_shown_then_and_what_follows() -> None:
    history = [said("a"), answered("x"), started("x"), finished("x"), said("b"), back(4), said("c")]
    assert transcript(stored(history)) == (*transcript(stored(history[:4])), history[6].message)


def test_going_back_to_before_a_rewind_takes_it_back() -> None:
    history = [said("a"), said("b"), back(1), said("c"), back(2)]
    assert transcript(stored(history)) == transcript(stored(history[:2]))


def test_files_alone_take_nothing_out() -> None:
    history: list[Entry] = [said("a"), said("b"), Undone(0, 1)]
    assert len(transcript(stored(history))) == 2


def test_many_rewinds_of_rewinds_take_linear_time() -> None:
    entries: list[Entry] = [said("a")]
    for seq in range(2, 3000):
        entries.append(said("b") if seq % 2 else back(seq - 2 if seq > 2 else 1))
    assert len(in_force(stored(entries), 3000)) <= 3000


@law
@given(st.lists(st.one_of(ENTRIES, st.builds(back, st.integers(-2, 40))), max_size=25), st.integers(-2, 30))
def test_a_rewind_gives_the_conversation_of_its_prefix_whatever_was_recorded(entries: list[Entry], to: int) -> None:
    history = [entry for entry in entries if not isinstance(entry, Undone) or entry.to >= 0]
    then, now = conversation(stored(history)[: max(to, 0)]), conversation(stored([*history, back(to)]))
    assert (now.messages, now.open_calls, now.todos, now.cuts, now.compacted) == (
        then.messages,
        then.open_calls,
        then.todos,
        then.cuts,
        then.compacted,
    )
