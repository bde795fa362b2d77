"""Sessions as a journal holds them, and the requests that are built from them."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from ferrule.attempt.model_call import build_request
from ferrule.providers.base import Endpoint
from ferrule.store.folds import Conversation, conversation
from ferrule.types.records import Entry, Record
from ferrule.types.request import Request, ToolSchema
from tests.engine.test_request import Half
from tests.judge import sdk_accepts, violations
from tests.wire.conversations import READ
from tests.wire.encoding import spelled
from tests.wire.endpoints import ENDPOINTS

UNKNOWN = tuple(endpoint for name, endpoint in ENDPOINTS.items() if name.endswith("/unknown"))
"""One server of each dialect."""


class Session:
    """The records of a session, as far as a request needs them."""

    session = "20260101-000000-abcd"

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._records = tuple(Record(number, "main", 0.0, entry, "") for number, entry in enumerate(entries, 1))

    @cached_property
    def conversation(self) -> Conversation:
        return conversation(self._records)

    @property
    def journal(self) -> "Session":
        return self


def request(endpoint: Endpoint, *entries: Entry, tools: tuple[ToolSchema, ...] = (READ,)) -> Request:
    """What would be sent for a session with these records."""
    half: Any = Half(Session(entries), schemas=tools, endpoint=endpoint)  # type: ignore[arg-type]
    return build_request(half)[0]


def sent(endpoint: Endpoint, *entries: Entry) -> str:
    return spelled(endpoint, request(endpoint, *entries)).decode()


def complaints(endpoint: Endpoint, body: str) -> list[str]:
    return violations(endpoint.dialect, body.encode(), portable=True) + sdk_accepts(endpoint.dialect, body.encode())
