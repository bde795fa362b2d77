"""Processes whose commands are confined."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Literal

from msgspec.structs import replace

from ferrule.process.protocol import Command, Ended, Processes

from .guarded import Guarded, guarded
from .inside import BECOME, WATCH
from .mounts import Mount, arguments, bound, layout, within
from .removing import remove
from .scratch import Scratch
from .wish import Wish

PROGRAM = Path(__file__).with_name("enter.py")
PYTHON = os.path.realpath(sys.executable)
TEMPORARY_NAMES = ("TMPDIR", "TMP", "TEMP")
Layer = Literal["bubblewrap", "landlock"]


@dataclass(frozen=True)
class Sandboxed:
    """Implements `Processes` around others. `bubblewrap` is its program, None for Landlock alone; `landlock` its version.

    `scratch` is the commands' temporary folder, kept as long as the session; `needed` are places of Ferrule's own programs.
    `remark` says what is weaker than it should be.
    """

    processes: Processes
    wish: Wish
    scratch: Scratch
    bubblewrap: str | None
    landlock: int
    new_proc: bool = True
    needed: tuple[str, ...] = ()
    remark: str = ""

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The outer one first."""
        layers: list[Layer] = ["bubblewrap"] if self.bubblewrap else []
        return (*layers, "landlock") if self.landlock else tuple(layers)

    async def run(self, command: Command, on_output: Callable[[bytes], None]) -> Ended:
        if command.own:
            return await self.processes.run(command, on_output)
        cwd = os.path.realpath(command.cwd)
        if not within(cwd, (*self.wish.folders, *map(os.path.realpath, command.lent))):
            return Ended(
                None, None, 0.0, error=f"in a sandbox it cannot start in {cwd}, outside the workspace; --add-dir adds it"
            )
        special = self.guarded()
        made: list[str] = []
        try:
            ended = await self.processes.run(self.confined(command, special), on_output)
        finally:
            made += [path for path in special.absent if remove(Path(path))]
        if not made:
            return ended
        left = [path for path in made if os.path.lexists(path)]
        done = f"{', '.join(left)} could not be removed, do it by hand" if left else "it was removed"
        return replace(ended, error=f"it made {', '.join(made)}, which decides how git or Ferrule works; {done}")

    def confined(self, command: Command, special: Guarded) -> Command:
        """The command with its wrapper."""
        lent = tuple(os.path.realpath(folder) for folder in command.lent)
        wrapper, env = self._wrapper(special, lent), self._environment(command.env)
        return replace(command, cwd=os.path.realpath(command.cwd), env=env, wrapper=wrapper)

    async def close(self) -> None:
        """May be called again."""
        await self.processes.close()
        self.scratch.close()

    def guarded(self) -> Guarded:
        """As the workspace is now."""
        return reduce(Guarded.and_also, (guarded(folder) for folder in self.wish.folders))

    def _environment(self, env: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
        """The person's temporary folder is not that of the commands."""
        kept = tuple((name, value) for name, value in env if name not in TEMPORARY_NAMES)
        return kept if self.bubblewrap else (*kept, ("TMPDIR", self.scratch.path))

    def _wrapper(self, special: Guarded, lent: tuple[str, ...]) -> tuple[str, ...]:
        folders = () if self.wish.read_only else (*self.wish.folders, *special.writable)
        if self.bubblewrap is None:
            writable = (*folders, *lent, self.scratch.path, "/dev/null", "/dev/zero", "/dev/full")
            return self._program(BECOME, writable, tcp=self.wish.network)
        mounts = [*layout(self.wish, self.scratch.path, self.needed), *self._special(special), *bound("--bind", lent)]
        own = [mount.at for mount in mounts if mount.how == "--tmpfs"]
        inside = self._program(WATCH, (*folders, *lent, *own, "/tmp", "/dev", "/proc"), tcp=True)
        return (self.bubblewrap, *arguments(self.wish, mounts, self.new_proc), "--", *inside)

    def _special(self, special: Guarded) -> list[Mount]:
        """A mount on itself can be neither moved nor removed."""
        how: Literal["--bind", "--ro-bind"] = "--ro-bind" if self.wish.read_only else "--bind"
        return [*bound(how, special.writable), *bound("--ro-bind", special.fixed)]

    def _program(self, how: str, writable: tuple[str, ...], tcp: bool) -> tuple[str, ...]:
        compiled = ("-X", f"pycache_prefix={sys.pycache_prefix}") if sys.pycache_prefix else ()
        words = (how, str(self.landlock), "tcp" if tcp else "no-tcp", *writable)
        return (PYTHON, "-I", "-S", "-E", "-B", *compiled, str(PROGRAM), *words)
