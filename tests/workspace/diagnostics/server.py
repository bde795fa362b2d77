"""A language server that calls every line with `bad` in it an error: `server.py push|pull|slow|silent|garbled|ends`.

push: it tells by itself, after an answer that is outdated. slow: it comes up after a second. silent: it tells nothing.
ends: it ends at the second text.
"""

import json
import sys
import time


def send(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    sys.stdout.buffer.flush()


def receive():
    length = 0
    while (line := sys.stdin.buffer.readline()).strip():
        length = int(line.split(b":")[1])
    if not length:
        sys.exit(0)
    return json.loads(sys.stdin.buffer.read(length))


def judged(text):
    place = {"character": 0}
    return [
        {
            "range": {"start": {"line": n, **place}, "end": {"line": n, **place}},
            "severity": 1,
            "message": "bad line",
            "code": "B1",
        }
        for n, line in enumerate(text.split("\n"))
        if "bad" in line
    ]


def main(how):
    texts = {}
    seen = 0
    while True:
        message = receive()
        params = message.get("params")
        match message["method"]:
            case "initialize":
                if how == "slow":
                    time.sleep(1.0)
                if how == "garbled":
                    print("no header here", "x" * 5000, flush=True)
                send({"id": "ask", "method": "workspace/configuration", "params": {"items": [{}, {}]}})
                while "method" in (answer := receive()):
                    pass
                assert answer["result"] == [None, None], answer
                send({"id": message["id"], "result": {"capabilities": {"diagnosticProvider": {}} if how == "pull" else {}}})
            case "textDocument/didOpen" | "textDocument/didChange":
                seen += 1
                if how == "ends" and seen == 2:
                    sys.exit(3)
                document = params["textDocument"]
                text = document["text"] if "text" in document else params["contentChanges"][0]["text"]
                texts[document["uri"]] = text
                if how not in ("pull", "silent"):
                    about = {"uri": document["uri"].replace("%C3%A9", "%c3%a9")}
                    old = {**about, "version": document["version"] - 1, "diagnostics": judged("bad\n" * 9)}
                    send({"method": "textDocument/publishDiagnostics", "params": old})
                    new = {**about, "version": document["version"], "diagnostics": judged(text)}
                    send({"method": "textDocument/publishDiagnostics", "params": new})
            case "textDocument/diagnostic":
                items = judged(texts[params["textDocument"]["uri"]])
                send({"id": message["id"], "result": {"kind": "full", "items": items}})


if __name__ == "__main__":
    main(sys.argv[1])
