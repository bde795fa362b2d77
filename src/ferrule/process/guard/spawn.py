"""Starting one command."""

# pathlib costs more than everything else that the supervisor imports.
# ruff: noqa: PTH113, PTH118

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
else:
    import _signal as signal

UNTOUCHABLE = frozenset({signal.SIGKILL, signal.SIGSTOP})


def find_executable(name: str, path: str) -> str:
    """As execvp does it, but in the command's PATH. Raises OSError."""
    if "/" in name:
        return name
    refused = False
    for folder in path.split(":"):
        candidate = os.path.join(folder, name)
        if os.path.isfile(candidate):
            if os.access(candidate, os.X_OK):
                return candidate
            refused = True
    if refused:
        raise PermissionError(13, "Permission denied")
    raise FileNotFoundError(2, "there is no such command in PATH")


class Unstartable(Exception):
    """The command cannot be started; the text says why."""


def enter(argv: list[bytes], cwd: bytes, env: dict[bytes, bytes]) -> str:
    """Go to a command's folder; returns the path of its program."""
    try:
        os.chdir(cwd)
    except OSError as error:
        raise Unstartable(f"cannot enter the folder {os.fsdecode(cwd)!r}: {error.strerror}") from None
    name = os.fsdecode(argv[0])
    try:
        return find_executable(name, os.fsdecode(env.get(b"PATH", b"/usr/local/bin:/usr/bin:/bin")))
    except OSError as error:
        raise Unstartable(f"cannot start {name!r}: {error.strerror}") from None


def spawn(argv: list[bytes], cwd: bytes, env: dict[bytes, bytes], output: int, errors: int | None) -> int:
    """Start a command in a session of its own, with stderr to `errors` or nowhere; returns its pid."""
    program = enter(argv, cwd, env)
    name = os.fsdecode(argv[0])
    stderr = (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0) if errors is None else (os.POSIX_SPAWN_DUP2, errors, 2)
    try:
        return os.posix_spawn(
            program,
            argv,
            env,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, output, 1),
                stderr,
            ],
            setsid=True,
            setsigmask=(),
            setsigdef=signal.valid_signals() - UNTOUCHABLE,
        )
    except OSError as error:
        raise Unstartable(f"cannot start {name!r}: {error.strerror}") from None
    except ValueError as error:
        raise Unstartable(f"cannot start {name!r}: {error}") from None
