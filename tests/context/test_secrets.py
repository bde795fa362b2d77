import base64
import json
import urllib.parse

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferrule.context.secrets import mask

KEY = 'sk-live/a+b=c d"e%\né1'
SECRETS = (("API_KEY", KEY),)


@pytest.mark.parametrize(
    "spelled",
    [
        KEY,
        json.dumps(KEY)[1:-1],
        json.dumps(KEY, ensure_ascii=False)[1:-1],
        urllib.parse.quote(KEY),
        urllib.parse.quote(KEY, safe=""),
        urllib.parse.quote_plus(KEY),
        urllib.parse.quote(KEY, safe="")
        .replace("%2F", "%2f")
        .replace("%C3%A9", "%c3%a9")
        .replace("%2B", "%2b")
        .replace("%3D", "%3d")
        .replace("%0A", "%0a"),
        base64.b64encode(KEY.encode()).decode(),
        base64.b64encode(KEY.encode()).decode().rstrip("="),
        base64.urlsafe_b64encode(KEY.encode()).decode(),
        KEY.encode().hex(),
        KEY.encode().hex().upper(),
    ],
)
def test_a_secret_is_replaced_however_it_is_spelled(spelled: str) -> None:
    assert mask(f"a {spelled} b {spelled}", SECRETS) == "a [secret API_KEY] b [secret API_KEY]"


@pytest.mark.parametrize("before", range(4))
@pytest.mark.parametrize("after", range(4))
def test_a_secret_inside_longer_base64_is_not_readable_any_more(before: int, after: int) -> None:
    encoded = base64.b64encode(b"u" * before + b"correct-horse-battery" + b":" * after).decode()
    masked = mask(encoded, (("PASSWORD", "correct-horse-battery"),))
    assert masked.count("[secret PASSWORD]") == 1
    assert len(masked.replace("[secret PASSWORD]", "")) <= before * 2 + after * 2 + 4


def test_the_longer_of_two_nested_secrets_wins() -> None:
    secrets = (("SHORT", "abcdefgh"), ("LONG", "abcdefghijkl"))
    assert mask("abcdefghijkl abcdefgh", secrets) == "[secret LONG] [secret SHORT]"


@pytest.mark.parametrize("value", ["", "a", "1234567"])
def test_short_values_are_left_alone(value: str) -> None:
    assert mask("a 1234567 b", (("X", value),)) == "a 1234567 b"


def test_text_without_a_secret_is_the_same_object() -> None:
    text = "nothing to see"
    assert mask(text, SECRETS) is text


@given(st.text(), st.text(st.characters(codec="utf-8"), min_size=8), st.text())
@settings(max_examples=200, deadline=None)
def test_no_secret_is_left_in_masked_text(before: str, value: str, after: str) -> None:
    masked = mask(before + value + after, (("N", value),))
    assert value not in masked.replace("[secret N]", "\0")
