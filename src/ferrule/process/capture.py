"""Short helpers such as git and ripgrep, whose whole output is wanted."""

from collections.abc import Sequence

from .protocol import Command, Ended, Processes


async def capture(
    processes: Processes,
    argv: Sequence[str],
    cwd: str,
    env: tuple[tuple[str, str], ...],
    timeout: float | None = 30.0,
    limit_bytes: int = 1_000_000,
    merged: bool = False,
) -> tuple[Ended, bytes]:
    """Run to the end and return the output, cut after `limit_bytes`: ask for one byte more than you can use to know of a cut.

    stderr is left out unless `merged`. `timeout` in seconds.
    """
    kept = bytearray()

    def take(data: bytes) -> None:
        if room := limit_bytes - len(kept):
            kept.extend(data[:room])

    command = Command(tuple(argv), cwd, env, timeout, stderr="output" if merged else "null", own=True)
    ended = await processes.run(command, take)
    return ended, bytes(kept)
