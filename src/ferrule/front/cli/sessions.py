"""`ferrule sessions list | show ID | search TEXT | export ID | import FILE | compact ID | rm ID`."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ferrule.task.sessions import SessionInfo, StoredSession, list_sessions, read_session_part, remove_session
from ferrule.types.messages import Assistant, Image, Text, ToolCall, ToolResult, User
from ferrule.types.records import Answered, AssistantSaid, CallFinished, Entry, RunEnded, Shrunk, Undone, UserSaid

from .arguments import Invocation
from .show.output import deliver, standard_error
from .show.progress import MARKS, telling
from .show.terminal import clean, counted, one_line

if TYPE_CHECKING:
    from ferrule.task.sessions.search import Hit

RESULT_LINES = 6
WIDTH = 100


def sessions(invocation: Invocation, environ: Mapping[str, str]) -> int:
    """Raises UsageError for an unknown session, StoreError for one that cannot be read or removed."""
    json = invocation.output_format == "json"
    match invocation.action:
        case "list":
            return _list(environ, None if invocation.everything else invocation.folder, json)
        case "search":
            return _search(environ, None if invocation.everything else invocation.folder, invocation.words[0], json)
        case "export":
            return _export(invocation, environ)
        case "compact":
            from .compact import compact

            return compact(invocation, environ)
        case "import":
            return _import(environ, Path(invocation.words[0]).expanduser(), json)
        case "show":
            return _show(environ, invocation.words[0], json)
        case _:
            removed = remove_session(environ, invocation.words[0])
            return deliver(_as_json({"removed": removed}) if json else f"removed {removed}\n")


def _as_json(value: object) -> bytes:
    return msgspec.json.encode(value) + b"\n"


def _list(environ: Mapping[str, str], folder: Path | None, json: bool) -> int:
    found = list_sessions(environ, folder)
    if json:
        return deliver(_as_json(found))
    if found:
        return deliver(table(found, with_folder=folder is None))
    where = "" if folder is None else f" of {clean(str(folder))}; ferrule sessions list --all shows those of other folders"
    standard_error().text(f"ferrule: there are no sessions{where}\n")
    return 0


def _search(environ: Mapping[str, str], folder: Path | None, text: str, json: bool) -> int:
    """Exit code 1 where a session could not be searched to its end."""
    from ferrule.task.sessions.search import search_sessions

    found = asyncio.run(search_sessions(environ, folder, text))
    for problem in found.problems:
        standard_error().text(f"ferrule: {clean(problem)}\n")
    code = 1 if found.problems else 0
    if json:
        return deliver(_as_json(found), code)
    if not found.hits:
        more = "" if folder is None else "; ferrule sessions search TEXT --all looks in those of other folders too"
        standard_error().text(f"ferrule: {counted(found.sessions, 'session')} searched, nothing found{more}\n")
    return deliver(hits(found.hits), code)


def hits(found: "Sequence[Hit]") -> str:
    """The matches under the session that they stand in, each with the number of its record."""
    text = ""
    session = ""
    for hit in found:
        if hit.session != session:
            session = hit.session
            text += f"{session}\n"
        times = f" ({hit.times} times)" if hit.times > 1 else ""
        text += f"  {hit.seq:>5}  {one_line(hit.place, WIDTH)}{times}: {one_line(hit.snippet, 2 * WIDTH)}\n"
    return text


def _show(environ: Mapping[str, str], written: str, json: bool) -> int:
    """Exit code 1 where the journal is damaged; what stands before the damage is shown."""
    stored, problem = asyncio.run(read_session_part(environ, written))
    if problem:
        standard_error().text(f"ferrule: only the first {len(stored.records)} records can be read: {clean(problem)}\n")
    shown = _as_json({"session": stored.info, "records": stored.records}) if json else conversation(stored)
    return deliver(shown, 1 if problem else 0)


def _import(environ: Mapping[str, str], path: Path, json: bool) -> int:
    """Exit code 1 where records of the file were left out. Raises UsageError, StoreError."""
    from ferrule.task.sessions.importing import import_export

    found = asyncio.run(import_export(environ, path))
    for trouble in found.troubles:
        standard_error().text(f"ferrule: line {trouble.line}: {clean(trouble.why)}\n")
    code = 1 if found.left_out else 0
    if json:
        return deliver(_as_json(found), code)
    lost = f", {counted(found.left_out, 'line')} left out" if found.left_out else ""
    return deliver(f"imported {found.session}: {found.records} records{lost}\n", code)


def _export(invocation: Invocation, environ: Mapping[str, str]) -> int:
    """Exit code 1 where the journal is damaged; what stands before the damage is exported. Raises UsageError, StoreError."""
    from ferrule.task.sessions.export import export_records, write_export

    from .show.markdown import markdown

    if invocation.export_format == "jsonl":
        _, data, records, problem = export_records(environ, invocation.words[0])
    else:
        stored, problem = asyncio.run(read_session_part(environ, invocation.words[0]))
        data, records = markdown(stored, problem).encode("utf-8", "backslashreplace"), len(stored.records)
    code = 1 if problem else 0
    if problem:
        told = f"the export ends after {records} records: {problem}"
        standard_error().text(f"ferrule: {clean(told)}\n")
    if invocation.output is None:
        return deliver(data, code)
    write_export(invocation.output, data)
    standard_error().text(f"ferrule: wrote {records} records to {clean(str(Path(invocation.output)))}\n")
    return code


def table(found: Sequence[SessionInfo], with_folder: bool) -> str:
    """One line a session under a heading; times are local."""
    heading = ("SESSION", "LAST WRITTEN", "OUTCOME", *(("FOLDER",) if with_folder else ()), "TASK")
    rows = [heading, *(_row(info, with_folder) for info in found)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(heading) - 1)]
    return "".join(
        "  ".join([*(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)), row[-1]]) + "\n" for row in rows
    )


def _row(info: SessionInfo, with_folder: bool) -> tuple[str, ...]:
    written = time.strftime("%Y-%m-%d %H:%M", time.localtime(info.updated))
    outcome = "damaged" if info.problem else str(info.outcome or "open")
    folder = (one_line(info.folder, WIDTH),) if with_folder else ()
    return (info.id, written, outcome, *folder, one_line(info.problem or info.title, WIDTH))


def conversation(stored: StoredSession) -> str:
    """A whole session as a person reads it."""
    info = stored.info
    heading = f"session {info.id}\nfolder  {clean(info.folder)}\noutcome {info.outcome or 'open'}\n"
    return heading + "".join(readable(record.entry) for record in stored.records)


def readable(entry: Entry) -> str:
    """An entry as a person reads it, empty for what is no part of the conversation."""
    match entry:
        case UserSaid(message=message, origin=origin):
            return _block("you" if origin == "person" else origin, _said(message))
        case AssistantSaid(message=message):
            return _assistant(message)
        case CallFinished(result=result):
            return _result(result)
        case Answered(text=text):
            return _block("you answered", clean(text))
        case Shrunk(messages=messages, summary=summary) if messages:
            return _block(f"shortened: the first {messages} messages are sent as", clean(summary))
        case Undone(to=to, conversation=conversation, changes=changes):
            told = [
                *(f"{change.path} is as it was" for change in changes),
                *(["the conversation went back"] if conversation else []),
            ]
            return _block(f"undone: back to record {to}", clean("\n".join(told)))
        case RunEnded(outcome=outcome, result=result, error=error):
            about = result if error is None or error.strip() == result.strip() else f"{result}\n{error}"
            return _block(f"ended: {outcome} (exit {outcome.exit_code})", clean(about))
        case _:
            return ""


def _assistant(message: Assistant) -> str:
    calls = [_call(call) for call in message.calls]
    text = clean(message.text).strip()
    return _block(f"model {clean(message.model)}", text) + "".join(f"  → {call}\n" for call in calls)


def _call(call: ToolCall) -> str:
    return one_line(f"{call.name} {telling(call.arguments)}", WIDTH)


def _result(result: ToolResult) -> str:
    lines = clean(result.text).splitlines()
    shown = lines[:RESULT_LINES]
    if len(lines) > RESULT_LINES:
        shown.append(f"… {len(lines) - RESULT_LINES} more lines")
    pictures = sum(isinstance(part, Image) for part in result.parts)
    shown += [f"({counted(pictures, 'image')})"] if pictures else []
    return f"  {MARKS[result.kind][0]} {result.name}: {result.kind}\n" + "".join(
        f"    {one_line(line, WIDTH)}\n" for line in shown
    )


def _said(message: User) -> str:
    return "\n".join(clean(part.text) if isinstance(part, Text) else "(image)" for part in message.parts)


def _block(heading: str, text: str) -> str:
    return f"\n{heading}\n" + "".join(f"  {line}\n" for line in text.splitlines())
