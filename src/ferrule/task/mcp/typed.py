"""`/mcp:SERVER:PROMPT ARGUMENT…` at the beginning of what the person typed: a text that the server prepares."""

import re
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ferrule.tools.mcp.connection import Connection, Lost
from ferrule.tools.mcp.resources import all_prompts
from ferrule.tools.mcp.results import text_of_prompt
from ferrule.types.errors import ToolError, UsageError

if TYPE_CHECKING:
    import mcp_types

TYPED = re.compile(r"\s*/mcp:([^\s:]+):(\S+)(?:\s+(.*))?\Z", re.DOTALL)


async def expanded(prompt: str, connections: Sequence[Connection]) -> str | None:
    """What was typed, and the server's text after it, marked as the server's; None for what is no such thing.

    Raises UsageError where the server has no such prompt or cannot be asked.
    """
    found = TYPED.match(prompt)
    if found is None:
        return None
    server, name, written = found[1], found[2], found[3] or ""
    connection = next((each for each in connections if each.server.name == server), None)
    if connection is None:
        known = ", ".join(each.server.name for each in connections)
        raise UsageError(f"/mcp:{server}:{name}: there is no server {server}; there are: {known}")
    try:
        prompts = {each.name: each for each in await all_prompts(connection)}
        if name not in prompts:
            raise UsageError(f"/mcp:{server}:{name}: the server has no such prompt; it has: {', '.join(prompts) or 'none'}")
        arguments = _arguments(prompts[name], written)
        result = await connection.ask(lambda client: client.get_prompt(name, arguments))
    except (ToolError, Lost) as problem:
        raise UsageError(f"/mcp:{server}:{name}: {problem}") from problem
    return f'{prompt}\n\n<mcp_prompt server="{server}" name="{name}">\n{text_of_prompt(result)}\n</mcp_prompt>'


def _arguments(prompt: "mcp_types.Prompt", written: str) -> dict[str, str]:
    """`NAME=VALUE`, or values in the order of the prompt's arguments. Raises UsageError."""
    names = [each.name for each in prompt.arguments or ()]
    try:
        words = shlex.split(written)
    except ValueError as problem:
        raise UsageError(f"the arguments of {prompt.name} have an open quote ({problem})") from problem
    given: dict[str, str] = {}
    for word in words:
        name, sign, value = word.partition("=")
        if not (sign and name in names):
            name, value = next((each for each in names if each not in given), ""), word
        if not name:
            raise UsageError(f'{prompt.name} takes {", ".join(names) or "no arguments"}; "{word}" is one too many')
        given[name] = value
    if missing := [each.name for each in prompt.arguments or () if each.required and each.name not in given]:
        raise UsageError(f"{prompt.name} needs {', '.join(missing)}: write NAME=VALUE")
    return given
