import base64
import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ferrule.attempt.filters.catalog import FILTERS
from ferrule.context.pairing import is_synthetic
from ferrule.providers.base import Endpoint, IdStyle, Profile
from ferrule.stream.chain import Chain
from ferrule.stream.filter import Sending
from ferrule.stream.outbound.check import GOES_ON, Check
from ferrule.stream.outbound.ids import FITS, Ids
from ferrule.types.messages import (
    Assistant,
    Image,
    Message,
    Opaque,
    RawCall,
    Reasoning,
    Results,
    Text,
    ToolCall,
    ToolResult,
    User,
)
from ferrule.types.request import Request
from ferrule.types.stream import Done, PartBegan, PartDelta
from tests.context.test_pairing import MESSAGE
from tests.judge.case import GIF, PNG

from .playing import PLAIN, at

GO = User((Text("go"),))
SIGNED = Opaque("openai", "m", '{"signature":"abc"}')
FOREIGN = Opaque("google", "g", '{"signature":"xyz"}')


def sent(
    messages: list[Message], endpoint: Endpoint = PLAIN, sending: Sending | None = None
) -> tuple[tuple[Message, ...], list[str]]:
    made, reports = Chain(FILTERS, endpoint).messages(messages, sending or Sending())
    return made, [f"{report.by}: {line}" for report in reports for line in report.what]


def call(id: str = "call_00001", **more: object) -> ToolCall:
    return replace(ToolCall(id, "read_file", '{"path":"a"}', RawCall("x", "read_file", '{"path":"a"}')), **more)


def thinks(*calls: ToolCall, opaque: Opaque | None = SIGNED) -> Assistant:
    return Assistant((Reasoning("Hm.", opaque), Text("I look."), *calls), "calls", "openai/m")


def answers(*ids: str, name: str = "read_file") -> Results:
    return Results(tuple(ToolResult(id, name, "ok", (Text(f"of {id}"),)) for id in ids))


def test_signed_reasoning_goes_back_byte_for_byte_as_the_same_object() -> None:
    history = [GO, thinks(call()), answers("call_00001"), GO]
    made, lines = sent(history)
    assert (made, lines) == (tuple(history), [])
    assert made[1] is history[1]


@pytest.mark.parametrize(
    "changed",
    [
        call(problem="not valid JSON", arguments="{}"),
        call(arguments='{"path":"b"}'),
        call(name="read_file", raw=RawCall("x", "Read_File", '{"path":"a"}')),
        call(promoted=True, raw=None),
    ],
)
def test_signed_reasoning_beside_a_call_that_was_changed_goes_whole_and_it_is_told(changed: ToolCall) -> None:
    answer = thinks(replace(changed, opaque=SIGNED), call("call_00002", opaque=SIGNED))
    made, lines = sent([GO, answer, answers("call_00001", "call_00002")])
    assert made[1] == Assistant((Text("I look."), changed, call("call_00002")), "calls", "openai/m")
    assert lines == ["reasoning: the signed reasoning before call_00001 was left out: not all of it is what the model wrote"]


def test_no_arguments_written_as_nothing_are_no_change() -> None:
    answer = thinks(call(arguments="{}", raw=RawCall("x", "read_file", "")))
    assert sent([GO, answer, answers("call_00001")])[0][1] is answer


def test_another_models_reasoning_goes_with_the_provider_data_of_its_calls() -> None:
    answer = thinks(call(opaque=FOREIGN), opaque=FOREIGN)
    made, _ = sent([GO, answer, answers("call_00001")])
    assert made[1] == Assistant((Reasoning("Hm."), Text("I look."), call()), "calls", "openai/m")


def test_after_a_refused_signature_nothing_signed_before_goes_back_and_what_comes_later_does() -> None:
    old, new = thinks(call(opaque=SIGNED)), thinks(call("call_00002", opaque=SIGNED))
    history = [GO, old, answers("call_00001"), new, answers("call_00002")]
    made, _ = sent(history, sending=Sending(unsigned=3))
    assert made[1] == Assistant((Text("I look."), call()), "calls", "openai/m")
    assert made[3] is new


