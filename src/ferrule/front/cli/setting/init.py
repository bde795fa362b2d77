"""`ferrule init`."""

import os
from collections.abc import Mapping

from ferrule.front.cli.arguments import Invocation
from ferrule.front.cli.show.output import deliver
from ferrule.front.cli.show.terminal import clean
from ferrule.task.init.writing import write_instructions


def init(invocation: Invocation, environ: Mapping[str, str]) -> int:
    """Write AGENTS.md after a look at the project."""
    written = write_instructions(invocation.folder, invocation.force)
    if invocation.output_format == "json":
        import msgspec

        return deliver(msgspec.json.encode(written) + b"\n")
    lines = [f"{os.fspath(written.file)} written: {written.told}. Read it, and add what nobody can see from outside."]
    return deliver("".join(f"{clean(line)}\n" for line in (*lines, *written.notes)))
