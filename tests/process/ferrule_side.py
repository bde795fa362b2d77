"""Stands for Ferrule in the tests that kill it: takes a terminal if one is named, runs one command, reports, and exits.

Arguments: `close` or `leave` (whether the supervisor is closed), the terminal's path or `-`, the shell script.
"""

import asyncio
import os
import sys

from probe import shell

from ferrule.process.supervisor import Supervisor


async def main(ending: str, script: str) -> None:
    supervisor = Supervisor()
    ended = await supervisor.run(shell(script), lambda data: None)
    print(supervisor.pid, ended.exit_code, flush=True)
    if ending == "close":
        await supervisor.close()


_, ending, terminal, script = sys.argv
if terminal != "-":
    os.open(terminal, os.O_RDWR)
    os.close(os.open("/dev/tty", os.O_RDWR))
asyncio.run(main(ending, script))
