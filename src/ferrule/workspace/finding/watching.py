"""The program that watches a folder, in a process of its own: beginning to watch takes seconds during which nothing else runs.

It prints records that end with a NUL, each a letter and a path relative to the folder, that of a folder with a slash at its end:
an entry that is no plain file with content (`e`), a folder that changed before the watch began (`r`), a path where something
changed (`c`); and without a path: all that changed at once was named (`.`), the folder was walked through (`w`), other rules say
what is ignored, so that all begins anew (`x`); and with a reason in its place: it ends (`!`).
"""

import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ferrule.types.names import spell, unspell

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

RULES = frozenset({".gitignore", ".ignore", ".rgignore", ".ferruleignore", ".rooignore"})
COARSE = 0.1
"""Seconds by which the time that a file system notes may be behind."""
GATHER, STEP = 50, 5
"""Milliseconds that changes are gathered, and of quiet that end it earlier."""
QUIET, IDLE = 0.3, 10
"""Seconds from a folder that came to the next beginning, and how many times as long as the last one took it waits at least."""
LOST = "\N{REPLACEMENT CHARACTER}"

Record = tuple[str, str]


def arguments(root: Path, began: float) -> tuple[str, ...]:
    """`began`: when the files began to be listed, in Unix seconds."""
    return (sys.executable, "-I", "-c", f"from {__name__} import child; child()", spell(str(root)), str(began))


def parse(record: bytes) -> Record:
    """The letter and the spelled path."""
    return record[:1].decode(), spell(record[1:])


def child() -> None:
    """The program of that process."""
    root, began = Path(os.fsdecode(unspell(sys.argv[1]))), float(sys.argv[2])
    try:
        watch(root, began)
    except BrokenPipeError:
        os._exit(0)
    except Exception as problem:  # whatever it is, the one who waits for changes is to be told
        say([("!", str(problem) or type(problem).__name__)])


def watch(root: Path, began: float) -> None:
    """Where folders came, it watches anew and walks once more as soon as that is quiet: the library may lose sight of one that
    was moved or replaced."""
    notify, took = _begin(root, began)
    since = due = None
    while True:
        wait = 0 if due is None else max(1, int((due - time.monotonic()) * 1000))
        changes = notify.watch(GATHER, STEP, wait, None)
        if changes == "timeout" and since is not None:
            notify.close()
            notify, took = _begin(root, since)
            since = due = None
        elif isinstance(changes, str):
            return
        elif ("x", "") in (records := changed(root, {path for _, path in changes})):
            say([("x", "")])
            walk(root, time.time())
        else:
            say([*records, (".", "")])
            if since is None and any((root / path).is_dir() for letter, path in records if letter == "c"):
                since, due = time.time() - 1, time.monotonic() + max(QUIET, IDLE * took)


def _begin(root: Path, since: float) -> "tuple[RustNotify, float]":
    """Watch, then walk, which tells what changed since a time; and the seconds that took."""
    from watchfiles._rust_notify import RustNotify

    began = time.monotonic()
    notify = RustNotify([str(root)], False, False, 300, True, True)
    walk(root, since)
    return notify, time.monotonic() - began


def walk(root: Path, began: float) -> None:
    from ferrule.workspace.walk import skeleton

    since = began - COARSE
    records = [("r", "")]
    for entry in skeleton(root):
        path = os.path.relpath(entry.path, root)
        records.append(("e", f"{path}/" if entry.folder else path))
        if entry.folder and modified(entry.path) >= since:
            records.append(("r", f"{path}/"))
        if len(records) > 1000:
            say(records)
            records = []
    say([*records, ("w", "")])


def modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def changed(root: Path, paths: Iterable[str]) -> list[Record]:
    """A name that was not UTF-8 arrives damaged: then its folder is looked at."""
    records: set[Record] = set()
    for path in paths:
        relative = os.path.relpath(path, root)
        if relative == "." or relative.startswith(".."):
            continue
        if relative.rpartition("/")[2] in RULES or relative.endswith(".git/info/exclude"):
            return [("x", "")]
        if relative.startswith(".git/") or "/.git/" in relative:
            continue
        records.add(("r", relative[: relative.rfind("/") + 1]) if LOST in relative else ("c", relative))
    return sorted(records)


def say(records: Iterable[Record]) -> None:
    data = b"".join(letter.encode() + os.fsencode(path) + b"\0" for letter, path in records)
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
