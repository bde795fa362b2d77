"""`ferrule demo review`: the built-in reviewer on a shipped change with faults in it."""

import asyncio
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ferrule.review.demo import faulty_change
from ferrule.review.subject import Wanted
from ferrule.task.config.schema import Config
from ferrule.task.open import TaskOptions

from .arguments import Invocation
from .review import start_review
from .show.output import standard_error

OPENING = """\
This is a demonstration: a small change with faults in it, in a temporary repository, reviewed without a model.

"""
CLOSING = """
To review your own work: ferrule review (what is not committed), --staged, --commit SHA, or --base main.
With a model (a key, or --model NAME) the model reviews, with the same checks as a tool.
"""


def demo_review(invocation: Invocation, environ: Mapping[str, str]) -> int:
    """Needs no model and no network; keeps no session."""
    err = standard_error()
    err.text(OPENING)
    with tempfile.TemporaryDirectory(prefix="ferrule-demo-") as base:
        folder = Path(base) / "durations"
        asyncio.run(faulty_change(folder, environ))
        options = TaskOptions(
            prompt=None,
            folder=folder,
            config=Config(model="builtin/checks"),
            environ=environ,
            user_folder=Path(base),
            no_session=True,
        )
        code = start_review(options, Wanted("worktree"), None, invocation.output_format)
    err.text(CLOSING)
    return code
