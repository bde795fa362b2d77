import asyncio
import gzip
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferrule.providers.base import Endpoint
from ferrule.providers.open import open_provider
from ferrule.types.messages import AssistantPart, Reasoning, Text, ToolCall, User
from ferrule.types.request import Request
from ferrule.types.stream import Done, Failed, StreamEvent, fold
from tests.providers.provider_wire import Ending, Reply, ask, serving
from tests.providers.recorded import ALL, Recorded

REQUEST = Request((), (User((Text("go"),)),))
BY_DIALECT = pytest.mark.parametrize("recorded", ALL, ids=[recorded.dialect for recorded in ALL])


async def answers(recorded: Recorded, *replies: Reply) -> list[list[StreamEvent]]:
    async with serving(*replies) as wire:
        provider = open_provider(Endpoint(recorded.dialect, "m", wire.url))
        found = [await ask(provider, REQUEST) for _ in replies]
        await provider.close()
        return found


def spelled(part: AssistantPart) -> str:
    return part.arguments if isinstance(part, ToolCall) else part.text.removesuffix("\ufffd")


def begins(partial: tuple[AssistantPart, ...], whole: tuple[AssistantPart, ...]) -> bool:
    return len(partial) <= len(whole) and all(
        type(one) is type(other) and spelled(other).startswith(spelled(one)) for one, other in zip(partial, whole, strict=False)
    )


@BY_DIALECT
def test_the_whole_answer(recorded: Recorded):
    (events,) = asyncio.run(answers(recorded, Reply([recorded.raw])))
    assert events[-1] == Done(recorded.message, recorded.usage)
    assert fold(events) == recorded.parts
    assert [part for part in recorded.parts if isinstance(part, Reasoning)]


@pytest.mark.parametrize("ending", ["clean", "reset"])
@BY_DIALECT
def test_a_stream_cut_at_every_byte_ends_once_and_honestly(recorded: Recorded, ending: Ending):
    cuts = range(len(recorded.raw))
    replies = [Reply([recorded.raw[:cut]], ending=ending) for cut in cuts]
    certain = recorded.raw.index(recorded.certain) + len(recorded.certain)
    for cut, events in zip(cuts, asyncio.run(answers(recorded, *replies)), strict=True):
        last = events[-1]
        if isinstance(last, Done):
            assert cut >= certain if ending == "clean" else recorded.marked, cut
            assert fold(events) == last.message.parts == recorded.parts
        else:
            assert isinstance(last, Failed)
            assert cut < certain or ending == "reset", cut
            assert last.fault.code in ("cut", "connection"), cut
            assert fold(events) == last.partial
            assert begins(last.partial, recorded.parts), cut


@BY_DIALECT
def test_a_compressed_stream_is_the_same_stream(recorded: Recorded):
    packed = gzip.compress(recorded.raw)
    headers = ("content-type: text/event-stream", "content-encoding: gzip")
    (events,) = asyncio.run(answers(recorded, Reply([packed[:50], packed[50:]], headers=headers)))
    assert events[-1] == Done(recorded.message, recorded.usage)


FRAMINGS = {
    "crlf": lambda raw: raw.replace(b"\n", b"\r\n"),
    "cr": lambda raw: raw.replace(b"\n", b"\r"),
    "no space": lambda raw: raw.replace(b"data: ", b"data:"),
    "comments": lambda raw: raw.replace(b"\n\n", b"\n: keep-alive\n\n: \n\n"),
    "byte order mark": lambda raw: b"\xef\xbb\xbf" + raw,
    "several data lines": lambda raw: raw.replace(b', "', b',\ndata: "'),
    "no last blank line": lambda raw: raw.rstrip(b"\n"),
    "no end mark": lambda raw: raw.replace(b"data: [DONE]\n\n", b""),
    "ids": lambda raw: raw.replace(b"data: ", b"id: 7\nretry: 3\ndata: "),
}


@pytest.mark.parametrize("framing", FRAMINGS.values(), ids=FRAMINGS.keys())
@BY_DIALECT
def test_every_framing_spells_the_same_answer(recorded: Recorded, framing):
    (events,) = asyncio.run(answers(recorded, Reply([framing(recorded.raw)])))
    assert events[-1] == Done(recorded.message, recorded.usage)


@settings(max_examples=25)
@given(cuts=st.lists(st.integers(0, 3000), max_size=40), framing=st.sampled_from(list(FRAMINGS.values())))
@BY_DIALECT
def test_every_chunking_spells_the_same_answer(recorded: Recorded, cuts: list[int], framing):
    raw = framing(recorded.raw)
    edges = sorted({0, len(raw), *(cut % len(raw) for cut in cuts)})
    chunks = [raw[start:end] for start, end in pairwise(edges)]
    (events,) = asyncio.run(answers(recorded, Reply(chunks)))
    assert events[-1] == Done(recorded.message, recorded.usage)
    assert fold(events) == recorded.parts
