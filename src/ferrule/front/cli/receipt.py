"""`ferrule receipt verify FILE [--journal EXPORT]`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from ferrule.task.receipts.check import Checked, CheckedFile, Verification, as_json, verify_receipt
from ferrule.task.receipts.file import read_receipt

from .arguments import Invocation
from .show.output import deliver
from .show.terminal import clean, one_line

WIDTH = 160
NAMES = 16
LIMIT = (
    "This compares the receipt with the journal. It does not protect against somebody who can rewrite the journal:\n"
    "they can also write a receipt that fits it."
)
VERDICTS = {
    "ok": "everything matches",
    "differs": "something differs",
    "not verifiable": "not verifiable",
}


def verify(invocation: Invocation, environ: Mapping[str, str]) -> int:
    """Exit code 0: all matches; 1: something differs; 8: nothing differs, but not everything can be verified.

    Raises UsageError where the file is no receipt or the export no export.
    """
    verification = verify_receipt(read_receipt(Path(invocation.words[0])), environ, invocation.journal)
    if invocation.output_format == "json":
        return deliver(as_json(verification), verification.exit_code)
    return deliver(report(verification), verification.exit_code)


def report(verification: Verification) -> str:
    """One line a field; a field that differs in several parts has one more line for each."""
    source = "no journal" if verification.journal is None else verification.journal
    lines = [f"compared with {clean(source)}", *_checked(verification.chain)]
    lines += [line for field in verification.fields for line in _checked(field)]
    if verification.files:
        lines += ["", "files that the run changed, as they are now"]
        lines += [_file(file) for file in verification.files]
    verdict = f"{VERDICTS[verification.state]} (exit {verification.exit_code})"
    return "".join(f"{line}\n" for line in [*lines, "", verdict, LIMIT])


def _checked(field: Checked) -> list[str]:
    said = [f"{_at(field.name, each.at)}said {_shown(each.said)}, is {_shown(each.found)}" for each in field.differences]
    if field.why:
        said.append(one_line(field.why, WIDTH))
    state = field.state
    if state == "ok" and not field.recomputed:
        said.append("as recorded; nothing else tells it")
    first = f"  {field.name:<{NAMES}} {state}" + (f": {said[0]}" if said else "")
    return [first, *(f"  {'':<{NAMES}}   {each}" for each in said[1:])]


def _at(name: str, at: str) -> str:
    return "" if at == name else f"{clean(at)} "


def _shown(value: Any) -> str:
    return one_line(msgspec.json.encode(value).decode(), WIDTH)


def _file(file: CheckedFile) -> str:
    path = one_line(file.path, WIDTH)
    match file.state, file.said, file.found:
        case "ok", None, _:
            return f"  {path}: ok, it is gone as it was"
        case "ok", _, _:
            return f"  {path}: ok"
        case "not verifiable", _, _:
            return f"  {path}: not verifiable: {one_line(file.why, WIDTH)}"
        case _, said, None:
            return f"  {path}: is gone since the receipt (was {said})"
        case _, None, found:
            return f"  {path}: is there again since the receipt (is {found})"
        case _, said, found:
            return f"  {path}: has changed since the receipt (was {said}, is {found})"
