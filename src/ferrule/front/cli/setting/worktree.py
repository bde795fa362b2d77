"""`--worktree`: the run happens in a worktree of its own."""

import asyncio
from collections.abc import Callable, Mapping

from ferrule.front.cli.arguments import Invocation
from ferrule.task.holding.worktree import bind, outcome, unbind
from ferrule.types.errors import FerruleError


def in_worktree(
    invocation: Invocation, environ: Mapping[str, str], run: Callable[[Invocation], int], note: Callable[[str], None]
) -> int:
    """Where no task could be opened, the worktree is taken back; else what is in it is told at the end."""
    bound = asyncio.run(bind(invocation.folder, invocation.worktree or "", environ))
    made = bound.worktree
    copied = f", with {made.copied} ignored file{'s' if made.copied > 1 else ''} taken along" if made.copied else ""
    note(f"working in {bound.folder} on the branch {made.branch}{copied}")
    for sentence in made.left:
        note(sentence)
    try:
        code = run(invocation._replace(folder=bound.folder, worktree=None))
    except FerruleError:
        asyncio.run(unbind(bound, environ))
        raise
    for line in asyncio.run(outcome(bound, environ)):
        note(line)
    return code
