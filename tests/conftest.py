"""Isolation for every test: own home and state, no keys, no network but loopback."""

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "ferrule", deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
settings.load_profile("ferrule")


def pytest_configure() -> None:
    """A job in the background of a script, or one under nohup, ignores signals, and so would all that it starts.

    A handler, unlike that, ends with exec: what tests start hears its signals, and a hang-up still ends no run of the tests.
    """
    for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGQUIT, _unheard), (signal.SIGHUP, _unheard)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


def _unheard(number: int, frame: object) -> None:
    pass


SECRET_WORDS = ("API_KEY", "TOKEN", "SECRET", "PASSWORD", "BASE_URL", "_PROXY")


@pytest.fixture(autouse=True)
def isolated_environment(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(("FERRULE_", "XDG_")) or any(word in name.upper() for word in SECRET_WORDS):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("FERRULE_HOME", str(home / "state"))
    yield home


LOOPBACK = ("127.0.0.1", "::1", "localhost")


@pytest.fixture(autouse=True)
def loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    connect, connect_ex, getaddrinfo = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def check(host: object) -> None:
        name = host.decode() if isinstance(host, bytes) else host
        if name and name not in LOOPBACK:
            raise AssertionError(f"a test tried to reach {name!r}")

    def checked(self: socket.socket, address: Any) -> None:
        check(address[0] if isinstance(address, tuple) else None)
        return connect(self, address)

    def checked_ex(self: socket.socket, address: Any) -> int:
        check(address[0] if isinstance(address, tuple) else None)
        return connect_ex(self, address)

    def checked_name(host: Any, *arguments: Any, **more: Any) -> Any:
        check(host)
        return getaddrinfo(host, *arguments, **more)

    monkeypatch.setattr(socket.socket, "connect", checked)
    monkeypatch.setattr(socket.socket, "connect_ex", checked_ex)
    monkeypatch.setattr(socket, "getaddrinfo", checked_name)
