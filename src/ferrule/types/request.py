"""What is asked of a model, before any vendor's dialect."""

from typing import Literal

from msgspec import Struct

from .messages import Message

Effort = Literal["none", "low", "medium", "high"]


class ToolSchema(Struct, frozen=True):
    """A tool as a model sees it. `parameters` is the text of a JSON Schema object."""

    name: str
    description: str
    parameters: str


class Request(Struct, frozen=True):
    """One model call. `system` holds the prompt sections in order; `cache_key` is stable within a session.

    `seconds` is what the whole call may take, None without a limit.
    """

    system: tuple[str, ...]
    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...] = ()
    max_output: int | None = None
    effort: Effort | None = None
    cache_key: str = ""
    seconds: float | None = None
