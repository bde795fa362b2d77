import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrule.types.json import MAX_DEPTH, BadJson, encode, integer, items, loads, member, mend, open_half, string

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
WILD_TEXT = st.text(st.characters(categories=None))


@given(VALUES)
def test_ordinary_json_is_read_without_notes(value: Any):
    text = json.dumps(value)
    assert loads(text) == loads(text.encode()) == (value, ())


@given(VALUES)
def test_what_was_read_is_written_and_read_again(value: Any):
    assert loads(encode(value)) == (value, ())


@pytest.mark.parametrize(
    ("source", "value", "notes"),
    [
        (b'"a\nb\x00\t"', "a\nb\x00\t", ("raw control characters inside a string",)),
        (b'{"a":NaN,"b":[Infinity,-Infinity]}', {"a": None, "b": [None, None]}, ("NaN", "Infinity", "-Infinity")),
        (b"1e999", None, ("a number out of range read as null",)),
        (rb'"\ud83d"', "\ud83d", ()),
        (rb'{"\udc4b":"\ud83d"}', {"\udc4b": "\ud83d"}, ()),
        (b'"\xff"', "\ufffd", ("bytes that are not UTF-8 replaced",)),
        (b'\xef\xbb\xbf{"a":1}', {"a": 1}, ()),
        (b'{"a":1,"a":2}', {"a": 2}, ()),
        (b'{"a":NaN,"a":2}', {"a": 2}, ("NaN",)),
        (b' {"a" :\n1}\r\n', {"a": 1}, ()),
    ],
)
def test_what_is_let_through(source: bytes, value: Any, notes: tuple[str, ...]):
    read, said = loads(source)
    assert read == value
    assert [note.removesuffix(" read as null") for note in said] == [note.removesuffix(" read as null") for note in notes]


def test_a_text_with_raw_surrogates_is_read():
    assert loads('{"a":"\ud83d"}') == ({"a": "\ud83d"}, ())


@pytest.mark.parametrize("source", [b"", b"{", b'{"a":1} x', b"{'a':1}", b"[1,]", b'"abc', b"nul", b"1" * 5000, b"\xff"])
def test_what_is_not_json_is_a_value(source: bytes):
    value, _ = loads(source)
    assert isinstance(value, BadJson)
    assert value.reason


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
def test_nesting_has_a_limit(opening: bytes):
    closing = b"]" if opening == b"[" else b"}"
    inside, outside = ((opening * depth + b"1" + closing * depth) for depth in (MAX_DEPTH, MAX_DEPTH + 1))
    assert not isinstance(loads(inside)[0], BadJson)
    assert loads(outside)[0] == BadJson(f"nested deeper than {MAX_DEPTH} levels")
    assert isinstance(loads(opening * 200_000)[0], BadJson)


def test_brackets_inside_strings_are_not_nesting():
    text = json.dumps(["[{" * 2000, '"\\['])
    assert loads(text) == (json.loads(text), ())


@given(st.binary(max_size=60))
def test_any_bytes_give_a_value(source: bytes):
    loads(source)


@given(WILD_TEXT)
def test_mended_text_can_be_encoded_and_is_otherwise_the_same(text: str):
    mended = mend(text)
    mended.encode()
    assert mend(mended) == mended
    left = iter(mended)
    assert all(character in left for character in text if not "\ud800" <= character <= "\udfff")


@given(st.text(), st.data())
def test_halves_cut_anywhere_are_joined_again(text: str, data: st.DataObject):
    units = text.encode("utf-16-le")
    cut = data.draw(st.integers(0, len(units) // 2)) * 2
    first, second = (part.decode("utf-16-le", "surrogatepass") for part in (units[:cut], units[cut:]))
    assert mend(first + second) == text
    assert open_half(first) == (first[-1:] if first[-1:] and "\ud800" <= first[-1] <= "\udbff" else "")


@given(st.recursive(WILD_TEXT, lambda inner: st.lists(inner) | st.dictionaries(WILD_TEXT, inner), max_leaves=8))
def test_everything_that_holds_text_can_be_encoded(value: Any):
    json.loads(encode(value))


def test_a_number_that_is_not_one_is_encoded_as_null():
    assert encode([math.nan, math.inf]) == b"[null,null]"


def test_members_of_the_wrong_kind_are_missing():
    value = {"a": [{"b": "x"}], "n": "12", "f": 3.0, "t": True, "s": 5}
    assert (string(value, "a", 0, "b"), string(value, "a", 1, "b"), string(value, "s"), string(None, "a")) == ("x", "", "", "")
    assert [integer(value, key) for key in ("n", "f", "t", "s", "missing")] == [12, 3, None, 5, None]
    assert (items(value, "a"), items(value, "n"), member("text", 0), member(["x"], "a")) == ([{"b": "x"}], [], None, None)
