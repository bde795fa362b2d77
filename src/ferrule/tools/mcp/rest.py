"""`read_mcp_result`: a long result of a server, by pages."""

from typing import Annotated

from msgspec import Meta, Struct

from ferrule.tools.base import Tool, ToolContext, no_actions
from ferrule.types.errors import StoreError, ToolError
from ferrule.types.tools import Effect, ToolOutput, ok

PAGE = 30_000


class ReadMcpResult(Struct, frozen=True):
    result: Annotated[str, Meta(description="As the shortened result names it.")]
    offset: Annotated[int, Meta(description="First byte, from 0.", ge=0)] = 0
    limit: Annotated[int, Meta(description=f"Bytes to return, 1 to {PAGE}.", ge=1, le=PAGE)] = PAGE


def read_mcp_result() -> Tool:
    return Tool(
        name="read_mcp_result",
        description="Read a long result of an MCP server that was shortened, by pages.",
        params=ReadMcpResult,
        effect=Effect.READ,
        actions=no_actions,
        run=_run,
    )


async def _run(params: ReadMcpResult, context: ToolContext) -> ToolOutput:
    try:
        size = context.blobs.size(params.result)
        data = context.blobs.read(params.result, params.offset, params.limit + 3)
    except StoreError as problem:
        raise ToolError(f"There is no result {params.result!r}: {problem}") from None
    if params.offset >= size:
        raise ToolError(f"It has {size:,} bytes; `offset` is {params.offset}.")
    end = params.limit
    while end < len(data) and data[end] & 0xC0 == 0x80:
        end += 1
    after = params.offset + len(data[:end])
    more = f"\n[{size - after:,} bytes follow: offset={after}]" if after < size else ""
    return ok(f"Bytes {params.offset:,} to {after:,} of {size:,}:\n{data[:end].decode(errors='replace')}{more}")
