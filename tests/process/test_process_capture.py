import pytest

from ferrule.process.capture import capture
from ferrule.process.protocol import Ended
from ferrule.process.supervisor import Supervisor

from .probe import ENVIRONMENT, summary, supervised

SCRIPT = "printf 12345; printf oops >&2; printf 67890; exit 3"


@pytest.mark.parametrize(
    ("limit", "merged", "output"),
    [(100, False, b"1234567890"), (100, True, b"12345oops67890"), (7, False, b"1234567"), (0, False, b"")],
)
def test_output_is_captured_up_to_the_limit(limit: int, merged: bool, output: bytes) -> None:
    async def use(supervisor: Supervisor) -> tuple[Ended, bytes]:
        return await capture(supervisor, ["sh", "-c", SCRIPT], "/", ENVIRONMENT, limit_bytes=limit, merged=merged)

    ended, captured = supervised(use)
    assert (summary(ended), captured) == ((3, None, False, 0, None), output)


def test_capture_is_bounded_in_time_and_memory() -> None:
    async def use(supervisor: Supervisor) -> tuple[Ended, bytes]:
        return await capture(supervisor, ["cat", "/dev/zero"], "/", ENVIRONMENT, timeout=0.3, limit_bytes=10)

    ended, captured = supervised(use)
    assert (ended.timed_out, captured) == (True, bytes(10))