@pytest.mark.parametrize(("back", "kept"), [("own", [True, True]), ("turn", [False, True]), ("never", [False, False])])
def test_how_far_reasoning_goes_back_is_the_profiles_word(back: str, kept: list[bool]) -> None:
    history: list[Message] = [GO]
    chain = Chain(FILTERS, at(Profile(reasoning_back=back)))  # type: ignore[arg-type]
    for id in ("call_00001", "call_00002"):
        history += [thinks(call(id)), answers(id)]
        made, _ = chain.messages(history, Sending())
        history.append(User((Text("and"),)))
    assert [any(isinstance(part, Reasoning) for part in made[at].parts) for at in (1, 4)] == kept
    assert made == sent(history[:-1], at(Profile(reasoning_back=back)))[0]  # type: ignore[arg-type]


def test_a_call_that_could_not_run_goes_back_with_its_result_in_a_form_that_all_take() -> None:
    broken = ToolCall("c1", "read file!", '{"path": ', problem="not valid JSON")
    made, lines = sent([GO, Assistant((broken,), "calls", "openai/m"), answers("c1", name="read file!"), GO])
    (again,) = made[1].calls  # type: ignore[union-attr]
    assert (again.name, again.arguments, made[2].parts[0].name) == ("read_file", "{}", "read_file")  # type: ignore[union-attr]
    assert len(lines) == 3


STYLES: tuple[IdStyle, ...] = ("ours", "strict", "strict9", "native")


def renamed(style: IdStyle, messages: list[Message]) -> tuple[Message, ...]:
    made, _ = Ids(style, PLAIN).more(tuple(messages), Sending())
    return tuple(made)


@pytest.mark.parametrize("style", STYLES)
def test_ten_thousand_ids_stay_apart_and_fit_whatever_they_were(style: IdStyle) -> None:
    written = [f"call_{number:05d}" for number in range(99_900, 101_900)] + [
        f"functions.read:{number}" for number in range(4_000)
    ]
    written += ["same"] * 2_000 + [f"{number:x}-{'long' * 30}" for number in range(2_000)]
    history: list[Message] = []
    for id in written:
        history += [Assistant((call(id, raw=RawCall(id, "read_file", "{}")),), "calls", "openai/m"), answers(id)]
    made = renamed(style, history)
    ids = [message.calls[0].id for message in made if isinstance(message, Assistant)]
    assert len(set(ids)) == len(ids) == 10_000
    assert [id for id in ids if not FITS[style].fullmatch(id)] == []
    assert ids == [message.parts[0].call_id for message in made if isinstance(message, Results)]
    assert made == renamed(style, history)


def test_an_id_that_comes_again_is_answered_first_in_first_out() -> None:
    twice = Assistant((call("a"), call("a")), "calls", "openai/m")
    told = Results((ToolResult("a", "read_file", "ok", (Text("1"),)), ToolResult("a", "read_file", "ok", (Text("2"),))))
    made, _ = sent([GO, twice, told, Assistant((call("a"),), "calls", "openai/m"), answers("a")])
    ids = [part.id for message in made if isinstance(message, Assistant) for part in message.calls]
    assert len({*ids}) == 3
    assert [(part.call_id, part.text) for message in made if isinstance(message, Results) for part in message.parts] == [
        (ids[0], "1"),
        (ids[1], "2"),
        (ids[2], "of a"),
    ]


def test_a_providers_own_ids_go_back_to_the_model_that_made_them_alone() -> None:
    own = Assistant((call(raw=RawCall("functions.read:0", "read_file", "{}")),), "calls", "openai/m")
    others = Assistant((call("call_00002", raw=RawCall("toolu_1", "read_file", "{}")),), "calls", "anthropic/c")
    again = replace(own, parts=(call("call_00003", raw=RawCall("functions.read:0", "read_file", "{}")),))
    made = renamed("native", [own, answers("call_00001"), others, answers("call_00002"), again, answers("call_00003")])
    ids = [message.calls[0].id for message in made if isinstance(message, Assistant)]
    assert ids == ["functions.read:0", "call_00002", "call_00003"]


