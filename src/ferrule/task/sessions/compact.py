"""Compacts a stored session on demand: opens it for writing, as one that goes on, and asks its model for a summary only."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from ferrule.run.compaction import Compacted as Compacted
from ferrule.run.compaction import NotCompacted as NotCompacted
from ferrule.store.private import state_folder
from ferrule.store.sessions import Sessions
from ferrule.task.config.layers import user_file
from ferrule.task.config.schema import Config
from ferrule.task.open import TaskOptions, open_task
from ferrule.types.names import unspell


async def compact_session(
    environ: Mapping[str, str], written: str, focus: str, configure: Callable[[Path], Config]
) -> tuple[str, Compacted | NotCompacted]:
    """The full id of a session given by its id or a prefix, and what came of compacting it. `configure` gives the settings of
    its folder. Raises UsageError, LeaseHeld, StoreError."""
    sessions = Sessions(state_folder(environ))
    id = sessions.find(written)
    info = next(info for info in sessions.list() if info.id == id)
    folder = Path(os.fsdecode(unspell(info.folder)))
    options = TaskOptions(None, folder, configure(folder), environ, user_file(environ).parent, resume=id)
    task = await open_task(options)
    try:
        result = await task.compact(focus)
    except BaseException as error:
        await task.close(error)
        raise
    await task.close()
    return id, result
