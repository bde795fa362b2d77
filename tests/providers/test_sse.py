import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrule.providers.connection.sse import ServerEvent, SseDecoder


def decoded(raw: bytes, cuts: list[int] | None = None) -> list[ServerEvent]:
    decoder = SseDecoder()
    edges = [0, *sorted(cut % (len(raw) + 1) for cut in cuts or []), len(raw)]
    events = [event for start, end in pairwise(edges) for event in decoder.feed(raw[start:end])]
    return [*events, *decoder.end()]


ONE = [ServerEvent("", b"1")]
CASES = [
    (b"data: 1\n\n", ONE),
    (b"data:1\n\n", ONE),
    (b"data:  1\n\n", [ServerEvent("", b" 1")]),
    (b"data: 1\r\n\r\n", ONE),
    (b"data: 1\r\r", ONE),
    (b"data: 1\r\n\n", ONE),
    (b"\xef\xbb\xbfdata: 1\n\n", ONE),
    (b": comment\n\ndata: 1\n: more\n\n:\n\n", ONE),
    (b"data: 1", ONE),
    (b"data: 1\n", ONE),
    (b"data: a\ndata: b\n\n", [ServerEvent("", b"a\nb")]),
    (b"data\n\n", [ServerEvent("", b"")]),
    (b"event: e\nid: 7\nretry: 5\ndata: 1\n\ndata: 2\n\n", [ServerEvent("e", b"1"), ServerEvent("", b"2")]),
    (b"event: lost\n\ndata: 1\n\n", ONE),
    (b"database: 1\n\ndata: 1\n\n", ONE),
    ("data: \u2028\x85é\n\n".encode(), [ServerEvent("", "\u2028\x85é".encode())]),
    (b"", []),
]


@pytest.mark.parametrize(("raw", "events"), CASES, ids=[repr(raw)[:40] for raw, _ in CASES])
@given(cuts=st.lists(st.integers(0, 60), max_size=8))
def test_events_however_the_bytes_are_cut(raw: bytes, events: list[ServerEvent], cuts: list[int]):
    assert decoded(raw, cuts) == decoded(raw, list(range(len(raw)))) == events


LINES = st.text(st.characters(exclude_characters="\r\n", codec="utf-8"), max_size=12)


@given(
    st.lists(st.lists(LINES, min_size=1, max_size=3), max_size=5),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.lists(st.integers(0, 300)),
)
def test_what_was_written_is_read(events: list[list[str]], end: str, cuts: list[int]):
    raw = "".join("".join(f"data: {line}{end}" for line in event) + end for event in events).encode()
    assert decoded(raw, cuts) == [ServerEvent("", "\n".join(event).encode()) for event in events]


def test_a_long_line_in_tiny_pieces_takes_linear_time():
    def seconds(size: int) -> float:
        decoder = SseDecoder()
        started = time.process_time()
        decoder.feed(b"data: ")
        for _ in range(size):
            decoder.feed(b"x")
        assert decoder.feed(b"\n\n") == [ServerEvent("", b"x" * size)]
        return time.process_time() - started

    seconds(1000)
    assert seconds(200_000) < 40 * max(seconds(20_000), 0.004)
