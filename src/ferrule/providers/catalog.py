"""Which models are known, where they are asked, and with which key. The data is in `catalog.json`.

Prices are the vendors' list prices for the ordinary service tier. A model that is not in the catalog is *unknown*: its profile
says nothing, unless the configuration does.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

import msgspec

from ferrule.types.errors import UsageError
from ferrule.types.json import items, loads, string
from ferrule.types.usage import Price

from .base import Dialect, Endpoint, IdStyle, Profile, ReasoningBack, SchemaStyle
from .hosts import host_of, is_local, is_openai


class Vendor(NamedTuple):
    """`key` and `base` name environment variables; `default` is the base URL where `base` is not set."""

    key: str
    base: str
    default: str


VENDORS: dict[Dialect, Vendor] = {
    "openai": Vendor("OPENAI_API_KEY", "OPENAI_BASE_URL", "https://api.openai.com/v1"),
    "openai-responses": Vendor("OPENAI_API_KEY", "OPENAI_BASE_URL", "https://api.openai.com/v1"),
    "anthropic": Vendor("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "https://api.anthropic.com"),
    "google": Vendor("GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL", "https://generativelanguage.googleapis.com"),
}

LOCAL_SERVERS = (("Ollama", 11434), ("LM Studio", 1234), ("llama.cpp", 8080), ("vLLM", 8000))


class Known(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One vendor's part of the catalog. `default` is `dialect/NAME`; `aliases` maps dated names to the name in `models`."""

    default: str
    models: dict[str, Profile]
    aliases: dict[str, str] = {}
    source: str = ""


class Named(Protocol):
    """A server that the configuration names. None leaves what the catalog says; without `key_env` no key is sent.

    `quirks`, where there are any, replace those that would be assumed.
    """

    @property
    def dialect(self) -> Literal["openai", "openai-responses", "anthropic", "google"]: ...
    @property
    def base_url(self) -> str: ...
    @property
    def key_env(self) -> str | None: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    @property
    def window(self) -> int | None: ...
    @property
    def max_output(self) -> int | None: ...
    @property
    def price(self) -> Price | None: ...
    @property
    def images(self) -> bool | None: ...
    @property
    def reasoning(self) -> bool | None: ...
    @property
    def cache_marks(self) -> bool | None: ...
    @property
    def tools(self) -> Literal["native", "schema"]: ...
    @property
    def quirks(self) -> tuple[str, ...]: ...
    @property
    def first_event_timeout(self) -> float | None: ...
    @property
    def idle_timeout(self) -> float | None: ...
    @property
    def total_timeout(self) -> float | None: ...
    @property
    def promote(self) -> bool | None: ...
    @property
    def html_entities(self) -> bool | None: ...
    @property
    def ids(self) -> IdStyle | None: ...
    @property
    def reasoning_back(self) -> ReasoningBack | None: ...
    @property
    def schemas(self) -> SchemaStyle | None: ...
    @property
    def image_bytes(self) -> int | None: ...
    @property
    def image_edge(self) -> int | None: ...
    @property
    def image_count(self) -> int | None: ...


@cache
def vendors() -> Mapping[str, Known]:
    """The catalog, by vendor. Read once, never changed."""
    return msgspec.json.decode(Path(__file__).with_name("catalog.json").read_bytes(), type=dict[str, Known])


def profile(dialect: Dialect, model: str) -> Profile:
    """What the catalog knows about a model; an empty profile where it does not."""
    known = vendors().get(dialect.partition("-")[0])
    return known.models.get(known.aliases.get(model, model), Profile()) if known else Profile()


def endpoints(model: str, environ: Mapping[str, str], named: Mapping[str, Named] | None = None) -> tuple[Endpoint, ...]:
    """As `endpoint`, one for each key: a key's variable may hold several, separated by commas."""
    first = endpoint(model, environ, named)
    keys = dict.fromkeys(key.strip() for key in (first.key or "").split(",") if key.strip())
    return tuple(msgspec.structs.replace(first, key=key) for key in keys) or (first,)


def endpoint(model: str, environ: Mapping[str, str], named: Mapping[str, Named] | None = None) -> Endpoint:
    """The endpoint of `dialect/NAME`, or of `SERVER/NAME` for a server that the configuration names.

    Raises UsageError that says what would be right. A key may be missing where the server is on this machine or in a private
    network.
    """
    server, slash, name = model.partition("/")
    if slash and name and named and server in named:
        return _named(model, name, named[server], environ)
    if model == "builtin/checks":
        return Endpoint("builtin", name, "")
    dialect, name = _split(model, tuple(named or ()))
    if dialect == "scripted":
        path = str(Path(name).expanduser().absolute())
        return Endpoint("scripted", path, path)
    vendor = VENDORS[dialect]
    base_url = _base_url(environ.get(vendor.base) or vendor.default, vendor.base)
    key = environ.get(vendor.key, "").strip() or None
    if key is None and not is_local(base_url):
        raise UsageError(f"{model} needs a key: set {vendor.key}")
    return Endpoint(dialect, name, base_url, key, (), _assumed(dialect, name, base_url))


