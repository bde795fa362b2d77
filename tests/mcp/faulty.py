"""A server by the official SDK whose tools do what servers should not: `faulty.py NOTES [http|sse PORT]`.

`NOTES` is a file that gets a line for every effect.
"""

import asyncio
import os
import sys
from pathlib import Path

from mcp.server.mcpserver import Context, Image, MCPServer
from mcp_types import ToolAnnotations

NOTES = Path(sys.argv[1])
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)
READS = ToolAnnotations(read_only_hint=True)
server = MCPServer("faulty")
counted = 0


def note(text: str) -> None:
    with NOTES.open("a") as file:
        file.write(text + "\n")


@server.tool(annotations=READS)
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def count() -> str:
    """Count in memory."""
    global counted
    counted += 1
    return f"counted {counted}"


@server.tool()
def crash(word: str = "crash") -> str:
    """Take effect, then die without an answer."""
    note(word)
    print("about to die", file=sys.stderr, flush=True)
    os._exit(3)


@server.tool(annotations=READS)
def crash_reading() -> str:
    """Die while reading."""
    os._exit(4)


@server.tool()
async def hang() -> str:
    """Take effect and never answer."""
    note("hang")
    await asyncio.sleep(600)
    return ""


@server.tool(annotations=READS)
def huge(size: int) -> str:
    """Text of a size."""
    return "".join(chr(0x61 + at % 26) for at in range(size))


@server.tool(annotations=READS)
def picture() -> list[Image | str]:
    """An image and a word."""
    return ["a pixel", Image(data=PIXEL, format="png")]


@server.tool(annotations=READS)
def environment() -> str:
    """The names of all variables, and the folder."""
    return " ".join(sorted(os.environ)) + f"\n{Path.cwd()}"


@server.tool(annotations=READS)
def secret() -> str:
    """Its key."""
    return f"the key is {os.environ.get('FAULTY_KEY', 'none')}"


@server.tool()
def fail(why: str) -> str:
    """Fail."""
    raise ValueError(why)


@server.tool()
async def grow(ctx: Context) -> str:
    """Have one more tool, and one less."""
    server.add_tool(lambda: "grown up", name="grown", description="Only there later.")
    server.remove_tool("count")
    return "one more, one less"


@server.resource("note://hello")
def hello() -> str:
    """A greeting."""
    return "hello from a resource"


@server.prompt()
def greet(name: str) -> str:
    """Greets somebody."""
    return f"Greet {name}."


def main() -> None:
    match sys.argv[2:]:
        case ["http", port]:
            server.run("streamable-http", port=int(port))
        case ["sse", port]:
            server.run("sse", port=int(port))
        case _:
            server.run()


if __name__ == "__main__":
    main()
