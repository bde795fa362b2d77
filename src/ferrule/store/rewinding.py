"""Which records of a branch the conversation consists of, where it went back to an earlier point, once or often."""

from bisect import bisect_right
from collections.abc import Sequence

from ferrule.types.records import Record, Undone


def in_force(records: Sequence[Record], to: int) -> list[Record]:
    """Those up to number `to` that no rewind took out, in order. `records` are of one branch, by their numbers.

    Read from the end: a rewind leads on at the record that it went back to, so that each record is looked at once at most, and
    going back to before a rewind takes that one back.
    """
    kept: list[Record] = []
    at = _last(records, to)
    while at >= 0:
        match records[at].entry:
            case Undone(conversation=True, to=earlier):
                at = min(_last(records, earlier), at - 1)
            case _:
                kept.append(records[at])
                at -= 1
    kept.reverse()
    return kept


def _last(records: Sequence[Record], seq: int) -> int:
    """The place of the last record up to number `seq`, -1 where there is none."""
    return bisect_right(records, seq, key=lambda record: record.seq) - 1
