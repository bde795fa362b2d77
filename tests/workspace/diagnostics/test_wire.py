import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferrule.workspace.diagnostics.wire import Frames, Garbled, framed

MESSAGES = st.lists(st.dictionaries(st.text(max_size=4), st.text(max_size=9), max_size=3), max_size=4)


@settings(max_examples=100)
@given(MESSAGES, st.integers(1, 50))
def test_messages_come_back_however_they_are_cut(messages: list[dict[str, str]], size: int) -> None:
    data = b"".join(framed(message) for message in messages)
    frames = Frames()
    found = [message for at in range(0, len(data), size) for message in frames.feed(data[at : at + size])]
    assert found == messages


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"x" * 5000, "where a header belongs"),
        (b"Content-Type: a\r\n\r\n{}", "wrote b'Content-Type: a' where a header belongs"),
        (b"Content-Length: 3\r\n\r\n[1]", "wrote a message that is not JSON"),
        (b"Content-Length: 99999999999\r\n\r\n", "wrote a message of 99999999999 bytes"),
    ],
)
def test_what_is_no_message_is_said(data: bytes, problem: str) -> None:
    with pytest.raises(Garbled, match=problem):
        Frames().feed(data)


def test_other_headers_are_passed_over() -> None:
    data = framed({"a": 1}).replace(b"\r\n\r\n", b"\r\nContent-Type: application/vscode-jsonrpc\r\n\r\n", 1)
    assert Frames().feed(data) == [{"a": 1}]
