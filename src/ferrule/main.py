"""The `ferrule` command. `--version` is answered before anything is imported; everything else is dispatched."""

import sys

from ferrule import __version__


def main() -> int:
    """Run the command line of this process and return its exit code."""
    arguments = sys.argv[1:]
    try:
        if arguments == ["--version"]:
            sys.stdout.write(f"ferrule {__version__}\n")
            code = 0
        elif sys.platform == "win32":
            sys.stderr.write("ferrule: native Windows is not supported; please run it inside WSL 2, where it works as on Linux\n")
            code = 2
        else:
            from ferrule.front.cli.command import run

            code = run(arguments)
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        code = 0
    return code if _flush() else code or 1


def _flush() -> bool:
    """Write out what is buffered. False where that is impossible, unless the reader has just gone.

    The interpreter is kept from complaining when it closes its streams.
    """
    delivered = True
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError as error:
            import os

            delivered = delivered and isinstance(error, BrokenPipeError)
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return delivered


if __name__ == "__main__":
    sys.exit(main())
