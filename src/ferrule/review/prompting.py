"""What a reviewer is told: the standing sections, and the kickoff with the change fenced as data."""

from collections.abc import Mapping

from ferrule.tools.checks.text import named

from .render import render, template
from .subject import Subject

ELSEWHERE = (
    "What read_file and search_files show is the working tree: it may differ from what is under review, which is in read_diff."
)


def sections(environment: str) -> tuple[str, ...]:
    return template("role"), template("rules"), environment


def kickoff(subject: Subject, instructions: Mapping[str, str], wish: str | None) -> str:
    """`instructions` are standing ones by their file; `wish` is what the person typed."""
    values = {
        "title": subject.title,
        "overview": _overview(subject),
        "instructions": _instructions(instructions, wish),
        "diff": subject.text or "(nothing of it can be shown as text)",
        "fence": fence(subject.text),
        "coverage": _coverage(subject),
    }
    return render(template("kickoff"), {"subject": values})


def fence(text: str) -> str:
    """A line of `=` that the text does not hold, so that nothing in it can look like its end."""
    mark = "=" * 12 + " the change under review " + "=" * 12
    while mark in text:
        mark = f"={mark}="
    return mark


def _overview(subject: Subject) -> str:
    files = subject.comparison.diff.files
    added = sum(line.kind == "added" for file in files for hunk in file.hunks for line in hunk.lines)
    deleted = sum(line.kind == "deleted" for file in files for hunk in file.hunks for line in hunk.lines)
    counted = f"{len(files)} file{'' if len(files) == 1 else 's'}, {added} lines added, {deleted} deleted."
    elsewhere = [] if subject.comparison.kind == "worktree" else [ELSEWHERE]
    notes = (" ".join(note.split()) for note in subject.comparison.diff.notes)
    return "\n".join([counted, *notes, *elsewhere])


def _instructions(instructions: Mapping[str, str], wish: str | None) -> str:
    blocks = [f'<instructions file="{name}">\n{text.strip()}\n</instructions>' for name, text in instructions.items()]
    if wish:
        blocks.append(f"The person adds: {wish}")
    return "\n\n".join(blocks)


def _coverage(subject: Subject) -> str:
    left = [f"- {named(shown.path)}: {shown.how}, {shown.why}" for shown in subject.shown if shown.how != "full"]
    return "Not shown in full:\n" + "\n".join(left) if left else "All of it is shown."