def test_ids_are_spelled_after_the_request_was_measured_by_ours() -> None:
    chain = Chain(FILTERS, at(Profile(ids="strict9")))
    messages, _ = chain.messages([GO, Assistant((call(),), "calls", "openai/m"), answers("call_00001")], Sending())
    assert messages[2].parts[0].call_id == "call_00001"  # type: ignore[union-attr]
    wire, reports = chain.sent(Request((), messages))
    assert ([part.call_id for part in wire.messages[2].parts], reports) == (["call00001"], ())  # type: ignore[union-attr]


HUGE = base64.b64encode(
    b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + (9000).to_bytes(4, "big") + (10).to_bytes(4, "big") + b"\0" * 9
).decode()


@pytest.mark.parametrize(
    ("image", "said"),
    [
        (Image("image/png", "   "), "is empty"),
        (Image("image/png", "not base64!"), "is not base64"),
        (Image("image/png", base64.b64encode(b"plain text").decode()), "is broken"),
        (Image("image/png", PNG[:24] + "A" * 5_000_000), "bytes encoded, more than 5,000,000"),
        (Image("image/png", HUGE), "has 9000 × 10 pixels, more than 8000 on a side"),
    ],
)
def test_an_image_that_would_be_refused_gives_way_to_a_note(image: Image, said: str) -> None:
    made, lines = sent([User((Text("see"), image)), Assistant((call(),), "calls", "openai/m"), shown(image)])
    for message in (made[0].parts, made[2].parts[0].parts):  # type: ignore[union-attr]
        assert [type(part) for part in message] == [Text] * len(message)
        assert said in message[-1].text  # type: ignore[union-attr]
    assert len(lines) == 2


def shown(*images: Image) -> Results:
    return Results((ToolResult("call_00001", "read_file", "ok", images),))


def test_an_image_under_a_wrong_name_is_sent_under_its_own() -> None:
    made, lines = sent([User((Image("image/png", GIF),))])
    assert (made[0].parts, len(lines)) == ((Image("image/gif", GIF),), 1)


def test_of_too_many_images_the_oldest_give_way_half_the_limit_at_a_time() -> None:
    picture = Image("image/png", PNG)
    chain, history, left = Chain(FILTERS, at(Profile(image_count=6))), [], []
    for number in range(14):
        history.append(User((Text(str(number)), picture)))
        made, _ = chain.messages(history, Sending())
        left.append(sum(isinstance(part, Image) for message in made for part in message.parts))
        assert made == sent(history, at(Profile(image_count=6)))[0]
    assert left == [1, 2, 3, 4, 5, 6, 4, 5, 6, 4, 5, 6, 4, 5]


@pytest.mark.parametrize(
    ("history", "checked"),
    [
        ([Assistant((Text("hi"),), "end", "m/m")], [GOES_ON, Assistant((Text("hi"),), "end", "m/m"), GOES_ON]),
        (
            [GO, Assistant((call(),), "calls", "m/m"), GO],
            [GO, Assistant((Text('[Called read_file with {"path":"a"}]'),), "end", "m/m"), GO],
        ),
        (
            [GO, Assistant((call(),), "calls", "m/m"), answers("other")],
            [
                GO,
                Assistant((Text('[Called read_file with {"path":"a"}]'),), "end", "m/m"),
                User((Text("[Result of read_file, ok]"), Text("of other"))),
            ],
        ),
        ([GO, answers("x")], [GO, User((Text("[Result of read_file, ok]"), Text("of x")))]),
        ([], [GOES_ON]),
    ],
)
def test_what_no_filter_could_mend_is_said_as_text_and_told(history: list[Message], checked: list[Message]) -> None:
    made = Check().more(tuple(history), Sending())
    assert made is not None
    assert list(made[0]) == checked
    assert len(made[1]) >= 1


