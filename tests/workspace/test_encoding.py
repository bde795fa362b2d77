import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrule.workspace.encoding import LATIN, MARKED, STRAY, UTF_8, WINDOWS, Encoding, decode, guess, is_binary


@given(st.binary(max_size=60), st.sampled_from([b"", *(encoding.bom for encoding in MARKED)]))
def test_any_bytes_that_decode_come_back_unchanged(data: bytes, bom: bytes) -> None:
    decoded = decode(bom + data)
    if decoded is None:
        assert b"\0" in data or len(bom) in (2, 4)
    else:
        text, encoding = decoded
        assert encoding.encode(text) == bom + data


@given(st.text(), st.sampled_from([UTF_8, *MARKED]))
def test_a_text_is_read_as_it_was_written(text: str, encoding: Encoding) -> None:
    data = encoding.encode(text)
    if (
        is_binary(data)
        or (encoding is UTF_8 and text.startswith("\ufeff"))
        or (encoding.codec == "utf-16-le" and text[:1] == "\0")
    ):
        return
    assert decode(data) == (text, encoding)


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (b"plain", UTF_8),
        ("naïve".encode(), UTF_8),
        ("naïve".encode("cp1252"), WINDOWS),
        (b"\x90", LATIN),
        ("naïve – ".encode() + b"\xe9", STRAY),
        ("naïve".encode() + b"\xe9\xe8\xea", WINDOWS),
    ],
)
def test_bytes_without_a_mark_are_guessed(data: bytes, encoding: Encoding) -> None:
    assert guess(data) == encoding


@pytest.mark.parametrize("data", [b"a\0b", b"\x7fELF\x02\x01\x01\0", b"\xff\xfea", b"\xff\xfe\0\0\xff\xff\xff\xff"])
def test_binary_and_malformed_bytes_are_no_text(data: bytes) -> None:
    assert decode(data) is None
