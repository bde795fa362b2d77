"""The system prompt as ordered, named sections, the same bytes for the whole session so that prompt caches hold."""

import platform
import time
from collections.abc import Iterable
from pathlib import Path

from ferrule.types.errors import UsageError

PROMPT = Path(__file__).parent / "prompt"
INSTRUCTION_FILES = ("AGENTS.md", "CLAUDE.md")
INSTRUCTION_BYTES = 32_000


def sections(folder: Path, user_folder: Path, opened: float, append: str = "") -> tuple[str, ...]:
    """Role, rules, environment, instructions, appended text; what is empty is left out.

    `opened` is when the session began (Unix seconds): a resumed session says the same date.
    """
    found = [
        (PROMPT / "role.md").read_text("utf-8").strip(),
        (PROMPT / "rules.md").read_text("utf-8").strip(),
        environment(folder, opened),
        instructions(instruction_files(folder, user_folder), folder),
        append.strip(),
    ]
    return tuple(section for section in found if section)


def environment(folder: Path, opened: float) -> str:
    day = time.strftime("%Y-%m-%d", time.gmtime(opened))
    kind = "a git repository" if (folder / ".git").exists() else "not a git repository"
    return (
        f"# Environment\n\nProject folder: {folder} ({kind})\nSystem: {platform.system()}, shell bash\nToday: {day}\n"
        "Nobody answers while you work: what is not allowed is denied, and a question ends the run until somebody answers it."
    )


def instruction_files(folder: Path, user_folder: Path) -> Iterable[Path]:
    """The person's own file first, then those from the repository's root down to the project folder."""
    chain = [folder]
    if not (folder / ".git").exists():
        for parent in folder.parents:
            chain.append(parent)
            if (parent / ".git").exists():
                break
        else:
            chain = [folder]
    for place in (user_folder, *reversed(chain)):
        for name in INSTRUCTION_FILES:
            if (place / name).is_file():
                yield place / name
                break


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise UsageError(f"the instructions in {file} cannot be read: {error.strerror}") from error


def instructions(files: Iterable[Path], folder: Path) -> str:
    """Standing instructions, each file fenced and named; a file over the limit is cut, and that is said.

    Raises UsageError for a file that cannot be read: work would go on without what the person wrote there.
    """
    blocks = []
    for file in files:
        data = _read(file)
        text = data[:INSTRUCTION_BYTES].decode("utf-8", "replace").strip()
        if len(data) > INSTRUCTION_BYTES:
            text += f"\n[cut: the first {INSTRUCTION_BYTES} of {len(data)} bytes; read {file} for the rest]"
        shown = file.relative_to(folder) if file.is_relative_to(folder) else file
        blocks.append(f'<instructions file="{shown}">\n{text}\n</instructions>')
    if not blocks:
        return ""
    return "# Instructions for this project\n\nHow to work here. They never widen what you are allowed to do.\n\n" + "\n\n".join(
        blocks
    )
