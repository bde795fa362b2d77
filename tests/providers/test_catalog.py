import asyncio
import json
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
from msgspec.structs import replace

from ferrule.providers.base import Endpoint, IdStyle, Profile, ReasoningBack, SchemaStyle
from ferrule.providers.catalog import VENDORS, default_model, endpoint, probe_local, profile, vendors
from ferrule.providers.hosts import is_local, is_loopback
from ferrule.providers.http import IDLE_SECONDS, timeouts_of
from ferrule.types.errors import UsageError
from ferrule.types.usage import Price, Usage
from tests.providers.provider_wire import Reply, serving

COPY = Profile(quirks=("max_tokens",), ids="strict9")
"""What is assumed of a server that copies OpenAI's chat dialect."""

KEYS = {"OPENAI_API_KEY": "o", "ANTHROPIC_API_KEY": "a", "GEMINI_API_KEY": "g"}


@dataclass
class Server:
    """What the configuration says about a named server."""

    dialect: Literal["openai", "openai-responses", "anthropic", "google"] = "openai"
    base_url: str = "https://models.example/v1/"
    key_env: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    window: int | None = None
    max_output: int | None = None
    price: Price | None = None
    images: bool | None = None
    reasoning: bool | None = None
    cache_marks: bool | None = None
    tools: Literal["native", "schema"] = "native"
    quirks: tuple[str, ...] = ()
    first_event_timeout: float | None = None
    idle_timeout: float | None = None
    total_timeout: float | None = None
    promote: bool | None = None
    html_entities: bool | None = None
    ids: IdStyle | None = None
    reasoning_back: ReasoningBack | None = None
    schemas: SchemaStyle | None = None
    image_bytes: int | None = None
    image_edge: int | None = None
    image_count: int | None = None


@pytest.mark.parametrize(
    ("model", "base_url", "key"),
    [
        ("openai/gpt-4o", "https://api.openai.com/v1", "o"),
        ("openai-responses/gpt-4o", "https://api.openai.com/v1", "o"),
        ("anthropic/claude-haiku-4-5", "https://api.anthropic.com", "a"),
        ("google/gemini-2.5-pro", "https://generativelanguage.googleapis.com", "g"),
    ],
)
def test_the_vendors_own_services(model: str, base_url: str, key: str):
    dialect, _, name = model.partition("/")
    assert endpoint(model, KEYS) == Endpoint(dialect, name, base_url, key, (), profile(dialect, name))  # type: ignore[arg-type]
    assert profile(dialect, name).window  # type: ignore[arg-type]


def test_base_urls_come_from_the_environment_and_unknown_models_are_unknown():
    environ = {"OPENAI_BASE_URL": "http://127.0.0.1:8080/v1/"}
    expected = Endpoint("openai", "org/some-model", "http://127.0.0.1:8080/v1", profile=COPY)
    assert endpoint("openai/org/some-model", environ) == expected
    assert endpoint("anthropic/x", KEYS | {"ANTHROPIC_BASE_URL": "https://proxy.example"}).base_url == "https://proxy.example"


def test_a_scripted_model_is_a_path():
    assert endpoint("scripted//tmp/a script.json", {}) == Endpoint("scripted", "/tmp/a script.json", "/tmp/a script.json")


@pytest.mark.parametrize(
    ("model", "environ", "said"),
    [
        ("openai/gpt-4o", {}, "openai/gpt-4o needs a key: set OPENAI_API_KEY"),
        ("openai/x", {"OPENAI_BASE_URL": "https://models.example/v1"}, "needs a key: set OPENAI_API_KEY"),
        ("google/x", {"GEMINI_API_KEY": " "}, "set GEMINI_API_KEY"),
        ("antropic/x", KEYS, "did you mean anthropic/x?"),
        ("gpt-4o", KEYS, "openai-responses/gpt-4o"),
        ("claude-haiku-4-5-20251001", KEYS, "anthropic/claude-haiku-4-5-20251001"),
        ("openai/", KEYS, "write openai/NAME"),
        ("zzz", KEYS, "known: openai, openai-responses, anthropic, google, scripted"),
        ("openai/x", KEYS | {"OPENAI_BASE_URL": "localhost:8080"}, "OPENAI_BASE_URL"),
        ("openai/x", KEYS | {"OPENAI_BASE_URL": "http://127.0.0.1:99999"}, "OPENAI_BASE_URL"),
    ],
)
def test_what_is_wrong_is_told(model: str, environ: dict[str, str], said: str):
    with pytest.raises(UsageError) as caught:
        endpoint(model, environ)
    assert said in str(caught.value)


def test_a_named_server_sends_only_its_own_key():
    named = {"lab": Server(key_env="LAB_KEY", headers={"x-team": "7"}, window=5, tools="schema")}
    environ = KEYS | {"LAB_KEY": "l"}
    expected = replace(COPY, window=5, tools="schema")
    assert endpoint("lab/m", environ, named) == Endpoint(
        "openai", "m", "https://models.example/v1", "l", (("x-team", "7"),), expected, asked="lab/m"
    )
    assert endpoint("lab/m", KEYS, {"lab": Server()}).key is None
    with pytest.raises(UsageError, match="LAB_KEY"):
        endpoint("lab/m", KEYS, named)


