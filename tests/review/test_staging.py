import re
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferrule.types.names import spell
from ferrule.types.review import Finding
from ferrule.workspace.diff.model import Diff, File, Hunk, Line, Side
from tests.workspace.repository import Tree
from tests.workspace.test_diff_anchors import EDITS, PATHS, TREES, Differ, edited, hunks_by_git

from .staged import Staging, added, said

HINT = re.compile(r"(?P<path>.+) (?:line (?P<line>\d+)|lines (?P<first>\d+)-(?P<last>\d+)) (?P<side>LEFT|RIGHT)", re.DOTALL)
WHOLE = " as a whole (without a line)"


@pytest.fixture(scope="module")
def differ(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Differ]:
    made = Differ(tmp_path_factory.mktemp("staging"))
    yield made
    made.close()


@pytest.fixture
def staging() -> Staging:
    old = Line("deleted", 3, None, "c")
    lines = (
        Line("context", 1, 1, "a"),
        Line("context", 2, 2, "b"),
        old,
        Line("added", None, 3, "b"),
        Line("added", None, 4, "b"),
    )
    changed = File("modified", "a.py", "a.py", 0o100644, 0o100644, "1" * 40, "2" * 40, (Hunk(0, 1, 3, 1, 4, "", lines),))
    return Staging(Diff((changed, added("new.py", ["x", "y", "x", "y"]))))


def hints_of(text: str) -> list[dict[str, object]]:
    """The places that a refusal names, as arguments."""
    found: list[dict[str, object]] = []
    for hint in text.rpartition(" Nearest: ")[2].removesuffix(".").split("; "):
        if hint.endswith(WHOLE):
            found.append({"path": hint.removesuffix(WHOLE)})
            continue
        match = HINT.fullmatch(hint)
        assert match is not None, hint
        span = {"line": int(match["line"])} if match["line"] else {"start_line": int(match["first"]), "line": int(match["last"])}
        found.append({"path": match["path"], "side": match["side"], **span})
    return found


@settings(max_examples=40)
@given(
    old=TREES,
    others=TREES,
    edits=EDITS,
    moved=st.booleans(),
    path=PATHS | st.sampled_from([b"moved/a.py", b"nowhere", b"b/a.py"]),
    line=st.none() | st.integers(-2, 35),
    start=st.none() | st.integers(-2, 35),
    side=st.sampled_from(["LEFT", "RIGHT"]),
)
def test_every_comment_is_staged_inside_one_hunk_or_refused_with_places_where_it_is(
    differ: Differ, old: Tree, others: Tree, edits: list[tuple[int, bytes | None]], moved: bool,
    path: bytes, line: int | None, start: int | None, side: Side,
) -> None:  # fmt: skip
    files, trees = differ.files(old, {**others, **edited(old, edits, moved)})
    hunks = hunks_by_git(differ, trees)
    for name in {spell(path), *(file.path for file in files)}:
        staging = Staging(Diff(files))
        output = staging.comment(path=name, line=line, start_line=start, side=side, severity="nit", text="Wrong.")
        tried = [output]
        if output.kind != "ok":
            assert not staging.findings
            text = said(output)
            assert text.startswith("Not staged. ")
            tried = [
                staging.comment(**hint, severity="nit", text=f"Wrong {n}.")
                for n, hint in enumerate(hints_of(text) if files else ())
            ]
            assert tried or not files
        for each in tried:
            assert each.kind == "ok", said(each)
            (finding,) = each.staged
            assert inside_one_hunk(finding, hunks)


