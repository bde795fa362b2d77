"""Taking away what commands made."""

import os
import shutil
from contextlib import suppress
from pathlib import Path


def remove(path: Path) -> bool:
    """Whatever it is; whether there was anything. Leads nowhere else, also while commands run that exchange it for a link."""
    if not os.path.lexists(path):
        return False
    with suppress(OSError):
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    return True


def clear(folder: Path) -> None:
    """Remove a folder in which nobody works any more, also what its maker took its own rights from."""
    for top, below, _ in os.walk(folder):
        for each in (Path(top, name) for name in below):
            if not each.is_symlink():
                with suppress(OSError):
                    each.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)
