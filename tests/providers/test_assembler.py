import subprocess
import sys
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrule.providers.assemble import Assembler
from ferrule.types.fault import Fault
from ferrule.types.messages import Assistant, Text, ToolCall
from ferrule.types.stream import Done, Failed, fold
from ferrule.types.usage import NOTHING, Price, Usage

WILD = st.text(st.sampled_from(["a", "é", "\U0001f44b", "\ud83d", "\udc4b", "\ufffd"]), max_size=4)
KEYS = st.none() | st.integers(0, 2)
IDS = st.sampled_from(["", "a", "b", "c"])
OPERATIONS = st.one_of(
    st.tuples(st.just("add"), st.sampled_from(["text", "reasoning", "call"]), WILD, KEYS),
    st.tuples(st.just("begin"), st.sampled_from(["text", "reasoning", "call"]), KEYS, IDS, WILD),
    st.tuples(st.just("named"), KEYS, IDS, WILD),
    st.tuples(st.just("call"), KEYS, IDS, WILD, WILD),
    st.tuples(st.just("keep"), st.just({"x": 1}), KEYS),
    st.tuples(st.just("close"), KEYS),
    st.tuples(st.just("bind"), st.just("reasoning"), st.integers(0, 2)),
)


@given(st.lists(OPERATIONS, max_size=25), st.booleans())
def test_the_events_spell_the_message_whatever_is_done(operations: list[tuple], ends_well: bool):
    assembler = Assembler("openai", "m")
    events = []
    for name, *arguments in operations:
        if name == "call":
            index, id, called, text = arguments
            assembler.call(index=index, id=id, name=called, arguments=text)
        else:
            getattr(assembler, name)(*arguments)
        events += assembler.take()
    events += assembler.done("end") if ends_well else assembler.failed(Fault("cut"))
    last = events[-1]
    assert isinstance(last, Done | Failed)
    parts = last.message.parts if isinstance(last, Done) else last.partial
    assert fold(events) == parts
    assert sum(isinstance(event, Done | Failed) for event in events) == 1
    for part in parts:
        str(part).encode()


@given(st.text(max_size=30), st.lists(st.integers(0, 60), max_size=8))
def test_a_text_cut_anywhere_even_inside_a_character_is_the_text(text: str, cuts: list[int]):
    units = text.encode("utf-16-le")
    edges = sorted({0, len(units), *(cut * 2 for cut in cuts if cut * 2 < len(units))})
    assembler = Assembler("openai", "m")
    for start, end in pairwise(edges):
        assembler.add("text", units[start:end].decode("utf-16-le", "surrogatepass"))
    assembler.finish()
    assert "".join(part.text for part in assembler.parts() if isinstance(part, Text)) == text


def test_a_different_name_after_arguments_begins_a_new_call():
    assembler = Assembler("openai", "m")
    for name, arguments in (("f", '{"a":1}'), ("f", ""), ("g", "{}")):
        assembler.call(index=0, name=name, arguments=arguments)
    assert assembler.parts() == (ToolCall("", "f", '{"a":1}'), ToolCall("", "g", "{}"))


def test_parts_of_one_key_do_not_mix_kinds():
    assembler = Assembler("openai", "m")
    assembler.add("text", "a", 0)
    assembler.add("call", "{}", 0)
    assembler.add("text", "b", 0)
    assert assembler.parts() == (Text("a"), ToolCall("", "", "{}"), Text("b"))


@pytest.mark.parametrize(
    ("price", "usage", "cost"),
    [(None, Usage(1, 1), None), (Price(1, 1), None, None), (Price(1, 1), Usage(500_000, 500_000), 1.0)],
)
def test_the_cost_is_known_only_with_price_and_usage(price: Price | None, usage: Usage | None, cost: float | None):
    assembler = Assembler("openai", "m", price)
    assembler.usage = usage
    *_, last = assembler.done("end")
    assert isinstance(last, Done)
    assert last.usage.cost == cost
    assert last.message == Assistant((), "end", "openai/m")


def test_a_failure_has_no_cost_unless_it_is_known_to_be_nothing():
    assembler = Assembler("openai", "m", Price(1, 1))
    assembler.usage = Usage(5, 5)
    assert assembler.failed(Fault("cut")) == [Failed(Fault("cut"), (), Usage(5, 5))]
    assert assembler.failed(Fault("connection"), NOTHING) == [Failed(Fault("connection"), (), NOTHING)]


def test_arguments_in_tiny_deltas_take_linear_time():
    def seconds(count: int) -> float:
        assembler = Assembler("openai", "m")
        started = time.process_time()
        for _ in range(count):
            assembler.call(index=0, id="a", name="f", arguments="x" * 24)
            assembler.take()
        assert len(assembler.parts()[0].arguments) == 24 * count  # type: ignore[union-attr]
        return time.process_time() - started

    seconds(1000)
    assert seconds(40_000) < 40 * max(seconds(4_000), 0.004)


@pytest.mark.parametrize("module", ["openai", "openai_responses", "anthropic", "google", "catalog", "open"])
def test_importing_a_dialect_imports_nothing_heavy(module: str):
    program = f"import sys, ferrule.providers.{module}\nprint([name for name in {HEAVY!r} if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


HEAVY = (
    "httpx2",
    "httpcore2",
    "json",
    "openai",
    "anthropic",
    "google.genai",
    "difflib",
    "email",
    "importlib.resources",
)
