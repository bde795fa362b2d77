"""Finding a sandbox that works here, by running it."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ferrule.process.protocol import Command, Processes
from ferrule.types.errors import UsageError

from .find import find_bubblewraps
from .landlock import abi
from .mounts import SYSTEM, TEMPORARY, within
from .removing import remove
from .sandboxed import PYTHON, Sandboxed
from .scratch import Scratch
from .wish import Wish

PACKAGE = str(Path(__file__).parents[2])
RESOLVER = "/etc/resolv.conf"
HIDDEN = ("/run", "/var/run", TEMPORARY)
PATIENCE = 20.0
"""Seconds for one trial."""

TRIAL_INSIDE = '[ -d /tmp/trial ] && [ ! -w /etc ] && : >/tmp/trial/written && cd "$1"'
TRIAL_ALONE = ': >"$TMPDIR/trial/written" && ! (: >"$TMPDIR.outside") 2>/dev/null && cd "$1"'

ALONE = (
    "Only Landlock confines the commands, for bubblewrap does not work here ({why}). They write nothing outside the workspace, "
    "but the network is not isolated: TCP is {tcp}, UDP and Unix sockets outside are reached. Nor are the hooks and the "
    "configuration of git and Ferrule in the workspace protected."
)
CHANGEABLE = "Ferrule is installed in the workspace, so commands can change what it does at its next start."
OLD_PROC = "No /proc of its own can be mounted here, so sandboxed commands see the names of the processes outside."
TO_GO_ON = "Use --sandbox off if commands may run unconfined."


async def open_sandbox(wish: Wish, processes: Processes, bubblewraps: Sequence[str] | None = None) -> Sandboxed:
    """The strongest sandbox of this mode that a trial run shows to work. Closing it closes `processes`.

    `bubblewraps` are programs to try, by default those that are found. UsageError where there is none, or no sense in the wish.
    """
    if sys.platform != "linux":
        raise UsageError(f"There is no sandbox on {sys.platform}. {TO_GO_ON}")
    prefixes = (sys.base_prefix, str(Path(PYTHON).parents[1]), sys.prefix)
    needed = tuple(dict.fromkeys((*prefixes, PACKAGE, *_resolver(wish))))
    check(wish, needed)
    programs = find_bubblewraps(os.environ.get("PATH")) if bubblewraps is None else bubblewraps
    scratch = Scratch()
    why = ["no program was found"] if not programs else []
    try:
        for candidate in _candidates(wish, Sandboxed(processes, wish, scratch, None, abi(), needed=needed), programs, why):
            complaint = await _tried(candidate)
            if complaint is None:
                return replace(candidate, remark=" ".join(filter(None, (candidate.remark, _changeable(wish)))))
            why.append(complaint)
    except BaseException:
        scratch.close()
        raise
    scratch.close()
    raise UsageError(_refusal(wish, why))


def check(wish: Wish, needed: Iterable[str] = ()) -> None:
    """Raises UsageError for a workspace that cannot be confined."""
    if "/" in wish.folders:
        raise UsageError("With a sandbox the workspace cannot be the whole machine; choose a folder with -C DIR.")
    if wish.mode == "workspace":
        return
    hidden = [os.path.realpath(place) for place in (*HIDDEN, wish.home) if place]
    for folder in wish.folders:
        for place in (*hidden, *SYSTEM):
            if within(place, (folder,)):
                raise UsageError(
                    f"--sandbox strict cannot let commands write {folder}, which holds {place}; choose a folder below."
                )
    for folder in needed:
        for place in hidden:
            if within(place, (folder,)):
                raise UsageError(f"--sandbox strict cannot hide {place}: Ferrule's own programs are installed in {folder}.")


def _resolver(wish: Wish) -> tuple[str, ...]:
    """Where names are resolved, which is often a link to below /run."""
    real = Path(RESOLVER).resolve()
    return (str(real),) if wish.network and real.exists() else ()


def _changeable(wish: Wish) -> str:
    own = (sys.base_prefix, sys.prefix, PACKAGE)
    return CHANGEABLE if not wish.read_only and any(within(path, wish.folders) for path in own) else ""


def _candidates(wish: Wish, alone: Sandboxed, programs: Sequence[str], why: list[str]) -> Iterator[Sandboxed]:
    """From the strongest down. `why` holds the complaints about those before."""
    for program in programs:
        yield replace(alone, bubblewrap=program)
        if wish.mode == "workspace" and "proc" in why[-1]:
            yield replace(alone, bubblewrap=program, new_proc=False, remark=OLD_PROC)
    if wish.mode == "workspace" and alone.landlock:
        tcp = "open" if wish.network else "refused" if alone.landlock >= 4 else "open, too"
        yield replace(alone, remark=ALONE.format(why="; ".join(why), tcp=tcp))


async def _tried(candidate: Sandboxed) -> str | None:
    """Why it does not work; None when a command ran in it, wrote where it may and was kept from writing elsewhere."""
    folder = candidate.wish.folders[0]
    scratch = Path(candidate.scratch.path)
    (scratch / "trial").mkdir(exist_ok=True)
    script = TRIAL_INSIDE if candidate.bubblewrap else TRIAL_ALONE
    printed: list[bytes] = []
    command = Command(("/bin/sh", "-c", script, "trial", folder), folder, (("PATH", "/usr/bin:/bin"),), PATIENCE)
    ended = await candidate.processes.run(candidate.confined(command, candidate.guarded()), printed.append)
    written = (scratch / "trial" / "written").exists()
    remove(scratch.with_name(f"{scratch.name}.outside"))
    remove(scratch / "trial")
    if ended.exit_code == 0 and written:
        return None
    said = b"".join(printed).decode(errors="replace").strip()
    return ended.error or said or ("it took too long" if ended.timed_out else "it does not confine")


def _refusal(wish: Wish, why: Sequence[str]) -> str:
    reasons = "; ".join(dict.fromkeys(why))
    if wish.mode == "strict":
        weaker = "--sandbox workspace can do with Landlock alone. " if abi() else ""
        return f"--sandbox strict needs bubblewrap, which does not work here: {reasons}. {weaker}{TO_GO_ON}"
    return f"No sandbox works here, neither bubblewrap nor Landlock: {reasons}. {TO_GO_ON}"
