"""The `ferrule` command. `--version` is answered before anything is imported; everything else is dispatched."""

import sys

from ferrule import __version__

TYPE_CHECKING = False  # importing `typing` for this would double the time of `--version`
if TYPE_CHECKING:
    from typing import TextIO


def main() -> int:
    """Run the command line of this process and return its exit code."""
    arguments = sys.argv[1:]
    if arguments == ["--version"]:
        return 0 if _write(sys.stdout, f"ferrule {__version__}\n") else 1
    if sys.platform == "win32":
        _write(sys.stderr, "ferrule: native Windows is not supported; run it inside WSL 2, where it works as on Linux\n")
        return 2
    try:
        from ferrule.front.cli.command import run

        code = run(arguments)
    except KeyboardInterrupt:
        code = 130
    delivered = [_write(stream, "") for stream in (sys.stdout, sys.stderr)]
    return code if all(delivered) else code or 1


def _write(stream: "TextIO | None", text: str) -> bool:
    """Write and flush. False where that is impossible, unless the reader has just gone.

    The interpreter is kept from complaining when it closes its streams.
    """
    if stream is None:
        return True
    try:
        stream.write(text)
        stream.flush()
    except OSError as error:
        import os

        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return isinstance(error, BrokenPipeError)
    return True


if __name__ == "__main__":
    sys.exit(main())
