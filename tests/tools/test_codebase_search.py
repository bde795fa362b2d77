from collections.abc import Sequence
from pathlib import Path

import pytest

from ferrule.tools.read.codebase_search import codebase_search
from ferrule.types.tools import Action, Effect
from ferrule.workspace.codebase.codebase import Codebase

from .bench import Bench


@pytest.fixture
def code(bench: Bench, tmp_path: Path) -> Bench:
    async def files() -> Sequence[str]:
        return [str(path.relative_to(bench.root)) for path in sorted(bench.root.rglob("*")) if path.is_file()]

    codebase = Codebase(bench.root, tmp_path / "index.db")
    bench.tools["codebase_search"] = codebase_search(lambda: codebase, files)
    (bench.root / "src").mkdir()
    (bench.root / "src" / "retry.py").write_text("import time\n\n\ndef wait_seconds(attempt):\n    return 2**attempt\n")
    (bench.root / "other.py").write_text("x = 1\n")
    return bench


def test_the_best_places_are_shown_with_their_lines(code: Bench) -> None:
    assert code.text("codebase_search", query="seconds to wait") == (
        "The best 1 places among 2 files.\n\n# src/retry.py:1-6\n1 | import time\n4 | def wait_seconds(attempt):\n"
        "5 |     return 2**attempt"
    )


def test_nothing_is_said_with_how_much_was_looked_among(code: Bench) -> None:
    assert code.text("codebase_search", query="zebra") == "Nothing among 2 files is about `zebra`."
    assert code.text("codebase_search", query="x", path="src") == "Nothing among 2 files is about `x`."


def test_lines_with_the_words_come_before_the_others_of_a_long_piece(code: Bench) -> None:
    (code.root / "long.py").write_text(
        "def first():\n" + "".join(f"    a{number} = {number}\n" for number in range(40)) + "    zebra()\n"
    )
    lines = code.text("codebase_search", query="zebra").split("\n")
    assert (len(lines), lines[3], lines[-1]) == (15, " 1 | def first():", "42 |     zebra()")
    assert lines[2] == "# long.py:1-43"


def test_what_an_ignore_file_means_by_now_is_no_answer(code: Bench) -> None:
    code.text("codebase_search", query="wait")
    (code.root / ".ferruleignore").write_text("retry.py\n")
    assert code.text("codebase_search", query="wait").startswith("Nothing among ")


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        ({"query": " +-* "}, "`query` holds no words."),
        ({"query": "x", "limit": 51}, "`limit` must be from 1 to 50, got 51."),
        ({"query": "x", "path": "othre.py"}, "othre.py does not exist. Did you mean other.py?"),
        ({"query": "x", "path": "other.py"}, "other.py is no folder of the workspace; use search_files."),
        ({"query": "x", "path": ".."}, "{outside} is no folder of the workspace; use search_files."),
    ],
)
def test_what_cannot_be_looked_for_is_said(code: Bench, arguments: dict[str, object], refusal: str) -> None:
    assert code.refusal("codebase_search", **arguments) == refusal.format(outside=code.root.parent)


def test_it_only_reads_the_folder(code: Bench) -> None:
    assert code.tools["codebase_search"].effect is Effect.READ
    assert code.actions("codebase_search", query="x", path="src") == (Action("read", (str(code.root / "src"),)),)
