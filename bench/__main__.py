"""Prints the table; exit 1 when a row is not reached. Names of rows as arguments pick some of them."""

import sys

from . import blocks, chain, editing, finding, preflight, resuming, rows
from .rows import Row

MODULES = (rows, resuming, preflight, chain, blocks, finding, editing)

ALL = (
    "version",
    "one_turn",
    "per_turn",
    "big_write",
    "read_far",
    "repair",
    "review",
    "large_diff",
    "resume_long",
    "preflight",
    "build_request",
    "chain_events",
    "block",
    "editing",
)


def main() -> int:
    chosen = sys.argv[1:] or ALL
    print("| row | measured | ratio | reach | |\n|---|---|---|---|---|")
    failed = False
    for name in chosen:
        found = next(getattr(module, name) for module in MODULES if hasattr(module, name))()
        for row in [found] if isinstance(found, Row) else found:
            failed |= not row.reached
            mark = "ok" if row.reached else "**MISSED**"
            print(f"| {row.name} | {row.figure} | {row.ratio} | {row.reach} | {mark} |", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
