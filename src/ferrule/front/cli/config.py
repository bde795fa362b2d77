"""`ferrule config show`."""

from collections.abc import Mapping

import msgspec

from ferrule.task.config.layers import Flag, load
from ferrule.task.config.show import lines, rows

from .arguments import Invocation
from .show.output import deliver, standard_error
from .show.terminal import clean


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
