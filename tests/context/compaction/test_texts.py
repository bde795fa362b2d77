import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrule.context.compaction.groups import groups
from ferrule.context.compaction.handover import MOST_FILES, Facts, said_in, written
from ferrule.context.compaction.identifiers import MOST, identifiers, wanted
from ferrule.context.compaction.passages import CLIPS, clip, passages
from ferrule.context.compaction.prompts import HEADINGS, Ask, fenced, flaws, worded
from ferrule.context.compaction.sizes import chunks, sizes
from ferrule.types.messages import Assistant, Image, Opaque, Reasoning, Text, User

from .test_groups import conversations, says, turn, user


def counted(text: str) -> int:
    return len(text) // 4 + 1


def whole(text: str) -> str:
    return text


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("look at src/parser/lexer.py:12, then", ["src/parser/lexer.py"]),
        ("in ./build/out.txt and ~/notes/a and /etc/hosts.", ["./build/out.txt", "~/notes/a", "/etc/hosts"]),
        ("setup.py and README.md, e.g. this", ["setup.py", "README.md"]),
        ("see https://example.org/a?b=1#c).", ["https://example.org/a?b=1#c"]),
        ("commit 3f9c2ab fixed #123 and REQ-4711", ["3f9c2ab", "#123", "REQ-4711"]),
        ("id 6f1c2d3e-0a1b-4c2d-8e3f-001122334455", ["6f1c2d3e-0a1b-4c2d-8e3f-001122334455"]),
        ("order 88231947, call req_9f8a7b6c5d", ["88231947", "req_9f8a7b6c5d"]),
        ("feedback decade 1234 and 3.5 and/or", ["and/or"]),
    ],
)
def test_identifiers_are_found_as_they_are_spelled(text, found):
    assert list(identifiers(text)) == found


