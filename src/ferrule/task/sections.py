"""The system prompt as ordered, named sections, the same bytes for the whole session so that prompt caches hold."""

import platform
import time
from collections.abc import Iterable
from pathlib import Path

PROMPT = Path(__file__).parent / "prompt"


def sections(folder: Path, opened: float, guidance: Iterable[str] = (), append: str = "") -> tuple[str, ...]:
    """Role, rules, environment, guidance, appended text; what is empty is left out.

    `opened` is when the session began (Unix seconds): a resumed session says the same date.
    """
    found = [
        (PROMPT / "role.md").read_text("utf-8").strip(),
        (PROMPT / "rules.md").read_text("utf-8").strip(),
        environment(folder, opened),
        *guidance,
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
