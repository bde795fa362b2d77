"""Every way to fail has a class, an outcome and a sentence; what a vendor says is read from its fields first, its words last."""

import asyncio
import json
from typing import Any, get_args

import httpx2
import pytest

from ferrule.providers.base import Dialect, Endpoint
from ferrule.providers.classify import BY_EXCEPTION, BY_STATUS, BY_TYPE, error_fault, network_fault, status_fault
from ferrule.providers.open import open_provider
from ferrule.types.fault import MEANINGS, TIMEOUTS, Fault, FaultCode
from ferrule.types.messages import Text, User
from ferrule.types.outcome import Outcome
from ferrule.types.request import Request
from ferrule.types.stream import Failed
from tests.providers.provider_wire import Reply, ask, serving, sse

DIALECTS: tuple[Dialect, ...] = ("openai", "openai-responses", "anthropic", "google")
REQUEST = Request((), (User((Text("go"),)),))
BODIES = (b"", b"{}", b"[]", b"null", b"<html>no</html>", b"\xff\xfe", b'{"error":{"message":"x"}}', b'{"detail":[{"msg":"x"}]}')


def ends_with_a_sentence(fault: Fault) -> None:
    assert fault.code in get_args(FaultCode)
    assert fault.outcome not in (Outcome.FINISHED, Outcome.NEEDS_INPUT)
    assert fault.sentence.split(".")[0].endswith(MEANINGS[fault.code].sentence.split(".")[0])


@pytest.mark.parametrize("status", range(400, 600))
def test_every_status_has_an_outcome_and_a_sentence(status: int) -> None:
    for body in BODIES:
        fault = status_fault(status, {}, body)
        assert fault.status == status
        ends_with_a_sentence(fault)
    assert fault.retryable == ((status in BY_STATUS and MEANINGS[BY_STATUS[status]].retryable) or status >= 500)


@pytest.mark.parametrize("name", sorted(BY_EXCEPTION))
@pytest.mark.parametrize("streaming", [False, True])
def test_every_exception_that_is_mapped_has_an_outcome_and_a_sentence(name: str, streaming: bool) -> None:
    fault = network_fault(type(name, (Exception,), {})("why"), streaming)
    assert fault is not None
    ends_with_a_sentence(fault)
    assert fault.detail == f"{name}: why"


