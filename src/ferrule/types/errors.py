"""The exceptions that cross a layer.

FerruleError
├── UsageError          a wrong command line, configuration or argument of the caller; exit 2
├── StoreError          the journal, the index or a blob cannot be read or written
│   ├── LeaseHeld       another writer has the session open
│   └── LeaseLost       this writer was superseded and may not write any more
├── Interrupted         the person or a signal asked to stop
└── ToolError           a tool cannot do what was asked; its text is the result that the model sees
    └── Hidden          an ignore file keeps tools away from the path

What a provider does wrong is not an exception but a `Fault`.
"""

from .outcome import Outcome


class FerruleError(Exception):
    """An expected failure with a sentence for the person."""

    outcome = Outcome.FAILED
    retryable = False


class UsageError(FerruleError):
    """What the caller wrote is wrong. The text says what, where, and what would be right."""

    outcome = Outcome.USAGE_ERROR


class StoreError(FerruleError):
    """The session cannot be read or written. `reply` is the model's answer that could not be stored because of it."""

    reply = ""


class LeaseHeld(StoreError):
    """Somebody else is writing this session."""

    outcome = Outcome.UNAVAILABLE
    retryable = True


class LeaseLost(StoreError):
    """Another writer took the session over; nothing more can be stored by this one."""


class Interrupted(FerruleError):
    """The run was asked to stop."""

    outcome = Outcome.INTERRUPTED


class ToolError(FerruleError):
    """A tool refuses its arguments or cannot do the work; the text tells the model what to do instead."""


class Hidden(ToolError):
    """An ignore file keeps tools away from `path`; the text names the file and its pattern."""

    def __init__(self, text: str, path: str) -> None:
        super().__init__(text)
        self.path = path
