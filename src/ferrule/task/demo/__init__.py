"""`ferrule demo`: the real engine, tools, journal and gates on a small real project; only the model is played by a script."""

import shutil
from pathlib import Path

HERE = Path(__file__).parent
SCRIPT = HERE / "script.json"
PROMPT = "A test of this project fails. Find out why and mend it."
VERIFY = ("python3 -m unittest",)


def copy_project(into: Path) -> Path:
    """A fresh copy of the faulty project below `into`."""
    return Path(shutil.copytree(HERE / "project", into / "durations", ignore=shutil.ignore_patterns("__pycache__")))
