"""The sandbox of a task's commands: opened from the configuration, and told to the person, to the model and in the receipt."""

from dataclasses import dataclass
from pathlib import Path

from ferrule.process.protocol import Processes
from ferrule.task.config.schema import Sandbox
from ferrule.tools.base import Place
from ferrule.types.errors import UsageError


@dataclass(frozen=True)
class Confinement:
    """`processes` run the commands of tools and gates. The rest is empty without a sandbox.

    `kind` stands in the receipt; `section` is for the model; `remark` is for the person where something is weaker.
    """

    processes: Processes
    kind: str = ""
    section: str = ""
    remark: str = ""


async def confine(sandbox: Sandbox, place: Place, processes: Processes) -> Confinement:
    """Around `processes`, which it closes with itself. Raises UsageError where this machine cannot do it."""
    if sandbox.mode == "off":
        return Confinement(processes)
    from ferrule.process.sandbox.opening import open_sandbox
    from ferrule.process.sandbox.wish import Wish

    wish = Wish(
        mode=sandbox.mode,
        folders=tuple(str(folder) for folder in (place.root, *place.extra)),
        network=sandbox.network,
        read_only=sandbox.access == "read-only",
        show=tuple(_shown(text) for text in sandbox.show),
        home=str(Path.home()),
    )
    opened = await open_sandbox(wish, processes)
    network = "network" if sandbox.network else "no network"
    kind = f"{sandbox.mode} by {' and '.join(opened.layers)}, {sandbox.access}, {network}"
    return Confinement(opened, kind, _section(sandbox), opened.remark)


def _shown(text: str) -> str:
    try:
        return str(Path(text).expanduser().resolve(strict=True))
    except (OSError, RuntimeError) as error:
        raise UsageError(f"sandbox.show: {text} cannot be shown to commands; there is no such place") from error


def _section(sandbox: Sandbox) -> str:
    files = "They can write" if sandbox.access == "read-write" else "They can read, but not write,"
    rest = (
        "the rest of the machine is read-only"
        if sandbox.mode == "workspace"
        else "the home folder and most of the machine are hidden"
    )
    network = "" if sandbox.network else " They have no network."
    return (
        f"# Sandbox\n\nCommands run in a sandbox and start in the workspace only. {files} the workspace; {rest}. "
        f"/tmp is theirs alone.{network}"
    )
