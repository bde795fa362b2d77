import base64
import struct
import zlib
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferrule.context.estimate import Estimator
from ferrule.context.pictures import UNKNOWN, size, tokens
from ferrule.context.tokens import WHOLE, count
from ferrule.types.messages import Assistant, Image, Message, Opaque, Reasoning, Results, Text, ToolCall, ToolResult, User
from ferrule.types.request import Request, ToolSchema
from ferrule.types.usage import NOTHING, Usage

from .counting import KINDS, TOOL, report, session, thirds, tokenizers

TOKENIZERS = tokenizers()


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@pytest.mark.parametrize("kind", KINDS)
def test_after_two_turns_the_error_is_less_than_a_tenth(kind: str, tokenizer: str) -> None:
    first, second, third = session(thirds(kind))
    estimator = Estimator()
    for request in (first, second):
        estimator.observe(request, report(request, TOKENIZERS[tokenizer]))
    assert estimator.estimate(third) == pytest.approx(report(third, TOKENIZERS[tokenizer]).prompt, rel=0.1)


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@settings(max_examples=25)
@given(st.permutations([text for kind in KINDS for text in thirds(kind)]))
def test_from_the_third_request_on_no_mixture_is_estimated_worse_than_by_a_tenth(tokenizer: str, texts: list[str]) -> None:
    estimator = Estimator()
    for turn, request in enumerate(session(texts, system=(*thirds("prose"), *thirds("python")))):
        reported = report(request, TOKENIZERS[tokenizer])
        if turn >= 2:
            assert estimator.estimate(request) == pytest.approx(reported.prompt, rel=0.1)
        estimator.observe(request, reported)


@pytest.mark.parametrize("kind", KINDS)
def test_without_any_report_the_error_is_less_than_a_quarter_and_in_other_scripts_than_a_third(kind: str) -> None:
    request = session(thirds(kind))[-1]
    most = 1 / 3 if kind in ("chinese", "japanese", "korean", "russian") else 1 / 4
    for counting in TOKENIZERS.values():
        assert Estimator().estimate(request) == pytest.approx(report(request, counting).prompt, rel=most)


def test_what_was_reported_is_taken_as_exact() -> None:
    request = session(thirds("json"))[-1]
    estimator = Estimator()
    estimator.observe(request, Usage(input=1_000, cache_read=500, cache_write=17))
    assert estimator.calibrated
    assert estimator.estimate(request) == 1_517


def test_ratios_are_learned_for_each_kind_of_text() -> None:
    prose, chinese = thirds("prose"), thirds("chinese")
    requests = session([*prose, *chinese, "".join(prose), "".join(chinese)])
    estimator = Estimator()
    for request in requests[:6]:
        estimator.observe(request, Usage(input=with_cheap_chinese(request)))
    for before, after in pairwise(requests[5:]):
        grown = estimator.estimate(after) - estimator.estimate(before)
        assert grown == pytest.approx(with_cheap_chinese(after) - with_cheap_chinese(before), rel=0.15)


def with_cheap_chinese(request: Request) -> int:
    """As estimated, but other writing than ASCII takes half as many tokens."""
    results = [part for message in request.messages if isinstance(message, Results) for part in message.parts]
    return Estimator().estimate(request) - round(sum(count(result.text).wide for result in results) / 2)


@pytest.mark.parametrize("usage", [NOTHING, Usage(), Usage(input=10, output=5), Usage(input=1_000_000)])
def test_a_report_that_cannot_be_a_count_of_the_request_is_not_taken_in(usage: Usage) -> None:
    request = session(thirds("log"))[-1]
    estimator = Estimator()
    before = estimator.estimate(request)
    estimator.observe(request, usage)
    assert not estimator.calibrated
    assert estimator.estimate(request) == before


def test_a_request_that_has_shrunk_is_estimated_in_proportion() -> None:
    first, _, third = session(thirds("python"))
    estimator = Estimator()
    estimator.observe(third, Usage(input=2 * Estimator().estimate(third)))
    assert estimator.estimate(first) == pytest.approx(2 * Estimator().estimate(first), rel=0.02)


