"""Prints the table; exit 1 when a row is not reached. Names of rows as arguments pick some of them."""

import sys
from collections.abc import Callable, Mapping, Sequence

from . import blocks, chain, editing, finding, preflight, resuming, rows
from .rows import Row

Measure = Callable[[], Row | list[Row]]

ALWAYS: Sequence[Measure] = (
    rows.version,
    rows.one_turn,
    rows.per_turn,
    rows.big_write,
    rows.read_far,
    rows.repair,
    rows.review,
    rows.large_diff,
    resuming.resume_long,
    preflight.preflight,
    chain.build_request,
    chain.chain_events,
    blocks.block,
    editing.editing,
)
BY_NAME: Sequence[Measure] = (finding.finding,)
"""Measured only where their name is given: they take minutes."""

MEASURES: Mapping[str, Measure] = {measure.__name__: measure for measure in (*ALWAYS, *BY_NAME)}


def main() -> int:
    named = sys.argv[1:]
    if unknown := [name for name in named if name not in MEASURES]:
        sys.exit(f"bench: there is no row {', '.join(unknown)}; the rows are {', '.join(MEASURES)}")
    print("| row | measured | ratio | reach | |\n|---|---|---|---|---|")
    failed = False
    for measure in [MEASURES[name] for name in named] or ALWAYS:
        found = measure()
        for row in [found] if isinstance(found, Row) else found:
            failed |= not row.reached
            mark = "ok" if row.reached else "**MISSED**"
            print(f"| {row.name} | {row.figure} | {row.ratio} | {row.reach} | {mark} |", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
