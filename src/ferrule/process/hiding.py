"""Keeps secret values out of the environment that the kernel shows of this process."""

import os
from collections.abc import Collection
from pathlib import Path

ENV_START, ENV_END = 47, 48
"""Places in /proc/PID/stat, counted from the field behind the name (proc_pid_stat(5), fields 50 and 51)."""


def hide(values: Collection[str]) -> None:
    """Overwrite these values of variables in /proc/PID/environ, which every command of the same user may read.

    `os.environ` keeps them. Where the system has no such file or refuses, everything stays as it is.
    """
    if not values:
        return
    try:
        fields = Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()
        start, end = int(fields[ENV_START]), int(fields[ENV_END])
        with Path("/proc/self/mem").open("r+b", buffering=0) as memory:
            memory.seek(start)
            block = memory.read(end - start)
            memory.seek(start)
            memory.write(hidden(block, {os.fsencode(value) for value in values}))
    except (OSError, ValueError, IndexError):
        return


def hidden(block: bytes, values: Collection[bytes]) -> bytes:
    """A block of `NAME=VALUE` strings, each ended by a zero byte, with asterisks for `values`."""
    entries = [entry.partition(b"=") for entry in block.split(b"\0")]
    return b"\0".join(name + sign + (b"*" * len(value) if value in values else value) for name, sign, value in entries)
