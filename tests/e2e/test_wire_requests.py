"""What one run of three turns sends, as whole objects: a prompt, two reads at once, an edit, the end."""

import copy
from pathlib import Path
from typing import Any

import pytest

from ferrule import __version__
from tests.e2e.wire import DIALECTS, KEY, WIRES, Home, Played, call, ends

READ_A, READ_B = {"path": "a.txt"}, {"path": "b.txt"}
FIX = {"file_path": "a.txt", "old_string": "prnt", "new_string": "print"}
SAW_A, SAW_B = "File: a.txt\n1 | prnt", "File: b.txt\n1 | b"
FIXED = "Edited a.txt at line 1. There is no need to read it again."
STEPS = (
    {"reasoning": "Look first.", "text": "I look.", "calls": [call("read_file", **READ_A), call("read_file", **READ_B)]},
    {"calls": [call("edit", **FIX)]},
    ends("Fixed."),
)
TOOLS = [
    "read_file",
    "list_files",
    "find_files",
    "search_files",
    "list_code_definitions",
    "write_to_file",
    "apply_diff",
    "edit",
    "apply_patch",
    "execute_command",
    "read_command_output",
    "stop_command",
    "codebase_search",
    "update_todo_list",
    "ask_followup_question",
    "attempt_completion",
]
PATHS = {
    "openai": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "google": "/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse",
}
MARK = {"cache_control": {"type": "ephemeral"}}
SPELLED = {
    "read a": '{"path": "a.txt"}',
    "read b": '{"path": "b.txt"}',
    "fix": '{"file_path": "a.txt", "old_string": "prnt", "new_string": "print"}',
}


def function(number: int, name: str, arguments: str) -> Any:
    return {"id": f"call{number:05}", "type": "function", "function": {"name": name, "arguments": SPELLED[arguments]}}


def item(number: int, name: str, arguments: str) -> Any:
    return {"type": "function_call", "call_id": f"call_{number:05}", "name": name, "arguments": SPELLED[arguments]}


def output(number: int, text: str) -> Any:
    return {"type": "function_call_output", "call_id": f"call_{number:05}", "output": text}


def use(number: int, name: str, input: Any) -> Any:
    return {"type": "tool_use", "id": f"call_{number:05}", "name": name, "input": input}


def used(number: int, text: str) -> Any:
    return {"type": "tool_result", "tool_use_id": f"call_{number:05}", "content": [{"type": "text", "text": text}]}


def asked(id: str, name: str, args: Any, signature: str) -> Any:
    return {"functionCall": {"name": name, "args": args, "id": id}, "thoughtSignature": signature}


def responded(id: str, name: str, text: str) -> Any:
    return {"functionResponse": {"name": name, "response": {"output": text}, "id": id}}


