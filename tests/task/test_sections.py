import os
from pathlib import Path

import pytest

from ferrule.task.sections import INSTRUCTION_BYTES, sections
from ferrule.types.errors import UsageError

OPENED = 1_790_000_000.0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project folder two levels below the root of its repository."""
    below = tmp_path / "repository" / "packages" / "one"
    below.mkdir(parents=True)
    (tmp_path / "repository" / ".git").mkdir()
    return below


def test_sections_come_in_order_and_empty_ones_are_left_out(folder: Path) -> None:
    bare = sections(folder, folder / "nobody", OPENED)
    assert [section.splitlines()[0] for section in bare] == [
        "You are Ferrule, a coding agent. You work in one project folder with the tools that you are given, and you end every "
        "task by one declared act that is checked in code.",
        "# How you work",
        "# Environment",
    ]
    (folder / "AGENTS.md").write_text("Use tabs.\n")
    full = sections(folder, folder / "nobody", OPENED, " Be brief.\n")
    assert full[:3] == bare
    assert (full[3].splitlines()[0], full[4]) == ("# Instructions for this project", "Be brief.")


def test_the_prompt_demands_tools_first_one_act_at_the_end_and_no_question_there(folder: Path) -> None:
    rules = sections(folder, folder / "nobody", OPENED)[1]
    assert "Every answer calls at least one tool until the task is ended. Text alone ends nothing." in rules
    assert "Find out by tools what tools can tell; ask the person only what only they can decide." in rules
    assert "call `attempt_completion` once, alone" in rules
    assert "Never end a result with a question or an offer." in rules


def test_the_bytes_are_the_same_for_the_whole_session_whenever_it_goes_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = sections(folder, folder, OPENED)
    monkeypatch.setattr("time.time", lambda: OPENED + 10 * 86_400)
    assert sections(folder, folder, OPENED) == first
    assert f"Project folder: {folder} (not a git repository)\n" in first[2]
    assert "Today: 2026-09-21\n" in first[2]


def test_the_persons_instructions_come_first_then_those_from_the_repository_down(folder: Path, tmp_path: Path) -> None:
    user = tmp_path / "user"
    user.mkdir()
    for place, name, text in (
        (user, "AGENTS.md", "of the person"),
        (tmp_path, "AGENTS.md", "outside the repository"),
        (tmp_path / "repository", "CLAUDE.md", "of the repository"),
        (folder, "AGENTS.md", "of the project"),
        (folder, "CLAUDE.md", "for another agent"),
    ):
        (place / name).write_text(text)
    said = sections(folder, user, OPENED)[3]
    assert said.split("\n\n", 2)[2] == (
        f'<instructions file="{user}/AGENTS.md">\nof the person\n</instructions>\n\n'
        f'<instructions file="{tmp_path}/repository/CLAUDE.md">\nof the repository\n</instructions>\n\n'
        '<instructions file="AGENTS.md">\nof the project\n</instructions>'
    )


def test_outside_a_repository_only_the_folder_itself_counts(tmp_path: Path) -> None:
    folder = tmp_path / "loose"
    folder.mkdir()
    (tmp_path / "AGENTS.md").write_text("of somebody above")
    assert len(sections(folder, folder / "nobody", OPENED)) == 3


def test_a_huge_file_is_cut_and_that_is_said(folder: Path) -> None:
    (folder / "AGENTS.md").write_text("x" * (INSTRUCTION_BYTES + 5))
    said = sections(folder, folder / "nobody", OPENED)[3]
    assert f"[cut: the first {INSTRUCTION_BYTES} of {INSTRUCTION_BYTES + 5} bytes; read {folder}/AGENTS.md for the rest]" in said
    assert len(said) < INSTRUCTION_BYTES + 1000


def test_instructions_that_cannot_be_read_are_named(folder: Path) -> None:
    os.symlink("/proc/self/mem", folder / "AGENTS.md")
    with pytest.raises(UsageError, match=r"AGENTS\.md cannot be read: Input/output error"):
        sections(folder, folder / "nobody", OPENED)
