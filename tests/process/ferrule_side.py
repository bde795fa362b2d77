"""Stands for Ferrule in the tests that kill it: takes a terminal if one is named, runs one command, reports, and exits.

Arguments: `close` or `leave` (whether the supervisor is closed) or `fork` (leaves a copy of itself behind, whose pid it prints),
the terminal's path or `-`, the shell script.
"""

import asyncio
import os
import sys
import time

from probe import shell

from ferrule.process.supervisor import Supervisor


def fork() -> None:
    """A copy of this process with all its descriptors, that does nothing."""
    copy = os.fork()
    if copy == 0:
        time.sleep(60)
        os._exit(0)
    print(copy, flush=True)


async def main(ending: str, script: str) -> None:
    supervisor = Supervisor()
    if ending == "fork":
        await supervisor.run(shell("true"), lambda data: None)
        asyncio.get_running_loop().call_later(0.1, fork)
    ended = await supervisor.run(shell(script), lambda data: None)
    print(supervisor.pid, ended.exit_code, ended.left, ended.error or "", flush=True)
    if ending == "close":
        await supervisor.close()


_, ending, terminal, script = sys.argv
if terminal != "-":
    os.open(terminal, os.O_RDWR)
    os.close(os.open("/dev/tty", os.O_RDWR))
asyncio.run(main(ending, script))
