"""One command line: its process while it runs, its output, and how it ended."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Literal

from ferrule.process.protocol import Command, Ended, Processes
from ferrule.store.protocol import Blobs

from .decoding import Decoder, plain
from .output import Output
from .prompting import SILENCE, question

Left = Literal["ended", "time", "question", "told"]
"""Why nobody waits for a job any more."""


class Job:
    """`task` runs it. `ended` is set when nothing of it is left and its output is complete.

    `name` is its handle, empty as long as it needs none. `stopped`: it was ended because somebody asked for that,
    `closing`: because the session was closed. `waiting` counts those who wait for it.
    """

    def __init__(self, call_id: str, line: str, blobs: Blobs) -> None:
        self.call_id = call_id
        self.line = line
        self.name = ""
        self.output = Output(blobs)
        self.decoder = Decoder()
        self.ended: Ended | None = None
        self.background = False
        self.stopped = self.closing = False
        self.waiting = 0
        self.task: asyncio.Task[None]
        self._loop = asyncio.get_running_loop()
        self._began = self._heard = self._loop.time()
        self._words: asyncio.Future[str] = self._loop.create_future()

    @property
    def seconds(self) -> float:
        """Since it began, or how long it took."""
        return self._loop.time() - self._began if self.ended is None else self.ended.seconds

    @property
    def question(self) -> str:
        """What it seems to wait for to be typed, or nothing."""
        quiet = self.ended is not None or self._loop.time() - self._heard >= SILENCE
        return question(self.output.ending) if quiet else ""

    @property
    def words(self) -> str:
        """What the person said when they let it go on."""
        return self._words.result() if self._words.done() else ""

    async def run(self, processes: Processes, command: Command, on_output: Callable[[str], None]) -> None:
        """To its end. Cancelling ends the command; who has `stopped` it is not told by an exception."""

        def receive(data: bytes, final: bool = False) -> None:
            if text := self.decoder.feed(data, final):
                self._heard = self._loop.time()
                self.output.feed(text)
                if shown := plain(text):
                    on_output(shown)

        try:
            ended = await processes.run(command, receive)
        except asyncio.CancelledError:
            if not self.stopped:
                raise
            ended = Ended(None, None, self.seconds)
        receive(b"", final=True)
        self._over(ended)

    def fail(self, why: str) -> None:
        """It came to an end that is no end of a command."""
        self._over(Ended(None, None, self.seconds, error=why))

    def _over(self, ended: Ended) -> None:
        self.output.finish()
        self.ended = ended

    async def wait(self, seconds: float) -> Left:
        """Until it has ended, so much time has passed, it seems to ask something, or the person lets it go on."""
        deadline = self._loop.time() + seconds
        self.waiting += 1
        try:
            while (left := deadline - self._loop.time()) > 0:
                watched: list[asyncio.Future[None] | asyncio.Future[str]] = [self.task]
                watched += [] if self.background else [self._words]
                await asyncio.wait(watched, timeout=min(left, SILENCE), return_when=asyncio.FIRST_COMPLETED)
                if self.task.done():
                    self.task.result()
                    return "ended"
                if not self.background and self._words.done():
                    return "told"
                if self.question:
                    return "question"
            return "time"
        finally:
            self.waiting -= 1

    def let_go(self, words: str) -> None:
        """Whoever waits for it in the foreground goes on without it, and is told these words."""
        if not self._words.done():
            self._words.set_result(words)

    async def end(self) -> None:
        """Cancel it and wait until it is over, which takes a bounded time, whoever cancels meanwhile."""
        self.task.cancel()
        while not self.task.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait([self.task])
        if not self.task.cancelled():
            self.task.exception()
