"""`search_files`: lines that match a regular expression, found by ripgrep."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from ferrule.process.protocol import Command, Ended
from ferrule.tools.base import Place, Tool, ToolContext
from ferrule.types.errors import ToolError
from ferrule.types.names import spell
from ferrule.types.tools import Action, Effect, ToolOutput, ok
from ferrule.workspace.ripgrep import RESULTS, Answer, Hit, arguments, find_ripgrep

from .read_file import missing

TIMEOUT = 60.0
PAGE = 100_000
"""Characters of one result."""


class SearchFiles(Struct, frozen=True):
    path: Annotated[str, Meta(description="Folder or file to search, relative to the workspace or absolute.")]
    regex: Annotated[str, Meta(description="Regular expression (Rust syntax; look-around works too).")]
    file_pattern: Annotated[str | None, Meta(description="Glob of the files to search, such as `*.py`.")] = None


def search_files() -> Tool:
    return Tool(
        name="search_files",
        description="Search file contents with a regular expression. Results are grouped by file as `N | text`, with one line "
        f"before and after each match, at most {RESULTS} matches. Ignored files are not searched.",
        params=SearchFiles,
        effect=Effect.READ,
        actions=_actions,
        run=_run,
    )


def _actions(params: SearchFiles, place: Place) -> tuple[Action, ...]:
    return (Action("read", (spell(str(place.resolve(params.path))),)),)


async def _run(params: SearchFiles, context: ToolContext) -> ToolOutput:
    if not params.regex:
        raise ToolError("`regex` is empty.")
    if "\0" in params.regex or "\0" in (params.file_pattern or ""):
        raise ToolError("A pattern must not contain a NUL character.")
    path = context.place.resolve(params.path)
    if not path.exists():
        raise ToolError(missing(path, context.place))
    program = find_ripgrep(dict(context.environment).get("PATH"))
    if program is None:
        raise ToolError("ripgrep (`rg`) was found neither beside Python nor on PATH. Use execute_command with grep.")
    base = path if path.is_dir() else path.parent
    target = "./" if path.is_dir() else f"./{path.name}"
    argv = arguments(program, params.regex, target, params.file_pattern)
    guard = context.place.guard()
    answer = Answer(lambda found: guard.ignored(str(base / os.fsdecode(found))) is None)
    ended = await _ask(Command(argv, str(base), context.environment, TIMEOUT, own=True), context, answer)
    if ended is not None and (ended.error or ended.signal is not None or ended.exit_code not in (0, 1)) and not ended.timed_out:
        said = answer.complaint or ended.error or f"it ended with code {ended.exit_code}"
        if ended.error or not answer.matches:
            raise ToolError(f"The search failed. ripgrep says: {said}")
    return ok(_render(answer, ended, base, params, context.place))


async def _ask(command: Command, context: ToolContext, answer: Answer) -> Ended | None:
    """Fills the answer. How ripgrep ended; None when it was stopped because there are enough results."""

    def receive(data: bytes) -> None:
        answer.feed(data)
        if answer.full:
            running.cancel()

    running = asyncio.ensure_future(context.processes.run(command, receive))
    try:
        ended = await running
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if not answer.full or (task is not None and task.cancelling()):
            raise
        return None
    answer.finish()
    return ended


def _render(answer: Answer, ended: Ended | None, base: Path, params: SearchFiles, place: Place) -> str:
    late = f" The search was stopped after {TIMEOUT:.0f} s; search a smaller folder." if ended and ended.timed_out else ""
    if not answer.matches:
        among = f" in files like `{params.file_pattern}`" if params.file_pattern else ""
        return f"No matches{among}.{late}"
    pages: list[str] = []
    size = 0
    for raw, hits in answer.files.items():
        page = "\n".join([f"# {place.shown(base / os.fsdecode(raw).removeprefix('./'))}", *_numbered(hits)])
        if size + len(page) > PAGE and pages:
            late += f" Only {len(pages)} of {len(answer.files)} files are shown; narrow the search."
            break
        pages.append(page[:PAGE])
        size += len(page)
    many = f"more than {RESULTS} matches; the first {RESULTS} are shown; narrow the search" if answer.full else _matches(answer)
    return "\n\n".join([f"Found {many}.{late}", *pages])


def _matches(answer: Answer) -> str:
    files = f"{len(answer.files)} file" + ("" if len(answer.files) == 1 else "s")
    return f"{answer.matches} match{'' if answer.matches == 1 else 'es'} in {files}"


def _numbered(hits: list[Hit]) -> Iterator[str]:
    width = max(len(str(hit.number or "?")) for hit in hits)
    before: int | None = None
    for hit in hits:
        if before is not None and hit.number is not None and hit.number > before + 1:
            yield "----"
        yield f"{hit.number or '?':>{width}} | {hit.text}"
        before = hit.number
