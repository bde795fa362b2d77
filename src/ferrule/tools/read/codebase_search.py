"""`codebase_search`: where the code is that a question is about."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from ferrule.tools.base import Place, Tool, ToolContext
from ferrule.types.errors import ToolError
from ferrule.types.names import spell
from ferrule.types.tools import Action, Effect, ToolOutput, ok

from .read_file import missing

if TYPE_CHECKING:
    from ferrule.workspace.codebase.codebase import Answer, Codebase
    from ferrule.workspace.codebase.store import Hit

FOUND = 10
MOST = 50
WIDEST = 200
"""Characters of a line."""
SHOWN = 12
"""Lines that are shown of a piece."""

Files = Callable[[], Awaitable[Sequence[str]]]


class CodebaseSearch(Struct, frozen=True):
    query: Annotated[
        str, Meta(description="What the code is about, in words or names of identifiers, such as `retry after time-out`.")
    ]
    path: Annotated[str, Meta(description="Folder of the workspace to look in.")] = "."
    limit: Annotated[int, Meta(description="Most places to return.")] = FOUND


def codebase_search(codebase: "Callable[[], Codebase]", files: Files) -> Tool:
    """`files` gives the paths of all files of the workspace."""
    return Tool(
        name="codebase_search",
        description="Find the places of the code base that a question is about, best first, from an index of its words "
        "(identifiers also by their parts). Use it when you do not know the exact text; search_files when you do.",
        params=CodebaseSearch,
        effect=Effect.READ,
        actions=_actions,
        run=partial(_run, codebase, files),
    )


def _actions(params: CodebaseSearch, place: Place) -> tuple[Action, ...]:
    return (Action("read", (spell(str(place.resolve(params.path))),)),)


async def _run(codebase: "Callable[[], Codebase]", files: Files, params: CodebaseSearch, context: ToolContext) -> ToolOutput:
    from ferrule.workspace.codebase.terms import asked

    place = context.place
    path = place.resolve(params.path)
    shown = place.shown(path)
    if not asked(params.query):
        raise ToolError("`query` holds no words.")
    if not 1 <= params.limit <= MOST:
        raise ToolError(f"`limit` must be from 1 to {MOST}, got {params.limit}.")
    if not path.exists():
        raise ToolError(missing(path, place))
    if not path.is_dir() or not path.is_relative_to(place.root):
        raise ToolError(f"{shown} is no folder of the workspace; use search_files.")
    below = "" if path == place.root else f"{shown}/"
    answer = await codebase().search(params.query, await files(), below, params.limit)
    return ok(_render(answer, params, place))


def _render(answer: "Answer", params: CodebaseSearch, place: Place) -> str:
    from ferrule.workspace.codebase.codebase import shown as text_of
    from ferrule.workspace.codebase.terms import asked
    from ferrule.workspace.finding.following import hidden

    words, means = frozenset(asked(params.query)), hidden(place.root)
    remarks = [answer.remark] if answer.remark else []
    if answer.progress.left:
        remarks.append(f"{answer.progress.left} files are not in the index yet; ask again to go on.")
    blocks: list[str] = []
    for hit in answer.hits:
        text = None if means(hit.path) else text_of(place.root, hit)
        if text is not None:
            blocks.append(f"# {hit.path}:{hit.first}-{hit.last}\n{_lines(text, hit, words)}")
    said = "".join(f" {remark}" for remark in remarks)
    if not blocks:
        return f"Nothing among {answer.progress.files} files is about `{params.query}`.{said}"
    return "\n\n".join([f"The best {len(blocks)} places among {answer.progress.files} files.{said}", *blocks])


def _lines(text: str, hit: "Hit", words: frozenset[str]) -> str:
    """Some lines of a piece: its first one, those with words of the question, and what follows the first one."""
    from ferrule.workspace.codebase.terms import terms

    numbered = [(number, line) for number, line in enumerate(text.split("\n"), hit.first) if line.strip()]
    by_worth = sorted(numbered, key=lambda each: (each is not numbered[0], words.isdisjoint(terms(each[1])), each[0]))
    width = len(str(hit.last))
    chosen = sorted(by_worth[:SHOWN])
    lines = [f"{number:>{width}} | {line if len(line) <= WIDEST else line[:WIDEST] + '…'}" for number, line in chosen]
    return "\n".join(lines)
