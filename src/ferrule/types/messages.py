"""What a conversation consists of. Immutable throughout; storage ids and positions live in the journal, not here."""

from typing import Literal

from msgspec import Struct

ResultKind = Literal["ok", "error", "denied", "interrupted", "skipped", "unknown"]
StopReason = Literal["end", "calls", "length", "refusal"]


class Opaque(Struct, frozen=True):
    """Provider data that must go back unchanged, and only to the dialect and model that made it. `data` is JSON text."""

    dialect: str
    model: str
    data: str


class Text(Struct, frozen=True, tag="text"):
    text: str
    opaque: Opaque | None = None


class Image(Struct, frozen=True, tag="image"):
    """`data` is base64 without line breaks; `media_type` such as `image/png`."""

    media_type: str
    data: str


class Reasoning(Struct, frozen=True, tag="reasoning"):
    """What a model thought. `text` may be empty where the provider hands out only opaque data."""

    text: str
    opaque: Opaque | None = None


class RawCall(Struct, frozen=True):
    """A call as the model wrote it, kept beside the normalised one where they differ."""

    id: str
    name: str
    arguments: str


class ToolCall(Struct, frozen=True, tag="call"):
    """One call by the model.

    From a provider: `id`, `name`, `arguments` exactly as received. In the journal and in every request: `id` is ours and
    unique in the session, `name` matches `[A-Za-z0-9_-]{1,64}`, `arguments` is the text of a JSON object, `raw` is what
    came in where that differs, and `problem` says why the call can't be run. `promoted`: the model had written it as text.
    """

    id: str
    name: str
    arguments: str
    raw: RawCall | None = None
    problem: str | None = None
    opaque: Opaque | None = None
    promoted: bool = False


class ToolResult(Struct, frozen=True, tag="result"):
    """The one answer to one call."""

    call_id: str
    name: str
    kind: ResultKind
    parts: tuple[Text | Image, ...]

    @property
    def text(self) -> str:
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))


UserPart = Text | Image
AssistantPart = Text | Reasoning | ToolCall


class User(Struct, frozen=True, tag="user"):
    """What the person said, or what Ferrule said in the person's place (a reminder)."""

    parts: tuple[UserPart, ...]


class Assistant(Struct, frozen=True, tag="assistant"):
    """One complete answer. `model` is `dialect/name`; `stop` is why the provider ended it."""

    parts: tuple[AssistantPart, ...]
    stop: StopReason
    model: str

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Text))


class Results(Struct, frozen=True, tag="results"):
    """The results of the calls of one assistant message, in the order of the calls."""

    parts: tuple[ToolResult, ...]


Message = User | Assistant | Results
