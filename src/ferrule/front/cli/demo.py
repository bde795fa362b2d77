"""`ferrule demo`: the real engine on a small real project in a temporary folder; a script plays the model.

`ferrule demo review`: the built-in reviewer on a shipped change with faults in it.
"""

import tempfile
from collections.abc import Mapping
from pathlib import Path

from ferrule.types.errors import UsageError

from .arguments import Given, Invocation
from .show.output import standard_error

OPENING = """\
This is a demonstration. The engine, the tools, the journal and the checks are the real ones, and the files are really changed,
in a temporary copy of a small project with a failing test. Only the model is not real: a script plays its part.

  the task:     {prompt}
  must hold:    {verify}
"""
CLOSING = """\
A script played the model. To give a task to a real one: ferrule -p "PROMPT" --model anthropic/NAME (or openai/NAME, google/NAME).
"""


REVIEW_OPENING = """\
This is a demonstration: a small change with faults in it, in a temporary repository, reviewed without a model.

"""
REVIEW_CLOSING = """
To review your own work: ferrule review (what is not committed), --staged, --commit SHA, or --base main.
With a model (a key, or --model NAME) the model reviews, with the same checks as a tool.
"""


def demo(invocation: Invocation, environ: Mapping[str, str]) -> int:
    """Needs no model and no network; keeps no session."""
    if invocation.settings:
        raise UsageError(f"the demo has its own settings; leave {invocation.settings[0].flag} out")
    return _review(invocation, environ) if invocation.action == "review" else _task(invocation, environ)


def _review(invocation: Invocation, environ: Mapping[str, str]) -> int:
    import asyncio

    from ferrule.review.demo import faulty_change
    from ferrule.review.subject import Wanted
    from ferrule.task.config.schema import Config
    from ferrule.task.open import TaskOptions

    from .review import start_review

    err = standard_error()
    err.text(REVIEW_OPENING)
    with tempfile.TemporaryDirectory(prefix="ferrule-demo-") as base:
        folder = Path(base) / "durations"
        asyncio.run(faulty_change(folder, environ))
        config = Config(model="builtin/checks")
        options = TaskOptions(None, folder, config, environ, Path(base), no_session=True)
        code = start_review(options, Wanted("worktree"), None, invocation)
    err.text(REVIEW_CLOSING)
    return code


def _task(invocation: Invocation, environ: Mapping[str, str]) -> int:
    from ferrule.task.config.layers import user_file
    from ferrule.task.demo import PROMPT, SCRIPT, VERIFY, copy_project
    from ferrule.task.open import TaskOptions

    from .start import configured, start

    err = standard_error()
    err.text(OPENING.format(prompt=PROMPT, verify=", ".join(VERIFY)) + "\n")
    own = (Given("model", (f"scripted/{SCRIPT}",), "demo"), Given("approve", ("all",), "demo"), Given("verify", VERIFY, "demo"))
    with tempfile.TemporaryDirectory(prefix="ferrule-demo-") as base:
        folder = copy_project(Path(base))
        without_settings = {name: value for name, value in environ.items() if not name.startswith("FERRULE_")}
        options = TaskOptions(
            prompt=PROMPT,
            folder=folder,
            config=configured(invocation._replace(folder=folder, settings=own), {**without_settings, "XDG_CONFIG_HOME": base}),
            environ=environ,
            user_folder=user_file(environ).parent,
            no_session=True,
        )
        code = start(options, invocation.output_format, invocation.receipt)
    err.text("\n" + CLOSING)
    return code