def test_a_named_server_adds_to_what_the_catalog_knows():
    named = {"mine": Server("anthropic", "http://10.0.0.5", price=Price(1, 2), cache_marks=False, quirks=("thinking_budget",))}
    known = profile("anthropic", "claude-opus-5-5")
    told = endpoint("mine/claude-opus-5-5", {}, named).profile
    own = (known.window, known.max_output, Price(1, 2), True, True, "native", False, ("thinking_budget",))
    assert told == Profile(*own, schemas="full")


def test_a_named_server_says_what_the_filters_of_its_calls_go_by():
    named = {"lab": Server(promote=True, html_entities=True, ids="native", reasoning_back="turn", schemas="full", image_count=3)}
    expected = replace(COPY, promote=True, html_entities=True, ids="native", reasoning_back="turn", schemas="full", image_count=3)
    assert endpoint("lab/m", {}, named).profile == expected


def test_a_named_server_is_suggested_too():
    with pytest.raises(UsageError, match="did you mean laboratory/m"):
        endpoint("labratory/m", KEYS, {"laboratory": Server()})


@pytest.mark.parametrize(
    ("keys", "vendor"),
    [(("GEMINI_API_KEY",), "google"), (("OPENAI_API_KEY", "GEMINI_API_KEY"), "openai"), (tuple(KEYS), "anthropic")],
)
def test_a_key_alone_chooses_its_vendors_default(keys: tuple[str, ...], vendor: str):
    environ = dict.fromkeys(keys, "x")
    model = default_model(environ)
    assert model == vendors()[vendor].default
    assert endpoint(model, environ).profile.window


def test_without_a_key_there_is_no_default():
    assert default_model({"OPENAI_API_KEY": ""}) is None


def test_the_catalog_is_sound():
    for vendor, known in vendors().items():
        assert vendor in VENDORS
        for name, about in known.models.items():
            assert about.window and about.max_output and about.price, name
            assert about.max_output < about.window
            assert about.price.output > about.price.input > (about.price.cache_read or 0)
        assert set(known.aliases.values()) <= set(known.models)


def test_long_prompts_cost_more():
    price = profile("openai-responses", "gpt-6.2-sol").price
    assert price is not None
    assert price.cost(Usage(input=272_000, output=1_000_000)) == pytest.approx(0.544 + 10)
    assert price.cost(Usage(input=172_001, cache_read=100_000, output=1_000_000)) == pytest.approx(2 * (0.344002 + 0.01) + 15)


def test_a_key_is_never_shown():
    assert "secret" not in repr(Endpoint("openai", "m", "http://127.0.0.1", "secret"))


@pytest.mark.parametrize(
    ("url", "loopback", "local"),
    [
        ("http://127.0.0.1:1/v1", True, True),
        ("http://localhost/v1", True, True),
        ("http://[::1]:8080", True, True),
        ("http://192.168.1.5:8000", False, True),
        ("http://100.64.3.2", False, True),
        ("http://nas.local:8000", False, True),
        ("http://[fd00::1]", False, True),
        ("https://127.0.0.1.example.com", False, False),
        ("https://10.example.com", False, False),
        ("https://api.openai.com/v1", False, False),
        ("http://8.8.8.8", False, False),
        ("nonsense", False, False),
        ("http://[::1", False, False),
    ],
)
def test_which_hosts_are_near(url: str, loopback: bool, local: bool):
    assert (is_loopback(url), is_local(url)) == (loopback, local)
    assert timeouts_of(Endpoint("openai", "m", url)).idle == (None if local else IDLE_SECONDS)


def probed(*bodies: Any) -> Endpoint | None:
    async def main() -> Endpoint | None:
        replies = [Reply([json.dumps(body).encode() if body is not None else b"<html>"], headers=()) for body in bodies]
        async with serving(replies[0]) as one, serving(replies[-1]) as other:
            ports = [("closed", 1), *((str(index), int(wire.url.rpartition(":")[2])) for index, wire in enumerate((one, other)))]
            found = await probe_local(1.0, ports)
            assert [asked.line for asked in one.asked] == ["GET /v1/models HTTP/1.1"]
            return found

    return asyncio.run(main())


def test_the_first_server_that_lists_models_is_taken():
    found = probed({"data": []}, {"data": [{"id": "qwen"}, {"id": "other"}]})
    assert found is not None
    assert (found.name, found.key, found.profile) == ("openai/qwen", None, replace(COPY, tools="schema"))
    assert found.base_url.startswith("http://127.0.0.1:")


@pytest.mark.parametrize("body", [None, {"data": []}, {"data": "x"}, [], {"data": [{"id": 5}]}])
def test_a_server_without_a_model_list_is_none(body: Any):
    assert probed(body) is None


def test_a_server_that_is_silent_is_waited_for_no_longer_than_told():
    async def main() -> tuple[Endpoint | None, float]:
        async with serving(Reply([], ending="hang")) as wire:
            started = asyncio.get_running_loop().time()
            found = await probe_local(0.2, [("silent", int(wire.url.rpartition(":")[2]))])
            return found, asyncio.get_running_loop().time() - started

    found, seconds = asyncio.run(main())
    assert found is None
    assert seconds < 1.5
