"""From options to a finished run with everything shown: shared by an ordinary task and the demo."""

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ferrule.task.config.layers import Flag, load
from ferrule.task.config.schema import Config

from .arguments import Invocation
from .headless import run_task
from .show.output import standard_error, standard_output
from .show.terminal import clean, look_of
from .show.views import PersonView, StreamView, View

if TYPE_CHECKING:
    from ferrule.task.open import TaskOptions


def configured(invocation: Invocation, environ: Mapping[str, str]) -> Config:
    """The settings of all layers; what was ignored is said on standard error."""
    loaded = load(invocation.folder, environ, [Flag(*given) for given in invocation.settings])
    for remark in loaded.notes:
        standard_error().text(f"ferrule: {clean(remark)}\n")
    return loaded.config


def start(options: "TaskOptions", output_format: str) -> int:
    """Run and return the exit code. A result that cannot be written is a failure, unless its reader has just gone."""
    from ferrule.task.open import open_task

    out, err = standard_output(), standard_error()
    view: View = StreamView(out)
    if output_format != "stream-json":
        view = PersonView(out, err, look_of(sys.stderr, options.environ), json=output_format == "json")
    result = run_task(lambda: open_task(options), options.folder, view, err, last=True)
    if out.problem:
        err.text(f"ferrule: the result could not be written to standard output: {out.problem}\n")
        return result.exit_code or 1
    return result.exit_code
