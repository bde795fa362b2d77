"""A server for a script, ended with the test."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.fakes.server import FakeServer

Serve = Callable[..., FakeServer]


@pytest.fixture
def serve() -> Iterator[Serve]:
    with ExitStack() as stack:

        def start(*steps: dict[str, Any], **options: Any) -> FakeServer:
            script = {"version": 1, "steps": list(steps), **options.pop("script", {})}
            return stack.enter_context(FakeServer(script, **options))

        yield start
