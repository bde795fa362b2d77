"""Finding words in what was said, called and answered, in all sessions of a folder or of a person."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from ferrule.store.private import state_folder
from ferrule.store.sessions import Sessions
from ferrule.types.errors import StoreError
from ferrule.types.messages import Reasoning, Text, ToolCall
from ferrule.types.names import spell
from ferrule.types.records import Answered, Asked, AssistantSaid, CallFinished, Entry, RunEnded, UserSaid

AROUND = 60


class Hit(Struct, frozen=True):
    """One place: record `seq` of a session, who said it (`you`, `model`, `call NAME`, `result NAME`, …), and the words around.

    `times` counts the matches in that text; the snippet shows the first.
    """

    session: str
    seq: int
    time: float
    place: str
    snippet: str
    times: int


class Search(Struct, frozen=True):
    """`problems` names the sessions that could not be read to their end."""

    hits: tuple[Hit, ...]
    sessions: int
    problems: tuple[str, ...]


async def search_sessions(environ: Mapping[str, str], folder: Path | None, text: str) -> Search:
    """Upper and lower case are the same. Of one project folder, or all; the session written last comes first."""
    sessions = Sessions(state_folder(environ))
    pattern = re.compile(re.escape(text), re.IGNORECASE)
    listed = sessions.list(None if folder is None else spell(str(folder.resolve())))
    hits: list[Hit] = []
    problems: list[str] = []
    for info in listed:
        try:
            async for record in sessions.reader(info.id).records():
                for place, said in texts(record.entry):
                    if found := _matches(pattern, said):
                        snippet, times = found
                        hits.append(Hit(info.id, record.seq, record.time, place, snippet, times))
        except StoreError as error:
            problems.append(f"session {info.id} was searched only up to its damage: {error}")
    return Search(tuple(hits), len(listed), tuple(problems))


def texts(entry: Entry) -> Iterator[tuple[str, str]]:
    """What of an entry can be searched, each with its place."""
    match entry:
        case UserSaid(message=message, origin=origin):
            who = "you" if origin == "person" else origin
            yield from ((who, part.text) for part in message.parts if isinstance(part, Text))
        case AssistantSaid(message=message):
            for part in message.parts:
                match part:
                    case Text(text=said):
                        yield "model", said
                    case Reasoning(text=said):
                        yield "reasoning", said
                    case ToolCall() as call:
                        yield f"call {call.name}", "\n".join(_words(call.arguments))
        case CallFinished(result=result):
            yield f"result {result.name}", result.text
        case Asked(question=question):
            yield "question", "\n".join([question.text, *(option.text for option in question.options)])
        case Answered(text=said):
            yield "you", said
        case RunEnded(outcome=outcome, result=said, error=error):
            yield f"ended {outcome}", said if error is None or error == said else f"{said}\n{error}"
        case _:
            return


def _words(arguments: str) -> Iterator[str]:
    """The arguments of a call as they were meant, without JSON's quoting."""
    try:
        given = msgspec.json.decode(arguments)
    except msgspec.DecodeError:
        yield arguments
        return
    yield from _leaves(given)


def _leaves(value: object) -> Iterator[str]:
    match value:
        case dict():
            for name, part in value.items():
                yield name
                yield from _leaves(part)
        case list():
            for part in value:
                yield from _leaves(part)
        case str():
            yield value
        case _:
            yield msgspec.json.encode(value).decode()


def _matches(pattern: re.Pattern[str], text: str) -> tuple[str, int] | None:
    found = list(pattern.finditer(text))
    if not found:
        return None
    start, end = found[0].span()
    before = "…" if start > AROUND else ""
    after = "…" if end + AROUND < len(text) else ""
    return before + text[max(start - AROUND, 0) : end + AROUND] + after, len(found)
