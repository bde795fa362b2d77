"""The page for users says what is true."""

import re
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from ferrule.providers.scripted.faults import AnyFault, Says
from ferrule.providers.scripted.script import Match, Script, Step, Wire, parse

PAGE = (Path(__file__).parents[2] / "docs" / "scripted.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_is_a_script(example: str) -> None:
    assert parse(example).steps


def test_every_key_is_documented() -> None:
    words = set(re.findall(r"`\"?([a-z_]+)\"?`", PAGE))
    keys = {
        field.encode_name
        for struct in (Script, Step, Match, Wire, *get_args(AnyFault))
        for field in msgspec.structs.fields(struct)
    }
    kinds = {str(struct.__struct_config__.tag) for struct in get_args(AnyFault)}
    assert keys | kinds | set(get_args(Says)) <= words