@given(st.lists(MESSAGE, max_size=10))
@settings(max_examples=100)
def test_the_check_finds_nothing_to_do_behind_the_other_filters_but_to_let_somebody_else_speak_last(
    history: list[Message],
) -> None:
    others = tuple(each for each in FILTERS if each.name not in ("check", "call-ids"))
    made, _ = Chain(others, PLAIN).messages(history, Sending())
    checked = Check().more(made, Sending())
    assert checked is not None
    assert [line for line in checked[1] if "first" not in line and "last" not in line] == []


@given(st.lists(MESSAGE, max_size=10))
@settings(max_examples=100)
def test_what_was_made_is_not_made_again_and_the_same_comes_of_the_same(history: list[Message]) -> None:
    once, lines = sent(history)
    assert sent(history) == (once, lines)
    assert sent(list(once)) == (once, [])


def test_every_difference_between_a_conversation_and_its_view_is_told_and_nothing_else() -> None:
    history = [
        GO,
        Assistant((call("a"), call("a")), "calls", "openai/m"),
        answers("x"),
        User((Image("image/png", ""), Text("so"))),
    ]
    made, lines = sent(history)
    assert lines == [
        "images: an image was left out: it is empty",
        "pairing: added a result for call a",
        "pairing: added a result for call a",
        "pairing: dropped 1 result(s) without a call",
        "unique-ids: the call id 'a' is sent as 'b0e8de8d4': it was used before, or no provider takes it",
    ]
    assert [type(message) for message in made] == [User, Assistant, Results, User]


@given(st.lists(MESSAGE, max_size=12))
@settings(max_examples=200)
def test_the_first_real_result_of_each_call_is_sent_with_it_and_each_call_has_one(history: list[Message]) -> None:
    apart = told_apart(history)
    made, _ = sent(apart)
    kept = {part.call_id: part for message in made if isinstance(message, Results) for part in message.parts}
    calls = [part.id for message in made if isinstance(message, Assistant) for part in message.calls]
    assert list(kept) == calls
    real: dict[str, ToolResult] = {}
    for message in apart:
        for part in message.parts if isinstance(message, Results) else ():
            if not is_synthetic(part):
                real.setdefault(part.call_id, part)
    for id in calls:
        assert is_synthetic(kept[id]) if id not in real else kept[id].kind == real[id].kind
        if id in real and real[id].text.strip():
            assert kept[id].text == "\n".join(
                part.text for part in real[id].parts if isinstance(part, Text) and part.text.strip()
            )


def told_apart(history: list[Message]) -> list[Message]:
    """With an id of its own for each call; a result goes by that of the last call before it that had its id."""
    latest: dict[str, str] = {}
    apart: list[Message] = []
    for place, message in enumerate(history):
        if isinstance(message, Assistant):
            parts = [
                replace(part, id=f"own-{place}-{n}") if isinstance(part, ToolCall) else part
                for n, part in enumerate(message.parts)
            ]
            latest |= {old.id: new.id for old, new in zip(message.parts, parts, strict=True) if isinstance(new, ToolCall)}  # type: ignore[union-attr]
            message = replace(message, parts=tuple(parts))
        elif isinstance(message, Results):
            results = (replace(part, call_id=latest.get(part.call_id, "nobody")) for part in message.parts)
            message = replace(message, parts=tuple(results))
        apart.append(message)
    return apart


def test_nothing_that_goes_through_the_filters_can_be_changed() -> None:
    values = (User, Assistant, Results, ToolCall, ToolResult, Text, Image, Reasoning, Opaque, Request, PartBegan, PartDelta, Done)
    assert [value for value in values if not value.__struct_config__.frozen] == []
    history = (GO, thinks(call(problem="no"), opaque=FOREIGN), answers("other"), User((Image("image/png", ""), Text("so"))))
    before = copy.deepcopy(history)
    sent(list(history), at(Profile(ids="strict9", reasoning_back="never")))
    assert history == before