def _named(model: str, name: str, server: Named, environ: Mapping[str, str]) -> Endpoint:
    base_url = _base_url(server.base_url, f"endpoints.{model.partition('/')[0]}.base_url")
    key = environ.get(server.key_env, "").strip() if server.key_env else ""
    if server.key_env and not key and not is_local(base_url):
        raise UsageError(f"{model} needs a key: set {server.key_env}")
    known = _assumed(server.dialect, name, base_url)
    told = Profile(
        window=known.window if server.window is None else server.window,
        max_output=known.max_output if server.max_output is None else server.max_output,
        price=known.price if server.price is None else server.price,
        images=known.images if server.images is None else server.images,
        reasoning=known.reasoning if server.reasoning is None else server.reasoning,
        tools=server.tools,
        cache_marks=known.cache_marks if server.cache_marks is None else server.cache_marks,
        quirks=server.quirks or known.quirks,
        first_event_timeout=server.first_event_timeout,
        idle_timeout=server.idle_timeout,
        total_timeout=server.total_timeout,
        promote=known.promote if server.promote is None else server.promote,
        html_entities=known.html_entities if server.html_entities is None else server.html_entities,
        ids=server.ids or known.ids,
        reasoning_back=server.reasoning_back or known.reasoning_back,
        schemas=server.schemas or known.schemas,
        image_bytes=server.image_bytes or known.image_bytes,
        image_edge=server.image_edge or known.image_edge,
        image_count=server.image_count or known.image_count,
    )
    return Endpoint(server.dialect, name, base_url, key or None, tuple(server.headers.items()), told, asked=model)


def _base_url(written: str, where: str) -> str:
    url = written.strip().rstrip("/")
    if not url.startswith(("http://", "https://")) or not host_of(url):
        raise UsageError(f"the base URL {written!r} must be http://HOST… or https://HOST… ({where})")
    return url


def _split(model: str, servers: tuple[str, ...]) -> tuple[Dialect, str]:
    written, slash, name = model.partition("/")
    known: tuple[Dialect, ...] = (*VENDORS, "scripted")
    for dialect in known:
        if dialect == written and name:
            return dialect, name
    if slash and written in (*known, *servers):
        raise UsageError(f"the model {model!r} has no name after the slash; write {written}/NAME")
    for vendor in vendors().values():
        if model in vendor.models or model in vendor.aliases:
            raise UsageError(f"the model {model!r} is written with its dialect: {vendor.default.partition('/')[0]}/{model}")
    from difflib import get_close_matches

    near = get_close_matches(written, (*known, *servers), 1, 0.5)
    hint = f"did you mean {near[0]}/{name or 'NAME'}?" if near else f"known: {', '.join((*known, *servers))}"
    raise UsageError(f"the model {model!r} does not begin with a known dialect or endpoint; {hint}")


def _assumed(dialect: Dialect, name: str, base_url: str) -> Profile:
    """What the catalog says. Servers that copy OpenAI's chat dialect are taken to want `max_tokens`, and ids of calls as Mistral
    alone demands them and all others take them."""
    known = profile(dialect, name)
    if dialect == "openai" and not is_openai(base_url):
        return msgspec.structs.replace(known, quirks=(*known.quirks, "max_tokens"), ids="strict9", schemas="plain")
    return known


def default_model(environ: Mapping[str, str]) -> str | None:
    """The catalog's default of the first vendor whose key is set, as `dialect/NAME`."""
    for known in vendors().values():
        dialect, _ = _split(known.default, ())
        if environ.get(VENDORS[dialect].key, "").strip():
            return known.default
    return None


async def probe_local(timeout: float = 0.3, servers: Sequence[tuple[str, int]] = LOCAL_SERVERS) -> Endpoint | None:
    """The first model of the first server, in the order of `servers`, that lists one on this machine within `timeout` seconds.

    All are asked at once, one GET each, never through a proxy. Such servers all enforce a JSON schema, while few enforce tool
    calls: the profile says so.
    """
    import asyncio

    import httpx2

    async def first_model(client: httpx2.AsyncClient, port: int) -> Endpoint | None:
        base_url = f"http://127.0.0.1:{port}/v1"
        try:
            async with asyncio.timeout(timeout):
                answer = await client.get(f"{base_url}/models")
        except (httpx2.HTTPError, TimeoutError, OSError):
            return None
        listed, _ = loads(answer.content) if answer.status_code == 200 else (None, ())
        names = [name for name in (string(entry, "id") for entry in items(listed, "data")) if name]
        assumed = msgspec.structs.replace(_assumed("openai", names[0], base_url), tools="schema") if names else None
        return Endpoint("openai", names[0], base_url, profile=assumed) if assumed else None

    async with httpx2.AsyncClient(trust_env=False, verify=False, follow_redirects=False, timeout=timeout) as client:
        found = await asyncio.gather(*(first_model(client, port) for _, port in servers))
    return next((endpoint for endpoint in found if endpoint is not None), None)