@pytest.mark.parametrize(
    ("more", "least"),
    [
        ({"system": ("Be brief and exact.",)}, 4),
        ({"tools": (ToolSchema("search", "Searches.", '{"type":"object"}'),)}, 15),
        ({"messages": (User((Image("image/png", "AAAA"),)),)}, 1_600),
        ({"messages": (Assistant((Reasoning("Let me think about it."),), "end", "m"),)}, 8),
        ({"messages": (Assistant((Reasoning("", Opaque("anthropic", "m", "x" * 600)),), "end", "m"),)}, 100),
        ({"messages": (Assistant((ToolCall("call_1", "search", '{"text": "needle"}'),), "calls", "m"),)}, 20),
        ({"messages": (Results((ToolResult("call_1", "search", "ok", (Text("found"), Image("image/png", "AAAA"))),)),)}, 1_600),
    ],
)
def test_everything_that_is_sent_counts(more: dict[str, tuple[object, ...]], least: int) -> None:
    base = Request((), (User((Text("go"),)),))
    fields = {name: getattr(base, name) + added for name, added in more.items()}
    grown = Request(**{"system": (), "messages": base.messages, **fields})
    assert least <= Estimator().estimate(grown) - Estimator().estimate(base) <= 2 * least


TEXTS = st.one_of(st.text(max_size=60), st.sampled_from([text for kind in KINDS for text in thirds(kind)]))
MESSAGES: st.SearchStrategy[Message] = st.one_of(
    TEXTS.map(lambda text: User((Text(text),))),
    TEXTS.map(lambda text: Assistant((Text(text), ToolCall("c", "read_file", "{}")), "calls", "m")),
    TEXTS.map(lambda text: Results((ToolResult("c", "read_file", "ok", (Text(text),)),))),
)


@given(st.lists(MESSAGES, max_size=8), st.integers(0, 8), st.floats(0.5, 2.5))
def test_a_request_that_grows_is_never_estimated_smaller(messages: list[Message], observed: int, factor: float) -> None:
    requests = [Request(("Help.",), tuple(messages[:end]), (TOOL,)) for end in range(len(messages) + 1)]
    estimator = Estimator()
    seen = requests[min(observed, len(messages))]
    estimator.observe(seen, Usage(input=int(Estimator().estimate(seen) * factor)))
    estimates = [estimator.estimate(request) for request in requests]
    assert estimates == sorted(estimates)
    assert estimates[0] > 0


def test_a_long_text_is_estimated_by_samples_of_it() -> None:
    text = "".join(thirds("python") + thirds("chinese") + thirds("log")) * 40
    assert len(text) > 2 * WHOLE
    pieces = [count(text[at : at + WHOLE]) for at in range(0, len(text), WHOLE)]
    assert count(text) == pytest.approx([sum(kind) for kind in zip(*pieces, strict=True)], rel=0.1)


def test_text_with_half_surrogates_is_counted() -> None:
    assert sum(count("a\ud800b")) > 0


def png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


def jpeg(width: int, height: int) -> bytes:
    def segment(mark: int, data: bytes) -> bytes:
        return struct.pack(">BBH", 0xFF, mark, len(data) + 2) + data

    frame = struct.pack(">BHHB", 8, height, width, 1) + b"\x01\x11\x00"
    return b"\xff\xd8" + segment(0xE0, b"JFIF\0" + b"\0" * 9) + segment(0xC4, b"\0" * 19) + segment(0xC2, frame) + b"\xff\xd9"


def webp(kind: bytes, data: bytes) -> bytes:
    return b"RIFF" + struct.pack("<I", len(data) + 12) + b"WEBP" + kind + struct.pack("<I", len(data)) + data


def extended(width: int, height: int) -> bytes:
    return webp(b"VP8X", b"\0" * 4 + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little"))


def lossless(width: int, height: int) -> bytes:
    return webp(b"VP8L", b"\x2f" + ((width - 1) | (height - 1) << 14).to_bytes(4, "little") + b"\0" * 8)


def lossy(width: int, height: int) -> bytes:
    return webp(b"VP8 ", b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", width, height) + b"\0" * 4)


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\0" * 3


@pytest.mark.parametrize("made", [png, jpeg, gif, extended, lossless, lossy])
def test_the_size_of_an_image_is_read_from_its_header(made: object) -> None:
    assert callable(made)
    data = made(640, 480)
    assert size(Image("image/any", base64.b64encode(data).decode())) == (640, 480)


@pytest.mark.parametrize(
    ("width", "height", "expected"), [(640, 480, 409), (16, 16, 85), (5_000, 5_000, 1_600), (3_136, 784, 819)]
)
def test_an_image_costs_by_its_size(width: int, height: int, expected: int) -> None:
    assert tokens(Image("image/png", base64.b64encode(png(width, height)).decode())) == expected


@pytest.mark.parametrize("data", [b"", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF0000WEBPVP8X", b"what else"])
def test_an_image_that_cannot_be_read_costs_the_most(data: bytes) -> None:
    assert tokens(Image("image/png", base64.b64encode(data).decode())) == UNKNOWN


def test_data_that_is_no_base64_costs_the_most() -> None:
    assert tokens(Image("image/png", "äöü!")) == UNKNOWN
