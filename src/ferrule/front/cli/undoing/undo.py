"""`ferrule undo [ID] [--to SEQ | --last N | --all] [--files] [--conversation] [--list | --dry-run | --force]`."""

import asyncio
import time
from collections.abc import Mapping

import msgspec

from ferrule.front.cli.arguments import Invocation, UndoOf
from ferrule.front.cli.show.output import deliver
from ferrule.front.cli.show.terminal import clean, counted, one_line
from ferrule.task.checkpoints.history import Point
from ferrule.task.checkpoints.plan import Planned
from ferrule.task.checkpoints.undo import Previewed, Wanted, points, preview, undo

WIDTH = 100
NAMED = 5
"""Commands and files that a line names."""

VERDICTS = {
    "nothing": "nothing to undo: all is as it was after record {to}",
    "possible": "nothing was done yet (--dry-run)",
    "refused": "nothing was done; --force overwrites what was changed and leaves what cannot be restored",
    "done": "done; ferrule undo {session} takes it back",
    "unfinished": "some files could not be restored; ferrule undo {session} tries again, with --force it leaves them",
}


def undo_session(invocation: Invocation, environ: Mapping[str, str]) -> int:
    """Exit code 1 where something stands in the way. Raises UsageError, LeaseHeld while the session is open, StoreError."""
    given = invocation.undo or UndoOf()
    written = invocation.words[0] if invocation.words else None
    json = invocation.output_format == "json"
    if given.listed:
        id, found = asyncio.run(points(environ, written, invocation.folder))
        return deliver(_json({"session": id, "points": found}) if json else listing(id, found))
    wanted = Wanted(
        to=given.to,
        last=given.last or 1,
        all=invocation.everything,
        files=given.files or not given.conversation,
        conversation=given.conversation or not given.files,
        force=given.force,
    )
    if given.dry_run:
        previewed = asyncio.run(preview(environ, written, invocation.folder, wanted))
    else:
        previewed = Previewed(asyncio.run(undo(environ, written, invocation.folder, wanted)), ())
    told = previewed.undo
    code = 1 if told.state in ("refused", "unfinished") else 0
    return deliver(_json(_as_data(previewed)) if json else report(previewed), code)


def _json(value: object) -> bytes:
    return msgspec.json.encode(value) + b"\n"


def _as_data(previewed: Previewed) -> dict[str, object]:
    told = msgspec.to_builtins(previewed.undo)
    assert isinstance(told, dict)
    return told | ({"differences": previewed.differences} if previewed.differences else {})


def listing(id: str, found: tuple[Point, ...]) -> str:
    """One line a point, with the number that `--to` takes to go back to before it; times are local."""
    lines = [f"session {id}", f"{'--to':>6}  {'WHEN':<16}  {'WHAT':<7} FILES  COMMANDS  SAID"]
    for point in found:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(point.time))
        counts = f"{len(point.files):>5}  {len(point.commands):>8}"
        lines.append(f"{point.to:>6}  {when}  {point.kind:<7} {counts}  {one_line(point.text, WIDTH)}")
    return "".join(f"{line}\n" for line in lines)


def report(previewed: Previewed) -> str:
    """What was or would be done, what stands in the way, and what is not undone."""
    told = previewed.undo
    lines = [f"session {told.session}, back to record {told.to}"]
    if told.resumed:
        lines.append("an undo that was broken off comes to its end; nothing else is undone")
    lines += [f"  {one_line(each.path, WIDTH)}: {_done(each)}" for each in told.files]
    if told.conversation:
        what = "come back to" if told.messages < 0 else "leave"
        lines.append(f"  conversation: messages that {what} the view of the model: {abs(told.messages)}")
    if told.commands:
        lines.append(f"  not undone: what {_commands(told.commands)} did")
    text = "".join(f"{line}\n" for line in lines)
    text += "".join(f"\n{clean(each)}" for each in previewed.differences)
    return f"{text}{VERDICTS[told.state].format(session=told.session, to=told.to)}\n"


def _done(planned: Planned) -> str:
    if planned.obstacle:
        return clean(planned.obstacle)
    match planned.found.kind, planned.wanted.kind:
        case _, "nothing":
            return "removed"
        case "nothing", _:
            return "brought back"
        case _:
            return "restored"


def _commands(commands: tuple[str, ...]) -> str:
    named = ", ".join(one_line(each, WIDTH) for each in commands[:NAMED])
    more = f" and {len(commands) - NAMED} more" if len(commands) > NAMED else ""
    return f"{counted(len(commands), 'command')} ({named}{more})"
