"""From options to a finished run with everything shown: shared by an ordinary task and the demo."""

import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from ferrule.task.config.layers import Flag, load
from ferrule.task.config.schema import Config

from .arguments import Invocation
from .headless import run_task
from .show.output import standard_error, standard_output
from .show.terminal import clean, look_of
from .show.views import PersonView, StreamView, View

if TYPE_CHECKING:
    from ferrule.task.open import TaskOptions
    from ferrule.task.receipts.file import ReceiptTarget


def configured(invocation: Invocation, environ: Mapping[str, str]) -> Config:
    """The settings of all layers; what was ignored is said on standard error."""
    loaded = load(invocation.folder, environ, [Flag(*given) for given in invocation.settings])
    for remark in loaded.notes:
        standard_error().text(f"ferrule: {clean(remark)}\n")
    return loaded.config


def start(options: "TaskOptions", output_format: str, receipt: Path | None = None) -> int:
    """Run and return the exit code. A result that cannot be written is a failure, unless its reader has just gone.

    The receipt goes to the file `receipt`; raises UsageError, before anything is run, where no file can be written there.
    """
    from ferrule.task.open import open_task

    opening = with_receipt(lambda: open_task(options), receipt)
    out, err = standard_output(), standard_error()
    view: View = StreamView(out)
    if output_format != "stream-json":
        view = PersonView(out, err, look_of(sys.stderr, options.environ), json=output_format == "json")
    result = run_task(opening, options.folder, view, err, last=True)
    if out.problem:
        err.text(f"ferrule: the result could not be written to standard output: {out.problem}\n")
        return result.exit_code or 1
    return result.exit_code


class Receipted(Protocol):
    """What writes a receipt when it ends: a task, or a review."""

    receipt_to: "ReceiptTarget | None"

    async def close(self, primary: BaseException | None = None) -> None: ...


Opened = TypeVar("Opened", bound=Receipted)


def with_receipt(opening: Callable[[], Awaitable[Opened]], written: Path | None) -> Callable[[], Awaitable[Opened]]:
    """Opens a task that writes its receipt to a file when it ends. Raises UsageError now where that cannot be done."""
    if written is None:
        return opening
    from ferrule.task.receipts.file import reserve

    target = reserve(written)

    async def opened() -> Opened:
        task = await opening()
        try:
            target.begin()
        except BaseException as error:
            await task.close(error)
            raise
        task.receipt_to = target
        return task

    return opened
