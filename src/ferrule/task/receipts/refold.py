"""A receipt once more, from the records that it stands for."""

from typing import NamedTuple

from ferrule.store.chain import Flaw, read_record
from ferrule.task.sessions.stored import Stored, checked
from ferrule.types.errors import StoreError
from ferrule.types.outcome import Outcome
from ferrule.types.records import Receipt, Record, RunEnded, SessionOpened

from .evidence import Evidence

EMPTY = "0" * 64
BY_AN_ACT = frozenset({Outcome.FINISHED, Outcome.UNVERIFIED, Outcome.ABORTED})


class Again(NamedTuple):
    """`record` holds the receipt as the journal has it, `receipt` what its run's records come to.

    What no other record tells (outcome, limits, variables, sandbox) is taken from the record; `doubt` says why its outcome is not
    to be believed, empty where it is.
    """

    record: Record
    receipt: Receipt
    doubt: str = ""


class Refolded(NamedTuple):
    """What a journal says about one receipt. `flaw` is its first damaged record, `unreadable` why this version cannot go on.

    `last` is the number of its last good record; `again` is None where the receipt's record is not among the good ones.
    """

    folder: str
    last: int
    again: Again | None
    flaw: Flaw | None = None
    unreadable: str = ""


def refold(stored: Stored, seq: int, hash: str) -> Refolded:
    """The receipt with this hash, else the one with this number; the whole chain is checked, what follows included."""
    branches: dict[str, Evidence] = {}
    heads: dict[str, str] = {}
    folder, last = "", 0
    found: Again | None = None
    try:
        for row in checked(stored):
            if isinstance(row, Flaw):
                return Refolded(folder, last, found, row)
            record = read_record(row)
            last = record.seq
            evidence = branches.setdefault(record.branch, Evidence())
            match record.entry:
                case SessionOpened() as opened:
                    folder = opened.folder
                case Receipt() as receipt if hash == record.hash or (seq == record.seq and found is None):
                    found = _again(record, receipt, evidence, heads.get(record.branch, EMPTY))
                case RunEnded() as ended if found is not None and record.seq == found.record.seq + 1:
                    if ended.outcome is not found.receipt.outcome:
                        found = found._replace(doubt=f"the run's own record says {ended.outcome}")
                case _:
                    pass
            evidence.replay(record)
            heads[record.branch] = record.hash
    except StoreError as error:
        return Refolded(folder, last, found, unreadable=str(error))
    if found is not None and found.record.seq == last:
        found = found._replace(doubt="the record of the run's end, which was stored with it, is missing")
    return Refolded(folder, last, found)


def _again(record: Record, said: Receipt, evidence: Evidence, head: str) -> Again:
    receipt = evidence.receipt(said.outcome, said.limits, said.environment, head, said.sandbox)
    doubt = ""
    if said.outcome in BY_AN_ACT and receipt.terminal_action is None:
        doubt = "no accepted terminal action of the run has this outcome"
    return Again(record, receipt, doubt)
