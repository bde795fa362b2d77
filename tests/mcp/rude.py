"""A server without an SDK, for what no SDK would send: `rude.py MODE [FILE]`. It starts fast."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

MODE = sys.argv[1]
GOOD = {"type": "object", "properties": {"word": {"type": "string"}}}
SCHEMAS = {
    "good": GOOD,
    "endless": {"type": "object", "properties": {"self": {"$ref": "#"}}},
    "elsewhere": {"type": "object", "properties": {"x": {"$ref": "https://example.com/x"}}},
    "with.dots and blanks": GOOD,
    "with_dots and blanks": GOOD,
    "x" * 100: GOOD,
}


def say(**message: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def tools(cursor: str | None) -> dict[str, Any]:
    if MODE == "many":
        page = int(cursor or 0)
        listed = [{"name": f"tool_{page}_{at}", "description": f"Number {at}.", "inputSchema": GOOD} for at in range(25)]
        listed[0]["annotations"] = {"readOnlyHint": True}
        return {"tools": listed, **({"nextCursor": str(page + 1)} if page < 2 else {})}
    if MODE == "schemas":
        return {"tools": [{"name": name, "inputSchema": schema} for name, schema in SCHEMAS.items()]}
    if MODE == "bad_list":
        return {"tools": [{"name": "good", "inputSchema": GOOD}, {"name": 7}]}
    return {"tools": [{"name": "do", "description": "Do it.", "inputSchema": GOOD}]}


def call(id: Any, name: str, arguments: dict[str, Any]) -> None:
    if MODE == "flood":
        while True:
            sys.stdout.write("x" * 1_000_000)
    if MODE in ("sleeps", "sleeps_many"):
        with Path(sys.argv[2]).open("a") as file:
            file.write(f"{arguments['word']}\n")
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        subprocess.Popen(["sleep", arguments["word"]], stdin=subprocess.DEVNULL, start_new_session=True)
        return
    if MODE == "asks":
        form = {"type": "object", "properties": {"name": {"type": "string"}}}
        say(id="q1", method="elicitation/create", params={"message": "Who are you?", "requestedSchema": form})
        answer = json.loads(sys.stdin.readline())
        say(id=id, result={"content": [{"type": "text", "text": f"they said {answer['result']['action']}"}]})
        return
    if MODE == "roots":
        say(id="r1", method="roots/list")
        answer = json.loads(sys.stdin.readline())
        say(id=id, result={"content": [{"type": "text", "text": " ".join(root["uri"] for root in answer["result"]["roots"])}]})
        return
    if MODE == "nonsense":
        say(id=id, result={"content": "not a list"})
        return
    if name.startswith("tool_1_"):
        say(id=id, error={"code": -32000, "message": "no such luck"})
        return
    say(id=id, result={"content": [{"type": "text", "text": f"did {name} {arguments.get('word', '')}".strip()}]})


def main() -> None:
    if MODE == "stays":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL, start_new_session=True)
        Path(sys.argv[2]).write_text(f"{child.pid}")
    for line in sys.stdin:
        if MODE == "mute":
            continue
        if MODE == "noise":
            print("starting up…\n{not json}\n\n\x00\xff", flush=True)
        message = json.loads(line)
        id, params = message.get("id"), message.get("params") or {}
        match message.get("method"):
            case "initialize":
                about = {"serverInfo": {"name": "rude", "version": "1"}, "capabilities": {"tools": {}}}
                say(id=id, result={"protocolVersion": params["protocolVersion"], **about})
            case "tools/list":
                say(id=id, result=tools(params.get("cursor")))
            case "tools/call":
                call(id, params["name"], params.get("arguments") or {})
            case _ if id is not None:
                say(id=id, error={"code": -32601, "message": "unknown method"})
    while MODE == "stays":
        signal.pause()


if __name__ == "__main__":
    main()
