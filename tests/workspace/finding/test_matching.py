import random
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferrule.workspace.finding.index import Index, Stopped, parent
from ferrule.workspace.finding.matching import Query, name


def index(*paths: str) -> Index:
    made = Index()
    made.add(paths)
    return made


def best(made: Index, text: str, limit: int = 20, **more: object) -> list[str]:
    return made.search(text, limit, **more)[0]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "first", "after"),
    [
        ("user", "deep/down/user.py", "user/of/something.py"),
        ("usrhand", "src/user_handler.py", "src/upside/rather/handy.py"),
        ("model", "app/model.py", "app/m_o_d_e_l.py"),
        ("uh", "a/user_handler.py", "a/rush.py"),
        ("uH", "a/userHandler.py", "a/aauh.py"),
        ("src/mo", "src/model.py", "other/src_model.py"),
        ("handler src", "src/handler.py", "src/other/things/hand_ler.py"),
        ("a.py", "a.py", "aa.py"),
    ],
)
def test_the_meant_path_comes_first(text: str, first: str, after: str) -> None:
    found = best(index(after, first), text)
    assert found[0] == first


def test_of_equal_matches_the_shorter_path_comes_first_and_then_the_alphabet() -> None:
    made = index("bb/x/file.py", "b/x/file.py", "a/x/file.py", "c/file.py")
    assert best(made, "file") == ["c/file.py", "a/x/file.py", "b/x/file.py", "bb/x/file.py"]


def test_every_word_must_match_and_letters_in_their_order() -> None:
    made = index("src/alpha.py", "src/beta.py", "lib/alpha.py")
    assert made.search("alpha src", 5) == (["src/alpha.py"], 1)
    assert made.search("ahpla", 5) == ([], 0)


def test_folders_are_found_and_told_from_files() -> None:
    made = index("src/", "src/tools/", "src/tools/base.py", "tools.md")
    assert best(made, "tools")[:2] == ["tools.md", "src/tools/"]
    assert best(made, "tools/") == ["src/tools/", "src/tools/base.py"]


def test_capitals_count_only_where_they_are_typed() -> None:
    made = index("README.md", "readme.txt")
    assert set(best(made, "readme")) == {"README.md", "readme.txt"}
    assert best(made, "README") == ["README.md"]


@pytest.mark.parametrize("typed", ["NFC", "NFD"])
@pytest.mark.parametrize("stored", ["NFC", "NFD"])
def test_accents_are_found_however_they_are_written(typed: str, stored: str) -> None:
    path = unicodedata.normalize(stored, "docs/Überblick-é.md")
    assert best(index(path, "docs/other.md"), unicodedata.normalize(typed, "Überblick-é")) == [path]


@pytest.mark.parametrize("path", ["app/[id]/page.tsx", "a b/c d.txt", "🙂/x.py", "日本/語.txt", "^$!'.py", "\ufffd41"])
def test_no_character_is_special(path: str) -> None:
    assert best(index(path, "zzz"), path) == [path]


def test_marks_are_the_characters_that_matched_in_the_name_where_they_can() -> None:
    assert Query("us").marks("users/us.py") == (6, 7)
    assert "".join("users/us.py"[at] for at in Query("usus").marks("users/us.py")) == "usus"
    assert Query("py us").marks("users/us.py") == (6, 7, 9, 10)
    assert Query("").marks("users/us.py") == ()


def test_recent_paths_come_first_where_they_match() -> None:
    made = index("a.py", "ab.py", "zz/abc.py", "other.md")
    assert best(made, "a", recent=["zz/abc.py", "other.md", "gone.py"]) == ["zz/abc.py", "a.py", "ab.py"]
    assert best(made, "", recent=["zz/abc.py", "other.md"]) == ["zz/abc.py", "other.md", "a.py", "ab.py"]
    assert made.search("a", 1, recent=["zz/abc.py"]) == (["zz/abc.py"], 3)


def test_only_what_is_kept_counts_before_the_limit() -> None:
    made = index(*(f"a{number}.py" for number in range(100)), "zzzzzzzzz/a.md")
    assert made.search("a", 1, keep=lambda path: path.endswith(".md")) == (["zzzzzzzzz/a.md"], 1)
    assert made.search("", 1, keep=lambda path: path.endswith(".md")) == (["zzzzzzzzz/a.md"], 1)


def test_a_very_long_text_is_looked_at_in_part() -> None:
    assert best(index("a" * 300), "a" * 100_000) == ["a" * 300]


def test_a_query_that_nobody_waits_for_stops() -> None:
    with pytest.raises(Stopped):
        index("a").search("a", 1, stopped=lambda: True)


def test_what_was_removed_and_came_back_is_found_once() -> None:
    made = index("a/", "a/b/", "a/b/c.py", "ab.py")
    made.remove(["a/"])
    assert made.search("", 9) == (["ab.py"], 1)
    assert made.search("b", 9) == (["ab.py"], 1)
    made.add(["a/", "a/b/c.py", "a/b/c.py"])
    assert made.search("c", 9) == (["a/b/c.py"], 1)
    assert made.search("", 9)[1] == len(made.known) == 3


def test_the_last_part_of_a_path_and_what_holds_it() -> None:
    assert [(name(path), parent(path)) for path in ("a", "a/", "a/b", "a/b/")] == [
        ("a", ""),
        ("a/", ""),
        ("b", "a/"),
        ("b/", "a/"),
    ]


PATHS = st.lists(st.text("ab_", min_size=1, max_size=3), min_size=1, max_size=4).map("/".join)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.booleans(), PATHS), max_size=60),
    st.text("ab_/ ", max_size=4),
    st.integers(1, 12),
    st.sampled_from([1, 3, 1000]),
)
def test_however_an_index_came_about_it_answers_as_a_new_one(
    changes: list[tuple[bool, str]], text: str, limit: int, shelf: int
) -> None:
    grown, known = Index(shelf), set[str]()
    for adds, path in changes:
        if adds:
            grown.add([path])
            known.add(path)
        else:
            grown.remove([path])
            known.discard(path)
    assert grown.known == known
    assert grown.search(text, limit) == index(*known).search(text, limit)


def test_a_limit_never_changes_the_order() -> None:
    chance = random.Random(3)
    made = index(*("/".join(chance.choices(["user", "us", "u", "house", "s"], k=3)) + f"{at}.py" for at in range(2000)))
    whole, total = made.search("us", 5000)
    assert len(whole) == total
    assert all(made.search("us", limit) == (whole[:limit], total) for limit in (1, 7, 50, 999))
