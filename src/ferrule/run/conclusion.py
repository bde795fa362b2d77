"""What an attempt leads to: the end of the run, or the next attempt."""

from enum import Enum, auto

from msgspec import Struct

from ferrule.types.outcome import Outcome
from ferrule.types.tools import End, GateResult, Question


class Conclusion(Struct, frozen=True):
    """What came of a run. `result` is the model's words or the sentence that says why there are none."""

    outcome: Outcome
    result: str
    gates: tuple[GateResult, ...] = ()
    question: Question | None = None
    error: str | None = None


class Next(Enum):
    AGAIN = auto()


Decision = Conclusion | Next
"""Of a step; None passes the result on to the next step."""


def accepted(ends: End) -> Conclusion:
    """What an ended task comes to; the check that it did not pass is named."""
    failed = next((gate for gate in ends.gates if not gate.passed), None)
    error = None if failed is None else f"The check {failed.gate} kept failing: {failed.detail}."
    return Conclusion(ends.outcome, ends.result, ends.gates, error=error)


def failed(outcome: Outcome, *sentences: str) -> Conclusion:
    said = " ".join(sentence for sentence in sentences if sentence)
    return Conclusion(outcome, said, error=said)
