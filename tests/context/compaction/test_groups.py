from hypothesis import given, settings
from hypothesis import strategies as st

from ferrule.context.compaction.groups import Boundary, boundary, groups
from ferrule.types.messages import Assistant, Message, Results, Text, ToolCall, ToolResult, User


def user(text: str = "go") -> User:
    return User((Text(text),))


def says(text: str = "hm") -> Assistant:
    return Assistant((Text(text),), "end", "openai/m")


def turn(id: str, count: int = 1, size: int = 10) -> tuple[Message, Message]:
    ids = [f"{id}.{number}" for number in range(count)]
    asked = Assistant(tuple(ToolCall(one, "read_file", "{}") for one in ids), "calls", "openai/m")
    return asked, Results(tuple(ToolResult(one, "read_file", "ok", (Text("x" * size),)) for one in ids))


def tokens(message: Message) -> int:
    return 5 + sum(len(part.text) for part in message.parts if not isinstance(part, ToolCall))


@st.composite
def conversations(draw: st.DrawFn) -> tuple[tuple[Message, ...], frozenset[int]]:
    messages: list[Message] = [user()]
    person = {0}
    for number, kind in enumerate(draw(st.lists(st.sampled_from(["turn", "parallel", "words", "person", "note"]), max_size=25))):
        match kind:
            case "turn" | "parallel":
                messages += turn(f"c{number}", 1 if kind == "turn" else 3, draw(st.integers(0, 300)))
            case "words":
                messages.append(says())
            case _:
                person |= {len(messages)} if kind == "person" else set()
                messages.append(user())
    return tuple(messages), frozenset(person)


@given(conversations())
def test_groups_cover_everything_once_and_keep_results_with_their_calls(conversation):
    messages, _ = conversation
    found = groups(messages)
    assert [at for group in found for at in range(group.start, group.end)] == list(range(len(messages)))
    assert not any(isinstance(messages[group.start], Results) for group in found)
    for group in found:
        inside = messages[group.start : group.end]
        made = [call.id for message in inside if isinstance(message, Assistant) for call in message.calls]
        assert made == [part.call_id for message in inside if isinstance(message, Results) for part in message.parts]


@settings(max_examples=200)
@given(conversations(), st.integers(0, 3_000), st.integers(0, 20))
def test_a_cut_is_never_at_a_result_and_keeps_at_least_what_was_asked(conversation, keep, skipped):
    messages, person = conversation
    starts = [group.start for group in groups(messages)]
    begin = starts[min(skipped, len(starts) - 1)]
    found = boundary(messages, begin, keep, tokens, person)
    assert found == boundary(messages, begin, keep, tokens, person)
    if found is None:
        return
    cut, turn_start = found
    assert begin < cut < len(messages)
    assert cut in starts
    assert not isinstance(messages[cut], Results)
    assert any(isinstance(message, Assistant) for message in messages[begin:cut])
    kept = sum(map(tokens, messages[cut:]))
    assert kept >= keep or cut == starts[starts.index(begin) + 1]
    assert turn_start == cut or (turn_start in person and begin < turn_start < cut)


@given(conversations(), st.integers(0, 2_000), st.integers(0, 2_000))
def test_keeping_more_cuts_earlier(conversation, one, other):
    messages, person = conversation
    less, more = (boundary(messages, 0, keep, tokens, person) for keep in sorted((one, other)))
    if less is not None and more is not None:
        assert more.cut <= less.cut


def test_a_second_cut_is_made_in_what_the_first_left():
    messages = (user(), *turn("a"), *turn("b"), *turn("c"), *turn("d"))
    assert boundary(messages, 3, 1, tokens, {0}) == Boundary(7, 7)
    assert boundary(messages, 7, 1, tokens, {0}) is None


def test_a_cut_inside_a_turn_names_where_the_turn_began_if_another_stands_before_it():
    one = (user(), *turn("a"), *turn("b"), *turn("c"))
    two = (user(), *turn("a"), user("then"), *turn("b"), *turn("c"))
    assert boundary(one, 0, 1, tokens, {0}) == Boundary(5, 5)
    assert boundary(two, 0, 1, tokens, {0, 3}) == Boundary(6, 3)
    assert boundary(two, 0, 30, tokens, {0, 3}) == Boundary(4, 4)


def test_three_parallel_calls_are_summarised_with_all_their_results():
    messages = (user(), *turn("a", 3, 400), *turn("b"))
    assert groups(messages)[1] == (1, 3)
    assert boundary(messages, 0, 1, tokens, {0}) == Boundary(3, 3)