FIELDS: dict[str, Any] = {
    "openai": {"model": "gpt-5.1", "stream": True, "stream_options": {"include_usage": True}, "max_tokens": 128_000},
    "openai-responses": {
        "model": "gpt-5.1",
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"summary": "auto"},
        "max_output_tokens": 128_000,
    },
    "anthropic": {
        "model": "claude-sonnet-5-5",
        "max_tokens": 128_000,
        "stream": True,
        "thinking": {"type": "adaptive", "display": "summarized"},
    },
    "google": {"generationConfig": {"maxOutputTokens": 65_536, "thinkingConfig": {"includeThoughts": True}}},
}
PLACE = {"openai": "messages", "openai-responses": "input", "anthropic": "messages", "google": "contents"}
TURNS: dict[str, list[list[Any]]] = {
    "openai": [
        [{"role": "user", "content": "fix it"}],
        [
            {
                "role": "assistant",
                "content": "I look.",
                "tool_calls": [function(1, "read_file", "read a"), function(2, "read_file", "read b")],
            },
            {"role": "tool", "tool_call_id": "call00001", "content": SAW_A},
            {"role": "tool", "tool_call_id": "call00002", "content": SAW_B},
        ],
        [
            {"role": "assistant", "content": None, "tool_calls": [function(3, "edit", "fix")]},
            {"role": "tool", "tool_call_id": "call00003", "content": FIXED},
        ],
    ],
    "openai-responses": [
        [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "fix it"}]}],
        [
            {
                "id": "rs_1_0",
                "type": "reasoning",
                "summary": [{"type": "summary_text", "text": "Look first."}],
                "encrypted_content": "ZW5jcnlwdGVk0001",
            },
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "I look.", "annotations": []}],
            },
            item(1, "read_file", "read a"),
            item(2, "read_file", "read b"),
            output(1, SAW_A),
            output(2, SAW_B),
        ],
        [item(3, "edit", "fix"), output(3, FIXED)],
    ],
    "anthropic": [
        [{"role": "user", "content": [{"type": "text", "text": "fix it"}]}],
        [
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "Look first.", "signature": "c2lnbmVk0001"},
                    {"type": "text", "text": "I look."},
                    use(1, "read_file", READ_A),
                    use(2, "read_file", READ_B),
                ],
            },
            {"role": "user", "content": [used(1, SAW_A), used(2, SAW_B)]},
        ],
        [{"role": "assistant", "content": [use(3, "edit", FIX)]}, {"role": "user", "content": [used(3, FIXED)]}],
    ],
    "google": [
        [{"role": "user", "parts": [{"text": "fix it"}]}],
        [
            {
                "role": "model",
                "parts": [
                    {"text": "I look."},
                    asked("call_1_1_1", "read_file", READ_A, "c2lnbmVk0001"),
                    asked("call_1_1_2", "read_file", READ_B, "c2lnbmVk0001"),
                ],
            },
            {
                "role": "user",
                "parts": [responded("call_1_1_1", "read_file", SAW_A), responded("call_1_1_2", "read_file", SAW_B)],
            },
        ],
        [
            {"role": "model", "parts": [asked("call_2_1_1", "edit", FIX, "c2lnbmVk0002")]},
            {"role": "user", "parts": [responded("call_2_1_1", "edit", FIXED)]},
        ],
    ],
}


def expected(dialect: str, turns: int) -> Any:
    said = copy.deepcopy([message for turn in TURNS[dialect][:turns] for message in turn])
    if dialect == "anthropic":
        for message in [message for message in said if message["role"] == "user"][-2:]:
            message["content"][-1] |= MARK
    return {**FIELDS[dialect], PLACE[dialect]: said}


def system_of(dialect: str, body: Any) -> tuple[str, Any]:
    """The system prompt, and the body without it and its tools."""
    rest = {key: value for key, value in body.items() if key not in ("tools", "system", "instructions", "systemInstruction")}
    match dialect:
        case "openai":
            first, *messages = body["messages"]
            assert first == {"role": "system", "content": first["content"]}
            return first["content"], {**rest, "messages": messages}
        case "openai-responses":
            return body["instructions"], rest
        case "anthropic":
            *sections, last = body["system"]
            assert last == {"type": "text", "text": last["text"], **MARK}
            assert all(section == {"type": "text", "text": section["text"]} for section in sections)
            return "\n\n".join(section["text"] for section in body["system"]), rest
        case _:
            return "\n\n".join(part["text"] for part in body["systemInstruction"]["parts"]), rest


def tools_of(dialect: str, body: Any) -> list[tuple[str, str, Any]]:
    """Name, description and parameters of each tool; fails where a definition holds anything else."""
    match dialect:
        case "openai":
            assert all(tool == {"type": "function", "function": tool["function"]} for tool in body["tools"])
            return [
                (function["name"], function["description"], function["parameters"])
                for function in (tool["function"] for tool in body["tools"])
                if function.keys() == {"name", "description", "parameters"}
            ]
        case "openai-responses":
            keys = {"type": "function", "strict": False}
            assert all(tool == {**tool, **keys} and len(tool) == 5 for tool in body["tools"])
            return [(tool["name"], tool["description"], tool["parameters"]) for tool in body["tools"]]
        case "anthropic":
            *tools, last = body["tools"]
            assert all(tool.keys() == {"name", "description", "input_schema"} for tool in tools)
            assert last == {**last, **MARK} and len(last) == 4
            return [(tool["name"], tool["description"], tool["input_schema"]) for tool in body["tools"]]
        case _:
            (group,) = body["tools"]
            assert group.keys() == {"functionDeclarations"}
            return [(tool["name"], tool["description"], tool["parametersJsonSchema"]) for tool in group["functionDeclarations"]]