def test_every_exception_of_the_library_and_of_the_system_reaches_an_end() -> None:
    of_library = [kind for kind in vars(httpx2).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    of_system = [ConnectionError, ConnectionResetError, BrokenPipeError, TimeoutError, OSError, PermissionError]
    assert len(of_library) > 20
    for kind in (*of_library, *of_system):
        for streaming in (False, True):
            fault = network_fault(kind.__new__(kind), streaming)
            assert fault is not None, kind
            ends_with_a_sentence(fault)


@pytest.mark.parametrize("code", get_args(FaultCode))
def test_every_fault_has_a_meaning(code: FaultCode) -> None:
    ends_with_a_sentence(Fault(code, "why"))
    assert (code in TIMEOUTS) == code.endswith("timeout")


@pytest.mark.parametrize(("kind", "code"), list(BY_TYPE.items()))
@pytest.mark.parametrize("field", ["type", "code", "status"])
def test_a_typed_field_decides_whatever_the_words_and_the_status_say(kind: str, code: FaultCode, field: str) -> None:
    for words in ("prompt is too long: 9 tokens > 8 maximum", "Invalid signature in thinking block"):
        assert status_fault(418, {}, json.dumps({"error": {field: kind, "message": words}}).encode()).code == code


ANTHROPIC = {"type": "error", "error": {"type": "invalid_request_error", "message": "messages.1.content.0: Invalid `signature`"}}
SIGNATURES: dict[str, Any] = {
    "anthropic": ANTHROPIC,
    "anthropic, changed": {"error": {"message": "`thinking` blocks in the latest assistant message cannot be modified."}},
    "anthropic, missing": {"error": {"message": "messages.3: Expected `thinking` or `redacted_thinking`, but found `text`."}},
    "openai": {"error": {"code": "invalid_encrypted_content", "message": "x"}},
    "openai, in words": {"error": {"message": "The encrypted content gAA could not be verified."}},
    "openai, alone": {"error": {"message": "Item 'rs_1' of type 'reasoning' was provided without its required following item."}},
    "openai, call": {"error": {"message": "'function_call' was provided without its required 'reasoning' item: 'rs_1'."}},
    "google": [{"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "Thought signature is not valid."}}],
    "google, missing": {"error": {"message": "Function call is missing a thought_signature in functionCall parts."}},
    "google, corrupted": {"error": {"message": "Corrupted thought signature."}},
    "openrouter": {
        "error": {
            "message": "Provider returned error",
            "code": 400,
            "metadata": {"raw": json.dumps(ANTHROPIC), "provider_name": "A"},
        }
    },
    "litellm": {"error": {"message": f"litellm.BadRequestError: AnthropicException - {json.dumps(ANTHROPIC)}", "type": None}},
    "vertex": {"error": {"code": 400, "message": json.dumps(ANTHROPIC), "status": "INVALID_ARGUMENT"}},
    "azure": {"error": {"code": "BadRequest", "message": "no", "innererror": {"message": "Invalid signature in reasoning item"}}},
    "bedrock": {
        "message": "The model returned the following errors: messages.1.content.0: Invalid `signature` in `thinking` block"
    },
    "fastapi": {"detail": [{"msg": "Invalid signature in thinking block"}]},
    "deepseek": {"error": {"message": "The `reasoning_content` in the thinking mode must be passed back to the API."}},
}


@pytest.mark.parametrize("name", list(SIGNATURES))
def test_refused_reasoning_is_found_in_every_vendors_shape(name: str) -> None:
    fault = status_fault(400, {}, json.dumps(SIGNATURES[name]).encode())
    assert fault.code == "signature"
    assert fault.detail


WORDS: list[tuple[int, str, FaultCode]] = [
    (400, "Unsupported value: 'reasoning_effort' does not support 'high' with this model.", "effort"),
    (400, "Unknown parameter: 'reasoning.effort'.", "effort"),
    (400, "output_config.effort: This model does not support the effort parameter.", "effort"),
    (400, "Budget 0 is invalid. This model only works in thinking mode.", "effort"),
    (400, "adaptive thinking is not supported on this model", "effort"),
    (400, "Conversation roles must alternate user/assistant/user/assistant/...", "role_order"),
    (400, "This model does not support assistant message prefill. The conversation must end with a user message.", "role_order"),
    (400, "Please ensure that function call turn comes immediately after a user turn", "role_order"),
    (400, "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6000000 bytes", "image_rejected"),
    (400, "Could not process image", "image_rejected"),
    (400, "At least one of the image dimensions exceed max allowed size: 8000 pixels", "image_rejected"),
    (500, "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj", "image_rejected"),
    (401, "This organization has been disabled.", "auth_permanent"),
    (403, "The API key was revoked", "auth_permanent"),
    (403, "You are not allowed to use this model", "auth"),
    (403, "Generative Language API has not been used in project 1 before or it is disabled.", "auth"),
    (429, "Rate limit reached for requests per min (RPM): Limit 3, Used 3.", "rate_limit"),
    (429, "Rate limit reached for requests per day (RPD): Limit 200, Used 200.", "quota"),
    (429, "You have reached your weekly usage limit.", "quota"),
    (429, "Your subscription plan's usage limit is reached", "quota"),
    (429, "Daily limit reached, or too many requests per minute", "rate_limit"),
    (429, "monthly limit reached. Please try again in 20s", "rate_limit"),
    (402, "monthly usage limit reached", "quota"),
    (402, "Payment required", "billing"),
    (400, "tools.0.custom.input_schema: JSON schema is invalid", "bad_request"),
    (400, "`temperature` may only be set to 1", "bad_request"),
]


@pytest.mark.parametrize(("status", "words", "code"), WORDS)
def test_words_decide_where_no_field_does(status: int, words: str, code: FaultCode) -> None:
    assert status_fault(status, {}, json.dumps({"error": {"message": words}}).encode()).code == code


def test_a_limit_by_the_day_is_told_by_its_field_whatever_it_says_to_wait() -> None:
    details = [
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": "GenerateRequestsPerDayPerModel"}]},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "12s"},
    ]
    body = json.dumps({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "Quota exceeded", "details": details}})
    assert status_fault(429, {}, body.encode()).code == "quota"
    minute = body.replace("PerDay", "PerMinute").encode()
    assert (status_fault(429, {}, minute).code, status_fault(429, {}, minute).retry_after) == ("rate_limit", 12.0)


def test_what_a_vendor_repeats_of_the_request_is_never_looked_at() -> None:
    said = "prompt is too long: 210000 tokens > 200000 maximum. Invalid signature in thinking block."
    body = {
        "detail": [{"msg": "field required", "input": {"messages": [{"role": "user", "content": said}]}, "ctx": {"text": said}}]
    }
    assert status_fault(422, {}, json.dumps(body).encode()).code == "bad_request"


def test_an_empty_bad_request_is_nothing_in_particular() -> None:
    assert status_fault(400, {}, b"") == Fault("bad_request", "", 400)


ERRORS: dict[Dialect, Any] = {
    "openai": {"error": {"message": "busy", "type": "server_error", "code": 503}},
    "openai-responses": {"error": {"message": "busy", "type": "server_error"}},
    "anthropic": {"type": "error", "error": {"type": "api_error", "message": "busy"}},
    "google": {"error": {"code": 500, "status": "INTERNAL", "message": "busy"}},
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("way", ["body", "event", "list"])
def test_an_answer_with_status_200_that_carries_an_error_is_that_error(dialect: Dialect, way: str) -> None:
    value = ERRORS[dialect]
    kind = "text/event-stream" if way == "event" else "application/json"
    value = [value] if way == "list" else value
    named = ("error", value) if dialect == "anthropic" and way == "event" else value
    raw = sse(named) if way == "event" else json.dumps(value).encode()

    async def main() -> Failed:
        async with serving(Reply([raw], headers=(f"content-type: {kind}",))) as wire:
            provider = open_provider(Endpoint(dialect, "m", wire.url, "key"))
            last = (await ask(provider, REQUEST))[-1]
            await provider.close()
            assert isinstance(last, Failed)
            return last

    fault = asyncio.run(main()).fault
    assert (fault.code, fault.detail) == ("server_error", "busy")


def test_an_error_in_a_stream_is_searched_like_one_with_a_status() -> None:
    assert error_fault(SIGNATURES["openrouter"]).code == "signature"
    assert error_fault({"error": {"message": "Unsupported value: 'reasoning_effort'"}}).code == "effort"
