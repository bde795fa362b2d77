"""What tokenizers count in the corpus, and a provider's report made of that.

`corpus/counts.json` holds what the vocabulary of Qwen2.5-Coder-1.5B-Instruct (its GGUF file, served by llama-server) says of each
third of each file; made with `python -m tests.context.counting SERVER`, which asks `SERVER/tokenize`, without special tokens.
The texts of the corpus were written, or generated with a fixed seed, for it.
"""

import json
import sys
import urllib.request
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import rs_bpe

from ferrule.types.messages import Assistant, Results, Text, ToolCall, ToolResult, User
from ferrule.types.request import Request, ToolSchema
from ferrule.types.usage import Usage

CORPUS = Path(__file__).parent / "corpus"
KINDS = tuple(sorted(path.stem for path in CORPUS.glob("*.txt")))

Counting = Callable[[str], int]


def thirds(kind: str) -> tuple[str, str, str]:
    text = (CORPUS / f"{kind}.txt").read_text("utf-8")
    one, two = len(text) // 3, len(text) * 2 // 3
    return text[:one], text[one:two], text[two:]


def counted_by_server() -> Counting:
    """By the table; of any other text, and there are only short ones, what o200k says."""
    table: dict[str, list[int]] = json.loads((CORPUS / "counts.json").read_text("utf-8"))
    known = {text: count for kind, counts in table.items() for text, count in zip(thirds(kind), counts, strict=True)}
    other = cache(rs_bpe.bpe.openai.o200k_base().count)
    return lambda text: known[text] if text in known else other(text)


def tokenizers() -> dict[str, Counting]:
    openai = rs_bpe.bpe.openai
    return {"o200k": cache(openai.o200k_base().count), "cl100k": cache(openai.cl100k_base().count), "server": counted_by_server()}


def report(request: Request, count: Counting) -> Usage:
    """What a provider would say: every text, a frame around each message, call, result and tool; part of it from a cache."""
    prompt = 3 + sum(map(count, request.system))
    prompt += sum(9 + count(tool.name) + count(tool.description) + count(tool.parameters) for tool in request.tools)
    for message in request.messages:
        prompt += 4
        for part in message.parts:
            match part:
                case Text(text=text):
                    prompt += count(text)
                case ToolCall(name=name, arguments=arguments):
                    prompt += 10 + count(name) + count(arguments)
                case ToolResult(parts=parts):
                    prompt += 6 + sum(count(each.text) for each in parts if isinstance(each, Text))
                case _:
                    raise AssertionError(part)
    return Usage(input=prompt - prompt // 2, output=20, cache_read=prompt // 2)


TOOL = ToolSchema("read_file", "Reads a file of the project.", '{"type":"object","properties":{"path":{"type":"string"}}}')


def session(texts: Sequence[str], system: tuple[str, ...] = ("You are a coding agent.",)) -> list[Request]:
    """One request a turn; each turn brings in one of the texts as the result of a call."""
    messages: list[User | Assistant | Results] = [User((Text("Look at the files."),))]
    requests = []
    for number, text in enumerate(texts):
        call = ToolCall(f"call_{number}", "read_file", json.dumps({"path": f"corpus/{number}.txt"}))
        messages += [
            Assistant((Text("I read the next one."), call), "calls", "openai/m"),
            Results((ToolResult(call.id, call.name, "ok", (Text(text),)),)),
        ]
        requests.append(Request(system, tuple(messages), (TOOL,)))
    return requests


def main(server: str) -> None:
    def ask(text: str) -> int:
        body = json.dumps({"content": text, "add_special": False}).encode()
        asked = urllib.request.Request(f"{server}/tokenize", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(asked, timeout=30) as answer:
            return len(json.load(answer)["tokens"])

    table = {kind: [ask(text) for text in thirds(kind)] for kind in KINDS}
    lines = ",\n".join(f'  "{kind}": {json.dumps(counts)}' for kind, counts in table.items())
    (CORPUS / "counts.json").write_text(f"{{\n{lines}\n}}\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