@pytest.fixture(scope="module", params=DIALECTS)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Played:
    home = Home(tmp_path_factory.mktemp("wire"))
    (home.folder / "a.txt").write_text("prnt\n")
    (home.folder / "b.txt").write_text("b\n")
    played = home.play(request.param, *STEPS, prompt=("-p", "fix it"), model=WIRES[request.param].default)
    assert (played.code, played.problems) == (0, []), played.err
    return played


def test_every_request_of_three_turns_is_what_it_should_be_as_a_whole(run: Played):
    bodies = [system_of(run.dialect, body)[1] for body in run.bodies]

    assert bodies == [expected(run.dialect, turns) for turns in (1, 2, 3)]
    assert (run.home.folder / "a.txt").read_text() == "print\n"


def test_every_request_repeats_the_one_before_and_no_vendor_and_no_sdk_objects(run: Played):
    assert run.complaints() == []


def test_the_system_prompt_is_the_same_in_every_request_and_names_the_folder(run: Played):
    prompts = {system_of(run.dialect, body)[0] for body in run.bodies}

    (prompt,) = prompts
    assert prompt.startswith("You are Ferrule")
    assert f"Project folder: {run.home.folder} (not a git repository)" in prompt


def test_all_tools_of_the_mode_are_offered_in_every_dialect_alike(run: Played):
    offered = [tools_of(run.dialect, body) for body in run.bodies]

    assert [[name for name, _, _ in tools] for tools in offered] == [TOOLS] * 3
    (completion,) = [tool[2] for tool in offered[0] if tool[0] == "attempt_completion"]
    result, kept = (completion["properties"][name]["description"] for name in ("result", "keep_running"))
    assert completion == {
        "type": "object",
        "properties": {
            "result": {"type": "string", "description": result},
            "keep_running": {"type": "array", "items": {"type": "string"}, "default": [], "description": kept},
        },
        "required": ["result"],
        "additionalProperties": False,
    }
    assert all(description for _, description, _ in offered[0])


def test_the_key_is_sent_in_its_own_header_alone(run: Played):
    key = {
        "openai": {"authorization": f"Bearer {KEY}"},
        "openai-responses": {"authorization": f"Bearer {KEY}"},
        "anthropic": {"x-api-key": KEY, "anthropic-version": "2023-06-01"},
        "google": {"x-goog-api-key": KEY},
    }[run.dialect]
    common = {
        "content-type": "application/json",
        "accept": "text/event-stream",
        "accept-encoding": "identity",
        "user-agent": f"ferrule/{__version__}",
        "connection": "keep-alive",
    }
    for sent in run.calls:
        assert (sent.method, sent.path) == ("POST", PATHS[run.dialect])
        assert sent.headers == {**common, **key, "host": sent.headers["host"], "content-length": str(len(sent.raw))}
        assert KEY.encode() not in sent.raw


@pytest.mark.parametrize(
    ("dialect", "written"),
    [
        ("openai", "/v1/"),
        ("openai-responses", "/v1/"),
        ("anthropic", "/"),
        ("anthropic", "/v1"),
        ("google", "/"),
        ("google", "/v1beta"),
    ],
)
def test_a_base_url_may_be_written_in_several_ways_and_needs_no_key_here(tmp_path: Path, dialect: str, written: str):
    played = Home(tmp_path).play(dialect, ends(), path=written, key=None)
    sent = played.calls[0]

    assert played.code == 0
    assert sent.path == PATHS[dialect].replace("gemini-3.8-flash", "nobody-knows-this")
    assert not sent.headers.keys() & {"authorization", "x-api-key", "x-goog-api-key"}


def test_nothing_but_model_calls_is_asked(run: Played):
    assert run.others == []


def test_the_first_request_is_small(run: Played):
    size = len(run.calls[0].raw)
    print(f"{run.dialect}: {size} bytes")

    assert size <= 16_000
