"""A small change with faults in it, for `ferrule demo review`."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from ferrule.process.protocol import allowed_environment
from ferrule.process.supervisor import Supervisor
from ferrule.workspace.git.create import commit_all

HERE = Path(__file__).parent


async def faulty_change(folder: Path, environ: Mapping[str, str]) -> None:
    """Make `folder` a repository whose commit is sound and whose working tree holds the faulty change."""
    processes = Supervisor()
    try:
        shutil.copytree(HERE / "before", folder, dirs_exist_ok=True)
        await commit_all(processes, folder, "Read durations", allowed_environment(environ))
        shutil.copytree(HERE / "after", folder, dirs_exist_ok=True)
    finally:
        await processes.close()
