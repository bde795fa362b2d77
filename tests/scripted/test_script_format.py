"""What a script may hold, and what is said about one that is wrong."""

import json
from pathlib import Path
from typing import Any

import pytest

from ferrule.providers.scripted.faults import Cut
from ferrule.providers.scripted.script import Call, Match, Part, Script, Step, Tokens, load, parse
from ferrule.types.errors import UsageError


def test_a_script_becomes_values() -> None:
    text = json.dumps(
        {
            "version": 1,
            "on_end": "repeat_last",
            "steps": [
                {
                    "reasoning": "hm",
                    "text": "hi",
                    "calls": [{"name": "f", "arguments": {"a": [1]}, "id": None}],
                    "chunk": 3,
                    "usage": {"input": 5},
                    "fault": {"kind": "cut", "how": "drop"},
                    "when": {"last_user": "go"},
                },
                {"parts": [{"text": "a"}, {"call": {"name": "g", "arguments": "{"}}, {"text": None}]},
            ],
        }
    )
    call = Call("f", {"a": [1]}, None)
    first = Step(
        text="hi",
        reasoning="hm",
        calls=(call,),
        chunk=3,
        usage=Tokens(input=5),
        fault=Cut(how="drop"),
        when=Match(last_user="go"),
    )
    second = Step(parts=(Part(text="a"), Part(call=Call("g", "{")), Part(text=None)))
    assert parse(text) == Script(1, (first, second), "repeat_last")
    assert first.content == (Part(reasoning="hm"), Part(text="hi"), Part(call=call))


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ({"txet": "a"}, "step 2: unknown key 'txet'; did you mean 'text'?"),
        ({"calls": [{"name": "f", "argument": {}}]}, "step 2: call 1: unknown key 'argument'; did you mean 'arguments'?"),
        ({"parts": [{"reason": ""}]}, "step 2: parts[0]: unknown key 'reason'; did you mean 'reasoning'?"),
        ({"parts": [{"call": {"nam": ""}}]}, "step 2: call 1: unknown key 'nam'; did you mean 'name'?"),
        ({"expect": {"last_usr": ""}}, "step 2: expect: unknown key 'last_usr'; did you mean 'last_user'?"),
        ({"usage": {"inputs": 1}}, "step 2: usage: unknown key 'inputs'; did you mean 'input'?"),
        ({"wire": {"new_line": "\n"}}, "step 2: wire: unknown key 'new_line'; did you mean 'newline'?"),
        ({"fault": {"kind": "htp"}}, "step 2: fault: kind 'htp' is unknown; did you mean 'http'?"),
        ({"fault": {"kind": "http", "stats": 500}}, "step 2: fault: unknown key 'stats'; did you mean 'status'?"),
        ({"fault": {"kind": "stall"}}, "step 2: fault: Object missing required field `seconds`"),
        ({"zzz": 1}, "step 2: unknown key 'zzz'; known are text, reasoning, calls"),
        ({"text": 5}, "step 2: text: Expected `str | null`, got `int`"),
        ({"stop": "stop"}, "step 2: stop: Invalid enum value 'stop'"),
        ({"text": "a", "parts": []}, "step 2: give either `parts` or `text`, `reasoning` and `calls`, not both"),
        ({"parts": [{}]}, "step 2: a part has exactly one of `text`, `reasoning` and `call`"),
        ({"parts": [{"text": "", "reasoning": ""}]}, "step 2: a part has exactly one"),
        ({"text": "a", "fault": {"kind": "http", "status": 500}}, "step 2: an http fault answers with an error"),
        ({"chunk": 0}, "step 2: chunk must be at least 1, not 0"),
        ({"delay": -1}, "step 2: delay must not be negative, not -1"),
        ({"times": 0}, 'step 2: times must be at least 1 or "always", not 0'),
        ({"copy": {"x": "("}}, "step 2: copy: x: '(' is not a regular expression"),
        ("text", "step 2: Expected `object`, got `str`"),
    ],
)
def test_what_is_wrong_is_named_with_its_step_and_the_nearest_key(step: Any, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(json.dumps({"version": 1, "steps": [{"text": "fine"}, step]}))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "it is not JSON"),
        ("[" * 100_000, "it is not JSON"),
        ("[]", "it must be an object"),
        ('{"steps": []}', "missing required field `version`"),
        ('{"version": 2, "steps": []}', "version: Invalid enum value 2"),
        ('{"version": 1, "step": []}', "unknown key 'step'; did you mean 'steps'?"),
        ('{"version": 1, "steps": {}}', "steps: Expected `array`, got `object`"),
    ],
)
def test_a_file_that_is_no_script(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "script.json"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        load(path)
    assert str(caught.value).startswith(f"The script {path} is wrong: ")
    assert message in str(caught.value)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    for name in ("missing", "bytes", "", "nul\0"):
        with pytest.raises(UsageError, match="cannot be read"):
            load(f"{tmp_path}/{name}")
