"""Hooks that are Python functions of an installed package."""

import time
from pathlib import Path

import pytest

from ferrule.attempt.hooks import ToolVerdict
from ferrule.run.hooks.hook import Hook
from ferrule.types.tools import Effect

from .asking import CALL, ask

MODULE = """
import asyncio, threading, time

def passes(asked): return None
def blocks(asked): return {"decision": "block", "reason": f"no {asked['tool']} of {asked['arguments']['path']}"}
async def changes(asked):
    await asyncio.sleep(0)
    return {"arguments": {"path": "b"}}
def raises(asked): raise ValueError("bad day")
def leaves(asked): raise SystemExit(3)
def junk(asked): return 7
def strange(asked): return {"arguments": {"path": object()}}
def half(asked): return {"reason": "\\ud800"}
def hangs(asked): time.sleep(60)
async def hangs_too(asked): time.sleep(60)
def elsewhere(asked): return {"decision": "block", "reason": str(threading.current_thread() is threading.main_thread())}
"""


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hooks_of_a_test.py").write_text(MODULE)
    about = tmp_path / "hooks_of_a_test-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: hooks-of-a-test\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[ferrule.hooks]\nno-edits = hooks_of_a_test:blocks\n")
    monkeypatch.syspath_prepend(tmp_path)


def said(folder: Path, python: str, **more: object) -> tuple[ToolVerdict, str]:
    hook = Hook("before_tool", python=python, **more)  # type: ignore[arg-type]  # from a table
    verdict, heard = ask(folder, [hook], lambda runner: runner.before_tool(CALL, Effect.MUTATING))
    return verdict, heard.ran[0].reason


def test_it_is_given_the_question_and_returns_the_answer(tmp_path: Path) -> None:
    assert said(tmp_path, "hooks_of_a_test:passes")[0] == ToolVerdict(CALL)
    assert said(tmp_path, "hooks_of_a_test:blocks")[0].reason == "no edit of a."
    assert said(tmp_path, "hooks_of_a_test:changes")[0].call.arguments == '{"path":"b"}'


def test_an_entry_point_is_used_only_by_its_name(tmp_path: Path) -> None:
    assert said(tmp_path, "no-edits")[0].reason == "no edit of a."
    assert said(tmp_path, "other")[1] == "no installed package offers 'other' in the entry point group ferrule.hooks"


def test_it_runs_in_a_thread_of_its_own(tmp_path: Path) -> None:
    assert said(tmp_path, "hooks_of_a_test:elsewhere")[0].reason == "False."


@pytest.mark.parametrize(
    ("function", "why"),
    [
        ("raises", "ValueError: bad day"),
        ("leaves", "SystemExit: 3"),
        ("junk", "its answer is not understood: Expected `object`, got `int`"),
        ("strange", "its answer is not understood: Encoding objects of type object is unsupported"),
        ("half", "its answer is not understood: 'utf-8' codec can't encode"),
        ("gone", "AttributeError: "),
    ],
)
def test_whatever_it_does_instead_of_answering_is_a_failure(tmp_path: Path, function: str, why: str) -> None:
    verdict, reason = said(tmp_path, f"hooks_of_a_test:{function}")
    assert verdict.decision == "block"
    assert reason.startswith(why)
    assert said(tmp_path, f"hooks_of_a_test:{function}", on_failure="open")[0] == ToolVerdict(CALL)


def test_a_module_that_cannot_be_imported_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "broken_of_a_test.py").write_text("1 / 0")
    assert said(tmp_path, "broken_of_a_test:x")[1] == "ZeroDivisionError: division by zero"
    assert said(tmp_path, "no_such_module_of_a_test:x")[1].startswith("ModuleNotFoundError: ")


@pytest.mark.parametrize("function", ["hangs", "hangs_too"])
def test_one_that_never_returns_holds_up_nothing(tmp_path: Path, function: str) -> None:
    began = time.monotonic()
    verdict, reason = said(tmp_path, f"hooks_of_a_test:{function}", timeout=0.1)
    assert (verdict.decision, reason) == ("block", "it gave no answer within 0.1 s and was left behind")
    assert time.monotonic() - began < 20