def test_looking_for_identifiers_takes_linear_time():
    def seconds(size):
        began = time.process_time()
        for text in ("a" * size, "a/" * (size // 2), "1a" * (size // 2), "a." * (size // 2), "a-" * (size // 2)):
            identifiers(text)
        return time.process_time() - began

    seconds(1_000)
    assert seconds(400_000) < 5 * max(seconds(100_000), 0.05)


def test_what_nobody_used_lately_is_not_wanted():
    listing = turn("a")
    noise = " ".join(f"dir/file{number}.py" for number in range(500))
    older = (
        user("fix dir/file7.py"),
        listing[0],
        says(f"{noise} abc1234"),
        *[says("x")] * 20,
        says("abc1234 broke dir/file9.py"),
    )
    assert set(wanted(older, (says("now dir/file8.py"),))) == {"dir/file7.py", "dir/file8.py", "dir/file9.py", "abc1234"}
    assert len(wanted((says(noise),), (says(noise),))) == MOST


@given(conversations(), st.sampled_from(CLIPS), st.integers(10, 400))
def test_chunks_hold_every_group_once_in_order_and_no_more_than_fits(conversation, clip_at, most):
    messages, person = conversation
    found = groups(messages)
    made = passages(messages, found, person, clip_at, whole, counted, most)
    cut = chunks(made, most)
    assert [passage.group for chunk in cut for passage in chunk] == list(found)
    assert all(len(chunk) == 1 or sum(passage.tokens for passage in chunk) <= most for chunk in cut)


@given(st.integers(2_000, 2_000_000), st.floats(0, 1), st.none() | st.integers(500, 200_000))
def test_a_request_for_a_summary_fits_its_window(window, mean, most):
    size = sizes(window, mean * window, most)
    assert size.oversized <= size.chunk
    assert size.chunk * 1.2 + size.answer + 3 * size.handover <= window
    assert size.chunk <= 0.4 * window
    assert most is None or size.answer <= most


def test_longer_messages_make_smaller_chunks():
    shares = [sizes(200_000, mean, None).chunk * 1.2 / 200_000 for mean in (100, 20_000, 30_000, 60_000)]
    assert [round(share, 2) for share in shares] == [0.4, 0.4, 0.3, 0.15]


def test_reasoning_pictures_and_opaque_data_stay_out():
    opaque = Opaque("openai", "m", "c2VjcmV0")
    answer = Assistant((Reasoning("I wonder", opaque), Text("Yes.", opaque)), "end", "openai/m")
    asked = User((Text("This?"), Image("image/png", "aGVsbG8=")))
    made = passages((asked, answer), groups((asked, answer)), {0}, 100, whole, counted, 1_000)
    assert [passage.text for passage in made] == ["[user]\nThis?\n(a picture)", "[assistant]\nYes."]


def test_a_note_of_the_program_is_not_the_users():
    messages = (user("Do it."), says(), user("You stopped."))
    made = passages(messages, groups(messages), {0}, 100, whole, counted, 1_000)
    assert [passage.text.splitlines()[0] for passage in made] == ["[user]", "[assistant]", "[note]"]


def test_a_long_text_keeps_both_ends():
    assert clip("a" * 90 + "b" * 90, 60) == "a" * 40 + "\n[… 120 characters left out …]\n" + "b" * 20


def test_a_secret_is_masked_before_a_text_is_clipped():
    messages = (user(), *turn("a", 1, 0))
    hidden = passages(messages, groups(messages), {0}, 4, lambda text: text.replace("{}", "[hidden]"), counted, 1_000)
    assert "{}" not in hidden[1].text


@given(st.text(alphabet="= thecovrsain\n", max_size=200))
def test_nothing_in_a_fence_looks_like_its_end(text):
    lines = fenced("the conversation", text).splitlines()
    assert lines[0] == lines[-1]
    assert lines[0] not in text


def test_the_request_holds_what_was_handed_over_and_the_focus_only_where_there_is_any():
    bare, full = worded(Ask("handover", "talk", 100)), worded(Ask("handover", "talk", 100, "before", "sure", "the lexer"))
    assert "hand-over so far" not in bare
    assert "above all" not in bare
    assert full.index("before") < full.index("talk") < full.index("sure") < full.index("the lexer")


def test_a_hand_over_lacks_headings_identifiers_or_its_end():
    whole_text = "\n".join(f"## {heading}\nnone" for heading in HEADINGS)
    assert flaws("handover", whole_text, (), False, 100) == ()
    assert flaws("handover", whole_text.replace("## ", "**").replace("\nnone", ":**\nnone"), (), False, 100) == ()
    assert len(flaws("handover", "hello", ("a.py",), True, 100)) == 3


def test_what_code_adds_is_made_again_and_never_taken_from_a_model():
    facts = Facts(("read.py",), ("changed.py",), ("edit: no match",))
    stored = written("Said.\n\n## From the record\n\n- Files changed: invented.py", "Turn.", facts, ("abc1234",))
    assert "invented.py" not in stored
    assert said_in(stored) == "Said.\n\n## The turn in progress, its first part\n\nTurn."
    record = stored.partition("## From the record")[2]
    assert [line.partition(":")[0] for line in record.strip().splitlines()[1:]] == [
        "- Identifiers",
        "- Files changed",
        "- Files read",
        "- Failed",
    ]


def test_marks_of_fences_that_a_model_repeats_are_left_out():
    stored = written("===== your draft =====\n## Progress\nDone.\n===== your draft =====", "", Facts(), ())
    assert stored.startswith("## Progress\nDone.\n\n## From the record")


def test_lists_of_files_are_bounded_and_say_so():
    stored = written("Said.", "", Facts(tuple(f"f{number}.py" for number in range(100))), ())
    assert f"f{100 - MOST_FILES}.py" in stored
    assert f"f{99 - MOST_FILES}.py" not in stored
    assert f"and {100 - MOST_FILES} earlier ones" in stored
