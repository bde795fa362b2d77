"""The smallest requests with which the judge once found a fault in a dialect; they stay right."""

from dataclasses import dataclass

from ferrule.providers.base import Endpoint
from ferrule.types.messages import Image, Opaque, Reasoning, Results, Text, User
from ferrule.types.request import Request
from tests.judge.case import GIF

from .conversations import EDIT, HELLO, call, request, result, said
from .endpoints import ENDPOINTS, SCHEMA


@dataclass(frozen=True)
class Finding:
    rule: str
    endpoint: Endpoint
    request: Request


ANSWERED = Results((result("c1", Text("seen")),))
NAMELESS = Results((result("c1", Text("there is no tool 7zip"), kind="error", name="7zip"),))
UNSEALED = Opaque("openai-responses", "gpt-5.1", '{"type":"reasoning","id":"rs_1","summary":[]}')

FOUND = (
    Finding("A23", ENDPOINTS["anthropic/claude-sonnet-5-5"], request(HELLO, said(call(), Text("I look.")), ANSWERED)),
    Finding("A26", ENDPOINTS["anthropic/claude-opus-4-5"], request(HELLO, said(call()), ANSWERED, effort="high")),
    Finding("A34", ENDPOINTS["anthropic/claude-sonnet-5-5"], request(HELLO, said(call()), ANSWERED, tools=())),
    Finding("C23", SCHEMA, request(HELLO, tools=(EDIT,))),
    Finding("G16", ENDPOINTS["google/gemini-3.8-flash"], request(HELLO, said(call("c1", "7zip")), NAMELESS)),
    Finding("G19", ENDPOINTS["google/gemini-3.8-flash"], request(User((Image("image/gif", GIF),)))),
    Finding("R21", ENDPOINTS["openai-responses/gpt-5.1"], request(HELLO, said(Reasoning("", UNSEALED), call()), ANSWERED)),
)
