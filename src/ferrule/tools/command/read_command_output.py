"""`read_command_output`: what a command with a handle has printed, by pages or by a search; how it goes; which there are."""

import asyncio
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from ferrule.process.capture import capture
from ferrule.tools.base import Tool, ToolContext, no_actions
from ferrule.types.errors import StoreError, ToolError
from ferrule.types.records import Process
from ferrule.types.tools import Effect, ToolOutput, ok

from .job import Job
from .jobs import Jobs, how_it_ended
from .telling import asked, end_of, short

PAGE = 16_384
LARGEST = 65_536
LONGEST_WAIT = 600
LISTED = 30
PIECE = 1_048_576
FOUND = 100
"""Matching lines of one search."""

WIDTH = 400
"""Characters of such a line."""


class ReadCommandOutput(Struct, frozen=True):
    id: Annotated[str | None, Meta(description="Handle such as `cmd_1`; without it all commands are listed.")] = None
    offset: Annotated[
        int | None, Meta(description="First byte; negative counts from the end. Default: what is new since the last look.")
    ] = None
    limit: Annotated[int, Meta(description=f"Bytes to return, 1 to {LARGEST}.")] = PAGE
    search: Annotated[str | None, Meta(description="Regular expression: only the lines that match, case ignored.")] = None
    wait: Annotated[int, Meta(description=f"Seconds to wait for its end before reading, 0 to {LONGEST_WAIT}.")] = 0


def read_command_output(jobs: Jobs) -> Tool:
    async def run(params: ReadCommandOutput, context: ToolContext) -> ToolOutput:
        return ok(await _run(jobs, params, context))

    return Tool(
        name="read_command_output",
        description="Read what a background command prints, or the whole of an output that was cut, and see if it still runs. "
        "Use `wait` instead of asking again and again.",
        params=ReadCommandOutput,
        effect=Effect.READ,
        actions=no_actions,
        run=run,
    )


async def _run(jobs: Jobs, params: ReadCommandOutput, context: ToolContext) -> str:
    if not 1 <= params.limit <= LARGEST:
        raise ToolError(f"`limit` must be between 1 and {LARGEST} bytes, got {params.limit}.")
    if not 0 <= params.wait <= LONGEST_WAIT:
        raise ToolError(f"`wait` must be between 0 and {LONGEST_WAIT} seconds, got {params.wait}.")
    if params.search is not None and (not params.search or "\0" in params.search):
        raise ToolError("`search` must be a regular expression, not empty and without a NUL character.")
    if params.id is None:
        return listing(jobs)
    found = jobs.find(params.id)
    if isinstance(found, Job) and params.wait:
        await found.wait(params.wait)
    source = Source(found, context)
    if params.search is not None:
        return f"{source.status}\n{await _search(source, params.search, context)}"
    return f"{source.status}\n{page(jobs, source, params.offset, params.limit)}"


class Source:
    """The output of a command that runs, or of one that is over. `settled` bytes of it cannot change any more."""

    def __init__(self, found: Job | Process, context: ToolContext) -> None:
        self._found = found
        self._blobs = context.blobs
        self.handle = found.name if isinstance(found, Job) else found.handle
        self.size = self.slice(0, 0)[1]
        self.settled = found.output.settled(self.size) if isinstance(found, Job) else self.size

    def slice(self, offset: int, limit: int) -> tuple[bytes, int]:
        """Raises ToolError where nothing was kept."""
        try:
            if isinstance(self._found, Job):
                return self._found.output.slice(offset, limit)
            digest = None if self._found.ended is None else self._found.ended.output
            if digest is None:
                return b"", 0
            return self._blobs.read(digest, offset, limit), self._blobs.size(digest)
        except StoreError as lost:
            raise ToolError(f"The output of {self.handle} cannot be read: {lost}") from lost

    @property
    def status(self) -> str:
        found = self._found
        if isinstance(found, Process):
            how = "has ended" if found.ended is None else end_of(found.ended)
            return f"{found.handle} ({short(found.command)}) {how}."
        name = f"{found.name} ({short(found.line)})"
        if found.ended is not None:
            return f"{name} {end_of(how_it_ended(found, told=True))}."
        asks = f" {asked(found.question)}" if found.question else ""
        return f"{name} runs, {found.seconds:.1f} s so far.{asks}"


