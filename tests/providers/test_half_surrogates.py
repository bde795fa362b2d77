from ferrule.providers.assemble import Assembler
from ferrule.types.json import loads
from ferrule.types.messages import Reasoning, Text, ToolCall
from ferrule.types.stream import Noted, PartDelta, fold

WAVE = "\N{WAVING HAND SIGN}"
HALVES = (rb'"hi \ud83d"', rb'"\udc4b!"')


def decoded(raw: bytes) -> str:
    value, _ = loads(raw)
    assert isinstance(value, str)
    return value


def test_halves_of_an_emoji_in_two_deltas_become_the_emoji():
    assembler = Assembler("openai", "m")
    for half in HALVES:
        assembler.add("text", decoded(half))
    assembler.finish()
    events = assembler.take()

    assert fold(events) == assembler.parts() == (Text(f"hi {WAVE}!"),)
    assert not [event for event in events if isinstance(event, Noted)]
    for event in events:
        if isinstance(event, PartDelta):
            event.text.encode()


def test_halves_meet_in_their_own_part_while_another_part_grows():
    assembler = Assembler("openai", "m")
    assembler.call(index=0, id="a", name="f", arguments=decoded(HALVES[0]))
    assembler.call(index=1, id="b", name="g", arguments="{}")
    assembler.call(index=0, arguments=decoded(HALVES[1]))
    assembler.finish()

    assert assembler.parts() == (ToolCall("a", "f", f"hi {WAVE}!"), ToolCall("b", "g", "{}"))
    assert fold(assembler.take()) == assembler.parts()


def test_a_half_that_stays_alone_is_replaced_and_reported():
    assembler = Assembler("openai", "m")
    assembler.add("reasoning", decoded(rb'"x \ud83d"'))
    assembler.add("text", decoded(rb'"\udc4b y"'))
    assembler.finish()
    events = assembler.take()

    assert fold(events) == assembler.parts() == (Reasoning("x \ufffd"), Text("\ufffd y"))
    assert len([event for event in events if isinstance(event, Noted)]) == 2
