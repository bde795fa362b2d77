"""`docs/faults.md` from the table: `python -m tests.faults.document` writes it."""

from pathlib import Path

from tests.e2e.wire import DIALECTS

from .table import CELLS, FAULTS, Fault

PAGE = Path(__file__).parents[2] / "docs" / "faults.md"

RUNS = {None: "", 0: "never", 1: "once", 2: "both, once each"}
HEAD = """\
# What providers do wrong, and what Ferrule does then

Each row is one fault, played by a loopback server in the wire format of four vendors before the real command; the work that
follows is a command that makes a file, and the end. In every cell with a mark the same holds: **the work is done, the outcome is
`finished` and the exit code 0; no request that was sent breaks a rule of [wire-rules.md](wire-rules.md); and the command in the
fault is run as often as the last column says**, whole or not at all. A *lax* server takes back what the vendors refuse.

`tests/faults/test_every_fault.py` plays every marked cell. This page is written from the data of that test, and a test holds that
it is.
"""


def page() -> str:
    reasons: list[str] = []
    lines = [_row(fault, reasons) for fault in FAULTS]
    head = f"| fault | what the provider does | {' | '.join(DIALECTS)} | its command runs |"
    rule = "|---|---|" + "---|" * (len(DIALECTS) + 1)
    notes = "\n".join(f"{number}. {reason}" for number, reason in enumerate(reasons, 1))
    count = f"{len(FAULTS)} faults, {len(CELLS)} cells; a cell without a mark has its reason below.\n"
    return "\n".join((HEAD, count, head, rule, *lines, "", notes, ""))


def _row(fault: Fault, reasons: list[str]) -> str:
    cells = " | ".join(_cell(fault, dialect, reasons) for dialect in DIALECTS)
    return f"| {fault.name} | {fault.what} | {cells} | {RUNS[fault.runs]} |"


def _cell(fault: Fault, dialect: str, reasons: list[str]) -> str:
    mark = "—" if dialect in fault.without else "✔"
    reason = fault.without.get(dialect) or fault.own_way.get(dialect)
    if reason is None:
        return mark
    sentence = f"{dialect}: {reason}."
    if sentence not in reasons:
        reasons.append(sentence)
    return f"{mark} ({reasons.index(sentence) + 1})"


if __name__ == "__main__":
    PAGE.write_text(page())