def inside_one_hunk(finding: Finding, hunks: dict[str, list[tuple[range, range]]]) -> bool:
    if finding.line is None:
        return finding.start_line is None
    spans = [pair[finding.side == "RIGHT"] for pair in hunks[finding.path]]
    return [finding.first in span and finding.line in span for span in spans].count(True) == 1


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(1, 6), st.integers(0, 2), st.sampled_from(["One.", "Two."])), max_size=12))
def test_findings_are_staged_once_a_place_and_text_and_each_has_its_own_fingerprint(asked: list[tuple[int, int, str]]) -> None:
    staging = Staging(Diff((added("a.py", ["x"] * 8),)))
    wanted = set()
    for line, more, text in asked:
        output = staging.comment(path="a.py", line=line + more, start_line=line, severity="nit", text=text)
        key = (line, line + more, text)
        assert (output.kind, len(output.staged)) == ("ok", 0 if key in wanted else 1)
        wanted.add(key)
    assert {(each.first, each.line, each.text) for each in staging.findings} == wanted
    assert len({each.fingerprint for each in staging.findings}) == len(wanted)


def test_the_same_finding_again_keeps_the_first_severity_and_says_so(staging: Staging) -> None:
    assert said(staging.comment(path="a.py", line=3, severity="nit", text="Wrong.")) == "Staged at a.py line 3 RIGHT. 1 staged."
    again = staging.comment(path="a.py", line=3, severity="blocking", text=" Wrong. ", suggestion="c")
    assert said(again) == "Already staged, as nit: the same finding at a.py line 3 RIGHT. It stays as it was."
    assert [(each.severity, each.suggestion) for each in staging.findings] == [("nit", None)]


def test_a_context_line_is_the_same_place_on_both_sides_and_an_equal_line_is_not(staging: Staging) -> None:
    staging.comment(path="a.py", line=2, side="RIGHT", severity="nit", text="Wrong.")
    assert staging.comment(path="a.py", line=2, side="LEFT", severity="nit", text="Wrong.").staged == ()
    staging.comment(path="a.py", line=3, severity="nit", text="Wrong.")
    staging.comment(path="a.py", line=4, severity="nit", text="Wrong.")
    assert [each.line for each in staging.findings] == [2, 3, 4]


def test_a_fingerprint_stays_when_lines_move_and_says_which_of_equal_findings_it_is() -> None:
    one, other = Staging(Diff((added("a.py", ["x", "x"]),))), Staging(Diff((added("a.py", ["new", "x", "y", " x "]),)))
    for line in (1, 2):
        one.comment(path="a.py", line=line, severity="nit", text="Wrong.")
    for line in (2, 4):
        other.comment(path="a.py", line=line, severity="nit", text="Wrong.")
    assert [each.fingerprint for each in one.findings] == [each.fingerprint for each in other.findings]


def test_a_finding_is_what_was_asked_for(staging: Staging) -> None:
    output = staging.comment(
        path="new.py", line=3, start_line=2, severity="blocking", text=" Wrong. \n", suggestion="y\nz", source="ruff/F401"
    )
    (finding,) = output.staged
    expected = Finding("new.py", "RIGHT", 3, 2, "blocking", "Wrong.", "y\nz", "ruff/F401", finding.fingerprint)
    assert (finding, said(output)) == (expected, "Staged at new.py lines 2-3 RIGHT. 1 staged.")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"severity": "urgent"}, "severity"),
        ({"severity": None}, "severity"),
        ({"side": "BOTH"}, "side"),
        ({"text": " \n"}, "`text` is empty"),
        ({"text": None}, "text"),
        ({"line": "four"}, "line"),
        ({"line": None, "suggestion": "x"}, "`suggestion` needs lines of the new file"),
        ({"line": 3, "side": "LEFT", "suggestion": "x"}, "`suggestion` needs lines of the new file"),
        ({"line": 0}, "line 0"),
        ({"line": 5}, "line 5"),
        ({"line": None, "path": "gone.py"}, "gone.py is not in the diff"),
        ({"bogus": 1}, "bogus"),
    ],
)
def test_what_is_no_comment_is_refused_and_stages_nothing(staging: Staging, arguments: dict[str, object], named: str) -> None:
    given = {"path": "a.py", "line": 3, "severity": "nit", "text": "Wrong.", **arguments}
    output = staging.comment(**{key: value for key, value in given.items() if value is not None})
    assert (output.kind, staging.findings) == ("error", [])
    assert named in said(output)
