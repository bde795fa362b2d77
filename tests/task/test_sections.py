from pathlib import Path

import pytest

from ferrule.task.sections import sections

OPENED = 1_790_000_000.0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project folder two levels below the root of its repository."""
    below = tmp_path / "repository" / "packages" / "one"
    below.mkdir(parents=True)
    (tmp_path / "repository" / ".git").mkdir()
    return below


def test_sections_come_in_order_and_empty_ones_are_left_out(folder: Path) -> None:
    bare = sections(folder, OPENED)
    assert [section.splitlines()[0] for section in bare] == [
        "You are Ferrule, a coding agent. You work in one project folder with the tools that you are given, and you end every "
        "task by one declared act that is checked in code.",
        "# How you work",
        "# Environment",
    ]
    assert sections(folder, OPENED, ("# Instructions",), " Be brief.\n") == (*bare, "# Instructions", "Be brief.")


def test_the_prompt_demands_tools_first_one_act_at_the_end_and_no_question_there(folder: Path) -> None:
    rules = sections(folder, OPENED)[1]
    assert "Every answer calls at least one tool until the task is ended. Text alone ends nothing." in rules
    assert "Find out by tools what tools can tell; ask the person only what only they can decide." in rules
    assert "call `attempt_completion` once, alone" in rules
    assert "Never end a result with a question or an offer." in rules


def test_the_bytes_are_the_same_for_the_whole_session_whenever_it_goes_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = sections(folder, OPENED)
    monkeypatch.setattr("time.time", lambda: OPENED + 10 * 86_400)
    assert sections(folder, OPENED) == first
    assert f"Project folder: {folder} (not a git repository)\n" in first[2]
    assert "Today: 2026-09-21\n" in first[2]
