"""What providers were seen to do to agents, as data: the steps that play each fault, and how often its command is meant to run.

Twelve agents were measured on these faults. The page for people, `docs/faults.md`, is written from this table.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.e2e.wire import BAD, DIALECTS, Step, call, http, shell


@dataclass(frozen=True)
class Fault:
    """One thing that goes wrong before the work.

    `runs` is how often the command in it is run, None where there is none; `lax` is a server that refuses no request; `shrinks`
    says that the conversation may be sent in a shorter form after it; `config` is a configuration that the case needs. `without`
    says why a dialect cannot express it, `own_way` how one has its own way to.
    """

    name: str
    what: str
    steps: tuple[Step, ...]
    runs: int | None = None
    lax: bool = False
    shrinks: bool = False
    config: str = ""
    without: Mapping[str, str] = field(default_factory=dict)
    own_way: Mapping[str, str] = field(default_factory=dict)


def arguments(text: str, **step: object) -> tuple[Step, ...]:
    return ({"calls": [{"name": "execute_command", "arguments": text}], **step},)


def named(name: str) -> tuple[Step, ...]:
    return ({"calls": [call(name, command=BAD)]},)


def cut(how: str, **said: object) -> tuple[Step, ...]:
    return ({**said, "fault": {"kind": "cut", "how": how}},)


WHOLE = json.dumps({"command": BAD})
MALFORMED = arguments('{"command": ' + BAD)
TRUNCATED = arguments(WHOLE[: -len('bad.txt"}') + 1], stop="length")
ENCODED = arguments(json.dumps(WHOLE))
TWIN = {**call("execute_command", command=BAD), "id": "same"}
SAID = {"text": "I am about to make the file, in the way that was asked for."}
XML = f"<execute_command><command>{BAD}</command></execute_command>"
OVERFLOW = http(400, None, says="context_overflow", tokens=210_000)
SIX = tuple(shell(f"seq {number}000 {number}400") for number in range(1, 7))
SILENCE = "[timeouts]\nfirst_event = 1.0\nidle = 1.0\n"
PAGE = "<html><h1>Service Unavailable</h1></html>"
PARSES = {"google": "such a call arrives as `MALFORMED_FUNCTION_CALL`, since Google parses arguments itself"}
ONLY_PARSED = {
    "google": "arguments are objects on this wire, so there is no history with broken ones that a server could take back"
}
NO_STOP = {
    "openai-responses": "an answer with calls has the same status as any other, `completed`",
    "google": "an answer with calls has the same reason to end as any other, `STOP`",
}

FAULTS = (
    Fault("http429", "a rate limit", (http(429),)),
    Fault("http429x3", "a rate limit, three times", (http(429, times=3),)),
    Fault("http500", "a server error", (http(500),)),
    Fault("http503", "an overloaded server", (http(503),)),
    Fault("http503_html", "a proxy's page instead of an answer, without Retry-After", (http(503, None, body=PAGE),)),
    Fault("http529", "an overloaded server, by Anthropic's status", (http(529),)),
    Fault("context_length", "an overflow of the window at the first request", (OVERFLOW,), shrinks=True),
    Fault("reset", "a reset before the headers", ({"fault": {"kind": "reset"}},)),
    Fault("reset_x3", "a reset before the headers, three times", ({"fault": {"kind": "reset"}, "times": 3},)),
    Fault("cut_args", "a connection that drops in the arguments of a call", cut("drop", **shell(BAD)), 0),
    Fault("cut_args_clean", "a stream that ends in the arguments, in good order", cut("clean", **shell(BAD)), 0),
    Fault("cut_text", "a connection that drops in the text", cut("drop", **SAID)),
    Fault("cut_text_clean", "a stream that ends in the text, in good order", cut("clean", **SAID)),
    Fault(
        "stall20",
        "silence for 20 seconds in a call",
        ({**shell(BAD), "fault": {"kind": "stall", "seconds": 20}},),
        0,
        config=SILENCE,
    ),
    Fault("malformed_args", "arguments that are no JSON", MALFORMED, 0, own_way=PARSES),
    Fault("truncated_args", "arguments that end at the output limit", TRUNCATED, 0, own_way=PARSES),
    Fault("empty", "an empty text", ({"text": ""},)),
    Fault("unknown_tool", "a tool that does not exist", named("run_it_all"), 0),
    Fault("name_spaces", "blanks around the name of a tool", named(" execute_command "), 1),
    Fault("name_case", "a name in another case", named("Execute_Command"), 1),
    Fault("name_prefix", "a name with a prefix", named("functions.execute_command"), 1),
    Fault("dup_ids", "two calls with one id", ({"calls": [TWIN, TWIN]},), 2),
    Fault("missing_id", "a call without an id", (shell(BAD, id=None),), 1),
    Fault("double_encoded", "arguments that are a JSON text in a JSON text", ENCODED, 1),
    Fault("text_xml", "a call written as XML into the text", ({"text": XML},), 0),
    Fault("text_json", "a call written as JSON into the text", ({"text": json.dumps(call("execute_command", command=BAD))},), 0),
    Fault(
        "stop_with_calls", "a call beside the stop reason of a mere text", ({**shell(BAD), "stop": "end"},), 1, without=NO_STOP
    ),
    Fault("null_content", "no content: null, or none of the parts that a dialect has", ({"parts": []},)),
    Fault("no_usage", "an answer without usage", ({**shell(BAD), "usage": None},), 1),
    Fault(
        "malformed_args_lax", "`malformed_args` from a server that takes them back", MALFORMED, 0, lax=True, without=ONLY_PARSED
    ),
    Fault(
        "truncated_args_lax", "`truncated_args` from a server that takes them back", TRUNCATED, 0, lax=True, without=ONLY_PARSED
    ),
    Fault("double_encoded_lax", "`double_encoded` from a server that takes them back", ENCODED, 1, lax=True, without=ONLY_PARSED),
    Fault("dup_ids_lax", "`dup_ids` from a server that takes them back", ({"calls": [TWIN, TWIN]},), 2, lax=True),
    Fault("context_late", "an overflow after six calls with output", (*SIX, OVERFLOW), shrinks=True),
)
BY_NAME = {fault.name: fault for fault in FAULTS}
CELLS = [(fault.name, dialect) for fault in FAULTS for dialect in DIALECTS if dialect not in fault.without]
