"""The seam between the engine and every vendor: a request goes in, one stream of events comes out."""

from collections.abc import AsyncIterator
from typing import Literal, Protocol

from msgspec import Struct

from ferrule.types.request import Request
from ferrule.types.stream import StreamEvent
from ferrule.types.usage import Price

Dialect = Literal["openai", "openai-responses", "anthropic", "google", "scripted", "builtin"]
IdStyle = Literal["ours", "strict", "strict9", "native"]
ReasoningBack = Literal["own", "turn", "never"]
SchemaStyle = Literal["plain", "full"]


class Profile(Struct, frozen=True, forbid_unknown_fields=True):
    """What is known about a model at an endpoint. None is *unknown*, never a guess.

    `tools`: `native`, or `schema` for servers that do not enforce tool calls (a `response_format` carries the union of tools
    and the reply becomes the call). `window` and `max_output` in tokens. `quirks` names endpoint differences as data. Time-outs
    in seconds, 0 is no limit; None is what `http.timeouts_of` says.

    What filters go by; the defaults are what any model takes. `promote`: calls that it writes as text are read. `html_entities`:
    those in arguments are decoded. `ids` of calls: ours, letters and digits only, exactly nine of them, or its own. What it
    thought (`reasoning_back`) goes back to it always, within its turn, or never. `schemas` hold the keywords that everybody
    knows, or all. Images: bytes of one (as base64), pixels of a side, and how many a request may hold.
    """

    window: int | None = None
    max_output: int | None = None
    price: Price | None = None
    images: bool | None = None
    reasoning: bool | None = None
    tools: Literal["native", "schema"] = "native"
    cache_marks: bool = False
    quirks: tuple[str, ...] = ()
    first_event_timeout: float | None = None
    idle_timeout: float | None = None
    total_timeout: float | None = None
    promote: bool = False
    html_entities: bool = False
    ids: IdStyle = "ours"
    reasoning_back: ReasoningBack = "own"
    schemas: SchemaStyle = "plain"
    image_bytes: int = 5_000_000
    image_edge: int = 8_000
    image_count: int = 20


class Endpoint(Struct, frozen=True):
    """Where a model is asked. `base_url` has no trailing slash; `key` is secret and never printed (repr hides it).

    `asked` is what the person wrote, where that is not `dialect/NAME`: `SERVER/NAME` of a server that the configuration names.
    """

    dialect: Dialect
    model: str
    base_url: str
    key: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    profile: Profile = Profile()
    asked: str = ""

    @property
    def name(self) -> str:
        return f"{self.dialect}/{self.model}"

    def __repr__(self) -> str:
        return f"Endpoint({self.name} at {self.base_url})"


class Provider(Protocol):
    """One vendor dialect bound to an endpoint."""

    @property
    def endpoint(self) -> Endpoint: ...

    def stream(self, request: Request) -> AsyncIterator[StreamEvent]:
        """Ask once. Never raises but for cancellation; the last event is `Done` or `Failed`, and there is one of them.

        The message of `Done` holds calls as received: ids, names and argument texts untouched.
        """
        ...

    async def close(self) -> None: ...
