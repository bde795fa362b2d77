"""One passage over and over ends an answer; long answers that go on do not."""

import pytest

from ferrule.stream.inbound.endless import PERIOD, WINDOW, Endless, repeats
from ferrule.types.stream import Failed, PartBegan, PartDelta, StreamEvent, fold

LINE = "I will now check the file again. "


def played(*texts: str, kind: str = "text") -> tuple[list[StreamEvent], Failed | None]:
    """What goes on of an answer of these deltas, and how it was broken off."""
    watcher, passed = Endless(), [PartBegan(0, kind)]  # type: ignore[arg-type]  # from a table
    assert watcher.take(passed[0]) is None
    for text in texts:
        event = PartDelta(0, text)
        given = watcher.take(event)
        passed.append(event)
        if given is not None:
            assert given[0] is event
            assert isinstance(given[1], Failed)
            return passed, given[1]
    return passed, None


@pytest.mark.parametrize("kind", ["text", "reasoning"])
@pytest.mark.parametrize("size", [1, 7, 5000])
def test_a_passage_without_end_is_broken_off_soon_after_it_fills_the_window(kind: str, size: int) -> None:
    whole = "First something else. " * 3 + LINE * 3000
    passed, failed = played(*[whole[at : at + size] for at in range(0, len(whole), size)], kind=kind)
    assert failed is not None
    assert "repeated one passage without end" in failed.fault.sentence
    assert failed.partial == fold(passed)
    length = sum(len(event.text) for event in passed if isinstance(event, PartDelta))
    assert WINDOW <= length <= WINDOW + 3 * max(PERIOD, size)


def test_one_character_and_the_longest_passage_count_too() -> None:
    assert played(*["\n"] * (WINDOW + PERIOD))[1] is not None
    passage = "".join(chr(0x4E00 + number) for number in range(PERIOD))
    assert played(*[passage] * 20)[1] is not None
    assert played(*[passage + "!"] * 20)[1] is None


def test_long_answers_that_go_on_are_left_alone() -> None:
    table = [f"| row {number} | the same words in every row | {number * 7} |\n" for number in range(1000)]
    assert played(*table)[1] is None
    assert played(*[LINE] * ((WINDOW - PERIOD) // len(LINE)), "And that was it.")[1] is None
    assert not repeats(LINE * 10)


def test_parts_are_looked_at_each_for_itself_and_calls_not_at_all() -> None:
    watcher = Endless()
    for index in range(20):
        assert watcher.take(PartBegan(index, "text")) is None
        assert watcher.take(PartDelta(index, LINE * 20)) is None
    assert watcher.take(PartBegan(20, "call")) is None
