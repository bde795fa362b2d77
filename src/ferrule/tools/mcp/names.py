"""How tools of servers are called by a model: `mcp__SERVER__TOOL`, as every vendor takes it."""

import hashlib
import re
from collections.abc import Container

PREFIX = "mcp__"
LONGEST = 64
MARK = 9
"""Characters of what tells two names apart that would be the same."""


def tool_name(server: str, tool: str, taken: Container[str] = ()) -> str:
    """The same for the same tool in every session, unless another one has it already."""
    exact = f"{PREFIX}{server}__{tool}"
    name = re.sub(r"[^A-Za-z0-9_-]", "_", exact)
    if len(name) <= LONGEST and name not in taken:
        return name
    digest = hashlib.sha256(exact.encode(errors="surrogatepass")).hexdigest()
    return f"{name[: LONGEST - MARK]}_{digest[: MARK - 1]}"
