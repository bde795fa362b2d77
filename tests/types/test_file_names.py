import os
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrule.types.names import spell, unspell


@given(st.binary())
def test_every_name_comes_back_byte_for_byte(raw: bytes):
    spelling = spell(raw)
    assert unspell(spelling) == raw
    assert msgspec.json.decode(msgspec.json.encode(spelling)) == spelling
    assert spell(os.fsdecode(raw)) == spelling


@given(st.binary(), st.binary())
def test_two_names_never_share_a_spelling(one: bytes, other: bytes):
    assert (spell(one) == spell(other)) == (one == other)


@given(st.text().filter(lambda text: "\ufffd" not in text))
def test_an_ordinary_name_is_its_own_spelling(name: str):
    assert spell(name) == spell(name.encode()) == name
    assert unspell(name) == name.encode()


@pytest.mark.parametrize(
    ("raw", "spelling"),
    [
        (b"caf\xe9.txt", "caf\ufffdE9.txt"),
        ("a\ufffdb".encode(), "a\ufffd\ufffdb"),
        ("\ufffdE9".encode(), "\ufffd\ufffdE9"),
        (b"\xed\xa0\xbd", "\ufffdED\ufffdA0\ufffdBD"),
    ],
)
def test_spellings(raw: bytes, spelling: str):
    assert spell(raw) == spelling
    assert unspell(spelling) == raw


@pytest.mark.parametrize("written", ["\ufffd", "\ufffd4", "\ufffdzz", "\ufffd41"])
def test_a_mark_that_spells_nothing_stands_for_itself(written: str):
    assert unspell(written) == written.encode()


def test_a_file_with_such_a_name_is_found_again(tmp_path: Path):
    raw = os.fsencode(tmp_path) + b"/caf\xe9"
    Path(os.fsdecode(raw)).write_text("x")
    (found,) = os.listdir(tmp_path)
    assert Path(os.fsdecode(unspell(spell(str(tmp_path / found))))).read_text() == "x"
