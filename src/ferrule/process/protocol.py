"""What the rest of Ferrule may ask of `process`: start a command, see its output, know how it ended, leave nothing behind."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, Protocol

from msgspec import Struct


class Command(Struct, frozen=True):
    """What to start: in a session of its own without a terminal, stdin null, below the supervisor.

    `env` is the complete environment of the child. `timeout` in seconds, None for none. `grace` is how long descendants that
    outlive the command may take to end by themselves before they are ended and reported as left behind. `stderr` goes to the
    output, in the order of writing, or nowhere. A name in `argv` without a slash is searched in the PATH of `env`.

    For a sandbox: `own` commands only read, as git and ripgrep do for Ferrule, and stay outside of it; `lent` are folders beside
    the workspace that this command may write. `wrapper` is what the sandbox starts in its place, see `process.sandbox`.
    """

    argv: tuple[str, ...]
    cwd: str
    env: tuple[tuple[str, str], ...]
    timeout: float | None = None
    grace: float = 0.1
    stderr: Literal["output", "null"] = "output"
    own: bool = False
    lent: tuple[str, ...] = ()
    wrapper: tuple[str, ...] = ()


class Ended(Struct, frozen=True):
    """How a command ended. One of `exit_code` and `signal` is set when its main process was seen to end by itself or in time-out.

    `left` counts descendants that had to be ended because they outlived the command. `error`, read first: it could not be
    started, its supervision was killed or closed, or something of it could not be ended. Output went to `on_output`.
    """

    exit_code: int | None
    signal: int | None
    seconds: float
    timed_out: bool = False
    left: int = 0
    error: str | None = None


class Processes(Protocol):
    """All processes of one session. Whatever was started is ended when this closes, or when Ferrule dies (law 13)."""

    async def run(self, command: Command, on_output: Callable[[bytes], None]) -> Ended:
        """Run to the end; stdout and stderr arrive interleaved as bytes. Cancelling ends the command and all below it."""
        ...

    async def close(self) -> None: ...


def allowed_environment(source: Mapping[str, str], extra: Sequence[str] = ()) -> tuple[tuple[str, str], ...]:
    """The variables of `source` that a child process may see: a fixed list of harmless names, and those in `extra`.

    Always adds `GIT_TERMINAL_PROMPT=0` and `TERM=dumb`, and leaves out everything else, keys above all (law 11).
    """
    kept = {name: value for name, value in source.items() if name in HARMLESS or name.startswith("LC_") or name in extra}
    kept |= {"GIT_TERMINAL_PROMPT": "0", "TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat"}
    return tuple(sorted(kept.items()))


HARMLESS = frozenset(
    """
    PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR TMP TEMP PWD
    XDG_RUNTIME_DIR XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME
    VIRTUAL_ENV CONDA_PREFIX PYENV_ROOT NVM_DIR JAVA_HOME GOPATH GOROOT CARGO_HOME RUSTUP_HOME NODE_PATH
    SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE NO_PROXY no_proxy CI
    """.split()  # noqa: SIM905 one word a name reads better than a quoted list
)
