"""`ferrule config show`, `trust` and `untrust`."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from ferrule.front.cli.arguments import Invocation
from ferrule.front.cli.show.output import deliver, standard_error
from ferrule.front.cli.show.terminal import clean
from ferrule.task.config.layers import Flag, load, user_file
from ferrule.task.config.show import lines, rows


def config(invocation: Invocation, environ: Mapping[str, str]) -> int:
    if invocation.action == "show":
        return show_config(invocation, environ)
    return _trust(invocation, environ)


def _trust(invocation: Invocation, environ: Mapping[str, str]) -> int:
    """Whether the project's settings, hooks, servers, skills and commands count from now on."""
    from ferrule.task.config.trusting import trust, untrust
    from ferrule.types.errors import UsageError

    folder = (invocation.folder / Path(*invocation.words).expanduser()).resolve()
    add = invocation.action == "trust"
    if add and not folder.is_dir():
        raise UsageError(f"{folder} is not a folder")
    changed = (trust if add else untrust)(folder, environ)
    state = "trusted" if add else "not trusted"
    said = f"{folder} is {state} {'now' if changed else 'already'} ({user_file(environ)})"
    return deliver(f"{clean(said)}\n")


def show_config(invocation: Invocation, environ: Mapping[str, str]) -> int:
    """Each setting, its value and where it comes from."""
    loaded = load(invocation.folder, environ, [Flag(*given) for given in invocation.settings])
    if invocation.output_format == "json":
        shown = {"settings": rows(loaded), "files": loaded.files, "notes": loaded.notes}
        return deliver(msgspec.json.encode(shown) + b"\n")
    code = deliver("".join(f"{clean(line)}\n" for line in lines(loaded)))
    for remark in loaded.notes:
        standard_error().text(f"ferrule: {clean(remark)}\n")
    return code