def page(jobs: Jobs, source: Source, offset: int | None, limit: int) -> str:
    """A part of it, and how to see the rest."""
    size = source.size
    if size == 0:
        return "There is no output."
    known, rest = jobs.shown(source.handle) if offset is None else (0, b"")
    start = known if offset is None else offset if offset >= 0 else max(0, size + offset)
    if offset is None and rest and source.slice(start, len(rest))[0] == rest:
        start += len(rest)
    if start >= size:
        return f"Nothing new; {size:,} bytes in all." if offset is None else f"It has only {size:,} bytes; `offset` is {offset}."
    data, start = _whole_characters(source, start, limit)
    end = start + len(data)
    certain = min(end, source.settled)
    jobs.show(source.handle, certain, source.slice(certain, end - certain)[0])
    more = f"\n[{size - end:,} bytes follow: offset={end}]" if end < size else ""
    return f"Bytes {start:,} to {end:,} of {size:,}:\n{data.decode(errors='replace')}{more}"


def _whole_characters(source: Source, start: int, limit: int) -> tuple[bytes, int]:
    """No character is cut: the page begins and ends a little earlier where one would be; a page holds one at least."""
    before = source.slice(max(0, start - 3), min(3, start))[0]
    data = source.slice(start, limit + 4)[0]
    back = 0
    while back < len(before) and back < 3 and _continues((before + data)[len(before) - back]):
        back += 1
    data, start = before[len(before) - back :] + data, start - back
    end = limit
    while 0 < end < len(data) and _continues(data[end]):
        end -= 1
    if end == 0:
        end = next((at for at in range(1, len(data)) if not _continues(data[at])), len(data))
    return data[:end], start


def _continues(byte: int) -> bool:
    return byte & 0xC0 == 0x80


def listing(jobs: Jobs) -> str:
    alive = {job.name: job for job in jobs.background}
    lines = []
    for handle, process in [*jobs.known.items()][-LISTED:]:
        job = alive.get(handle)
        how = f"runs, {job.seconds:.1f} s so far" if job else "has ended" if process.ended is None else end_of(process.ended)
        lines.append(f"{handle} ({short(process.command)}) {how}")
    left = len(jobs.known) - len(lines)
    return "\n".join([*([f"({left} earlier ones are left out)"] if left else []), *lines]) or "No command has a handle yet."


async def _search(source: Source, regex: str, context: ToolContext) -> str:
    """By ripgrep, which takes linear time whatever the expression is."""
    from ferrule.workspace.ripgrep import find_ripgrep

    program = find_ripgrep(dict(context.environment).get("PATH"))
    if program is None:
        raise ToolError("ripgrep (`rg`) was found neither beside Python nor on PATH. Read the output by pages.")
    import tempfile

    with tempfile.TemporaryDirectory(prefix="ferrule-output-") as folder:
        await _copy(source, Path(folder) / "output")
        argv = (
            program,
            "--no-config",
            "--text",
            "--ignore-case",
            "--line-number",
            "--byte-offset",
            "--no-heading",
            "--color=never",
        )
        cut = (f"--max-columns={WIDTH}", "--max-columns-preview", f"--max-count={FOUND + 1}", f"--regexp={regex}")
        command = (*argv, *cut, "--", "output")
        ended, said = await capture(context.processes, command, folder, context.environment, 60.0, merged=True)
    lines = said.decode(errors="replace").splitlines()
    if ended.exit_code not in (0, 1):
        raise ToolError(f"The search failed: {ended.error or ' '.join(lines) or f'it ended with code {ended.exit_code}'}")
    if not lines:
        return f"No line of {source.size:,} bytes matches."
    many = f"More than {FOUND} lines match; the first {FOUND}" if len(lines) > FOUND else f"{len(lines)} matching lines"
    return "\n".join([f"{many}, each as line:offset:text", *lines[:FOUND]])


async def _copy(source: Source, path: Path) -> None:
    with path.open("wb") as file:
        at = 0
        while at < source.size and (piece := source.slice(at, PIECE)[0]):
            file.write(piece)
            at += len(piece)
            await asyncio.sleep(0)
