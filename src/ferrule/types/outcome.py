"""How a run ended: the closed list of outcomes and their exit codes."""

from enum import StrEnum


class Outcome(StrEnum):
    FINISHED = "finished"
    FAILED = "failed"
    USAGE_ERROR = "usage_error"
    NEEDS_INPUT = "needs_input"
    LIMIT = "limit"
    STUCK = "stuck"
    REFUSED = "refused"
    INCOMPLETE = "incomplete"
    UNVERIFIED = "unverified"
    ABORTED = "aborted"
    UNAVAILABLE = "unavailable"
    INTERRUPTED = "interrupted"

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self]


EXIT_CODES: dict[Outcome, int] = {
    Outcome.FINISHED: 0,
    Outcome.FAILED: 1,
    Outcome.USAGE_ERROR: 2,
    Outcome.NEEDS_INPUT: 3,
    Outcome.LIMIT: 4,
    Outcome.STUCK: 5,
    Outcome.REFUSED: 6,
    Outcome.INCOMPLETE: 7,
    Outcome.UNVERIFIED: 8,
    Outcome.ABORTED: 9,
    Outcome.UNAVAILABLE: 75,
    Outcome.INTERRUPTED: 130,
}
