"""Which tool a model means. A name that means exactly one tool is that tool; anything else is an error that says what there is.

After OpenClaw's normalisation of tool names, with Unicode folded and ambiguity refused.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from ferrule.stream.naming import storable
from ferrule.types.messages import ToolCall

from .whole import Lines, rewritten

LONGEST = 128
"""Characters; what is longer is no misspelt name."""

PREFIXES = ("functions.", "functions:", "functions ", "tools.", "tools:", "tool.", "default_api.", "default_api:", "assistant.")
ALIASES = {
    "apply-patch": "apply_patch",
    "bash": "execute_command",
    "run_command": "execute_command",
    "search_and_replace": "edit",
    "shell": "execute_command",
    "write_file": "write_to_file",
}
COUNTER = re.compile(r"[:_#]\d{1,6}\Z")
GENERIC = re.compile(r"(?:functions?|tools?|call|toolu|chatcmpl-tool)[\W_\d]*", re.IGNORECASE)


def resolve(call: ToolCall, tools: Sequence[str]) -> tuple[ToolCall, Lines]:
    """The call under the name of its tool, or under a storable one with its problem."""
    name, problem = resolve_name(call.name, tools, call.raw.id if call.raw else call.id)
    if name == call.name and problem is None:
        return call, ()
    lines = (f"{call.id}: tool name {_shown(call.name)} stored as {name!r}",) if name != call.name else ()
    return rewritten(call, name=name, problem=problem or call.problem), lines


def resolve_name(written: str, tools: Sequence[str], id: str = "") -> tuple[str, str | None]:
    """The tool that is meant, or a storable name and why it is none.

    The first reading that names any tool decides; one that names several is an error. A blank name is read from the call's id.
    """
    if written in tools:
        return written, None
    folded = _fold(written) if len(written) <= LONGEST else ""
    for reading in _readings(folded or (_fold(id) if not written.strip() else "")):
        found = {tool for tool in tools if tool == reading} or {tool for tool in tools if tool.lower() == reading.lower()}
        if len(found) == 1:
            return found.pop(), None
        if found:
            return _storable(written), _problem(written, "matches several tools", tools)
    return _storable(written), _problem(written, "does not exist", tools)


def _readings(folded: str) -> Iterator[str]:
    """What a name may stand for, the nearest reading first."""
    if not folded or GENERIC.fullmatch(folded):
        return
    yield folded
    alone = _without_prefix(folded)
    yield alone
    yield ALIASES.get(alone.lower(), "")
    uncounted = COUNTER.sub("", alone)
    yield uncounted
    yield ALIASES.get(uncounted.lower(), "")
    parts = [part for part in re.split(r"[./:]|__", uncounted) if part]
    if parts:
        yield parts[-1]
        yield COUNTER.sub("", parts[-1])


def _fold(written: str) -> str:
    """Full-width letters and the like become plain ones; characters that nobody sees go, blanks around it too."""
    text = unicodedata.normalize("NFKC", written)
    return "".join(character for character in text if unicodedata.category(character) != "Cf").strip()


def _without_prefix(text: str) -> str:
    for prefix in PREFIXES:
        if text.lower().startswith(prefix):
            return _without_prefix(text[len(prefix) :].strip())
    return text


def _storable(written: str) -> str:
    return storable(_without_prefix(_fold(written[: 2 * LONGEST])))


def _problem(written: str, why: str, tools: Sequence[str]) -> str:
    return f"The tool {_shown(written)} {why}. Nothing was run. The tools are: {', '.join(tools)}."


def _shown(written: str) -> str:
    return repr(written if len(written) <= LONGEST else f"{written[:LONGEST]}…")
