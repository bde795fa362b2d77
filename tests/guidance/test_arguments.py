import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrule.task.guidance.arguments import substitute, words

CASES = [
    ("Fix $1 in $2.", "12 main", "Fix 12 in main."),
    ("Fix $1 in $2.", '"a b" c', "Fix a b in c."),
    ("Fix $1 in $2.", "one", "Fix one in ."),
    ("All: $ARGUMENTS!", ' a  "b c" ', 'All: a  "b c"!'),
    ("$ARGUMENTS/$ARGUMENTS", "a", "a/a"),
    ("$1", "$2 $1", "$2"),
    ("$ARGUMENTS", "$1 $ARGUMENTS", "$1 $ARGUMENTS"),
    (r"costs \$1 and \$ARGUMENTS: $1", "x", "costs $1 and $ARGUMENTS: x"),
    ("costs $10 and $0, ${1}, $ARGUMENTS_X, $$", "", "costs $10 and $0, ${1}, $ARGUMENTS_X, $$"),
    ("$1", "it's", "it's"),
    ("No place.", "", "No place."),
    ("No place.", "but words", "No place.\n\nArguments: but words"),
    ("$1$2$3", "a b c", "abc"),
    ("$1", "\\1 \\g<0>", "1"),
]


@pytest.mark.parametrize(("body", "written", "text"), CASES)
def test_arguments_take_their_places(body: str, written: str, text: str) -> None:
    assert substitute(body, written) == text


LITERAL = st.text(st.characters(exclude_characters="$\\", exclude_categories=("Cs",)), max_size=5)
PLACES = st.sampled_from(["$ARGUMENTS", "$1", "$2", "$9"])
WRITTEN = st.lists(st.sampled_from(["$1", "$2", "$ARGUMENTS", "\\$1", "a", "'", '"', "$", "\\", "\n", " "]), max_size=8).map(
    "".join
)


@given(st.lists(st.tuples(PLACES, LITERAL.map(lambda text: f" {text}")), min_size=1, max_size=6), WRITTEN)
def test_what_is_put_in_is_never_expanded_again(pieces: list[tuple[str, str]], written: str) -> None:
    given_words = words(written.strip())
    expected = ""
    for place, literal in pieces:
        number = 0 if place == "$ARGUMENTS" else int(place[1:])
        expected += written.strip() if number == 0 else (given_words[number - 1] if number <= len(given_words) else "")
        expected += literal
    assert substitute("".join(place + literal for place, literal in pieces), written) == expected


@given(LITERAL, WRITTEN)
def test_without_a_place_nothing_that_was_written_is_lost(body: str, written: str) -> None:
    text = substitute(body, written)
    assert text == (f"{body}\n\nArguments: {written.strip()}" if written.strip() else body)
