"""A process of its own that writes a session: one command a line on stdin, one answer a line on stdout.

    open STATE ID | take STATE ID | create STATE FOLDER | append TEXT | loop BYTES | gone | check | unlock | nolocks | close

`loop` appends for ever and names each seq once its append has returned. `unlock` gives up every flock of this process behind the
store's back; after `nolocks` the files of this process have none, as on some network drives. `gone` tells whether the process
that the session was taken from has let go of it.
"""

import asyncio
import errno
import fcntl
import os
import sys
from pathlib import Path

from ferrule.store.protocol import Journal
from ferrule.store.sessions import Sessions
from ferrule.types.errors import StoreError
from ferrule.types.messages import Text, User
from ferrule.types.records import UserSaid


def say(*words: object) -> None:
    print(*words, flush=True)


async def append(journal: Journal, text: str) -> int:
    (record,) = await journal.append(UserSaid(User((Text(text),)), "person"))
    return record.seq


def unlock() -> None:
    for name in os.listdir("/proc/self/fd"):
        link = Path("/proc/self/fd", name)
        if link.exists() and str(link.readlink()).endswith(".lock"):
            fcntl.flock(int(name), fcntl.LOCK_UN)


def without_locks(descriptor: object, operation: int) -> None:
    raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))


async def main() -> None:
    former = None
    journal: Journal | None = None
    for line in sys.stdin:
        command, _, rest = line.rstrip("\n").partition(" ")
        try:
            match command:
                case "open":
                    state, _, id = rest.partition(" ")
                    journal = Sessions(Path(state)).open(id)
                    say("opened", journal.session)
                case "take":
                    state, _, id = rest.partition(" ")
                    journal, former = Sessions(Path(state)).take_over(id)
                    say("taken from", former.who if former else "nobody")
                case "gone":
                    assert former is not None
                    say(former.gone())
                case "check":
                    assert journal is not None
                    await journal.check()
                    say("held")
                case "nolocks":
                    fcntl.flock = without_locks
                    say("no locks")
                case "create":
                    state, _, folder = rest.partition(" ")
                    journal = Sessions(Path(state)).create(folder, "code")
                    say("opened", journal.session)
                case "append":
                    assert journal is not None
                    say("stored", await append(journal, rest))
                case "loop":
                    assert journal is not None
                    while True:
                        os.write(1, b"%d\n" % await append(journal, "x" * int(rest)))
                case "unlock":
                    unlock()
                    say("unlocked")
                case "close":
                    assert journal is not None
                    await journal.close()
                    say("closed")
        except StoreError as error:
            say(type(error).__name__, error)


asyncio.run(main())
