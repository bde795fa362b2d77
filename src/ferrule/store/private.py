"""Where the personal store lives, and how its folders and files are made so that only their owner reads them."""

import os
from collections.abc import Mapping
from pathlib import Path

PRIVATE_FOLDER = 0o700
PRIVATE_FILE = 0o600


def state_folder(environ: Mapping[str, str]) -> Path:
    """FERRULE_HOME, else `ferrule` in XDG_STATE_HOME (an absolute path, as its specification demands), else in ~/.local/state."""
    if home := environ.get("FERRULE_HOME"):
        return Path(home).expanduser().absolute()
    base = Path(environ.get("XDG_STATE_HOME", ""))
    if not base.is_absolute():
        base = Path(environ.get("HOME") or Path.home(), ".local", "state")
    return base / "ferrule"


def make_folder(path: Path) -> None:
    """Make `path` (its parents too) with mode 0700 whatever the umask; one that is there already is tightened."""
    try:
        path.mkdir(PRIVATE_FOLDER)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(PRIVATE_FOLDER, exist_ok=True)
    except FileExistsError:
        pass
    if path.stat().st_mode & 0o777 != PRIVATE_FOLDER:
        path.chmod(PRIVATE_FOLDER)


def open_file(path: Path, flags: int) -> int:
    """A descriptor of `path`, which is made with mode 0600 whatever the umask where it is missing."""
    descriptor = os.open(path, flags | os.O_CLOEXEC, PRIVATE_FILE)
    try:
        if os.fstat(descriptor).st_mode & 0o777 != PRIVATE_FILE:
            os.fchmod(descriptor, PRIVATE_FILE)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def sync_folder(path: Path) -> None:
    """Make the names in `path` survive a power loss."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
