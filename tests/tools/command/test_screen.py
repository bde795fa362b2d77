import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrule.tools.command.decoding import Decoder
from ferrule.tools.command.screen import Screen, rendered

STEERING = st.sampled_from(
    [
        "\r",
        "\n",
        "\r\n",
        "\b",
        "\x1b[K",
        "\x1b[1K",
        "\x1b[2K",
        "\x1b[2A",
        "\x1b[B",
        "\x1b[3C",
        "\x1b[999C",
        "\x1b[2D",
        "\x1b[40G",
        "\x1b[H",
        "\x1b[3;9H",
        "\x1b[J",
        "\x1b[2J",
        "\x1b[P",
        "\x1b[4X",
        "\x1b[31m",
        "\x1b]0;t\x07",
        "\x1bc",
        "\x07",
        "\x9b",
        "\t",
    ]
)
PRINTED = st.lists(st.one_of(STEERING, st.text(max_size=8))).map("".join)


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("10%\r50%\r100%\ndone\n", "100%\ndone\n"),
        ("downloading\rdone\n", "doneloading\n"),
        ("downloading\r\x1b[Kdone\n", "done\n"),
        ("downloading\x1b[2K\rdone\n", "done\n"),
        ("downloading\x1b[1Gdone\x1b[0K\n", "done\n"),
        ("long line\r         \rshort\n", "short\n"),
        ("ab\b\bX\n", "Xb\n"),
        ("a: 1%\nb: 1%\n\x1b[2Aa: 100%\nb: 100%\n", "a: 100%\nb: 100%\n"),
        ("a\nb\n\x1b[1A\x1b[2Kc\n", "a\nc\n"),
        ("a\nb\nc\x1b[2F\x1b[Jd", "d"),
        ("a\nb\n\x1b[1F\x1b[1EX", "a\nb\nX"),
        ("[ ]\x1b[2D*\n", "[*]\n"),
        ("name\x1b[8Gok\n", "name   ok\n"),
        ("name\x1b[999Cok\n", "name      ok\n"),
        ("abcdef\r\x1b[2Pxy\n", "xyef\n"),
        ("abcdef\r\x1b[2Xz\n", "z cdef\n"),
        ("before\x1b[2J\x1b[Hafter\n", "before\nafter\n"),
        ("\x1b[31mred\x1b[0m \x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\\n", "red link\n"),
        ("trailing  \nblanks  \n", "trailing  \nblanks  \n"),
        ("crlf\r\nlines\r\n", "crlf\nlines\n"),
        ("\x1b[?25l\x1b[=3hx", "x"),
    ],
)
def test_the_last_state_of_each_line_is_kept(printed: str, shown: str) -> None:
    assert rendered(printed) == shown


@given(PRINTED)
def test_what_was_rendered_stays_as_it_is_and_nothing_gets_longer(printed: str) -> None:
    shown = rendered(printed)
    assert rendered(shown) == shown
    assert len(shown) <= len(printed)


@given(PRINTED, st.data())
def test_it_makes_no_difference_how_the_bytes_were_cut(printed: str, data: st.DataObject) -> None:
    raw = printed.encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=6)))
    decoder, screen = Decoder(), Screen()
    shown = ""
    for begin, end in zip([0, *cuts], [*cuts, len(raw)], strict=True):
        shown += screen.feed(decoder.feed(raw[begin:end]))
    shown += screen.feed(decoder.feed(b"", final=True))
    whole = Decoder()
    assert shown + screen.finish() == rendered(whole.feed(raw) + whole.feed(b"", final=True))


@given(st.text(alphabet="ab \tü😀\n"))
def test_plain_text_is_never_altered(printed: str) -> None:
    assert rendered(printed) == printed


@pytest.mark.parametrize(
    "printed",
    [
        "x" * 60_000 + "x\b" * 60_000,
        ("x" * 1_000 + "\n") * 60 + "\x1b[50A\x1b[50B" * 20_000,
        "\r\x1b[K" * 100_000,
        "a\n" * 500_000,
        "\x1b[999999999C" * 20_000,
        "\x1b[" + ";" * 100_000 + "H",
    ],
)
def test_hostile_output_takes_linear_time(printed: str) -> None:
    began = time.process_time()
    rendered(printed)
    assert time.process_time() - began < 3
