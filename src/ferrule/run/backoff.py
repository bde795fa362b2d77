"""When a failed model call may be made again, and after how long. Pure; the jitter is handed in."""

from dataclasses import dataclass

from ferrule.types.fault import Fault

BASE_SECONDS = 0.5
LONGEST_SECONDS = 30.0
LONGEST_RETRY_AFTER = 120.0
PER_FAILURE = 6
PER_RUN = 32
IDLE_IN_A_ROW = 3


@dataclass(frozen=True)
class GiveUp:
    why: str


def next_delay(fault: Fault, failures: int, retries: int, idle: int, jitter: float) -> float | GiveUp:
    """Seconds until the next try.

    `failures` counts this fault's tries in a row (1 the first time), `retries` those of the whole run, `idle` the idle
    time-outs in a row, which each may have been billed. `jitter` is from 0 to 1. A provider that asks for a longer pause than
    two minutes is unavailable: waiting would look like hanging.
    """
    if not fault.retryable:
        return GiveUp("")
    if failures > PER_FAILURE or retries >= PER_RUN:
        return GiveUp(f"Tried {failures} times in a row.")
    if idle > IDLE_IN_A_ROW:
        return GiveUp(f"{idle} answers in a row stopped in the middle.")
    if fault.retry_after is not None:
        if fault.retry_after > LONGEST_RETRY_AFTER:
            return GiveUp(f"It asks to wait {fault.retry_after:.0f} seconds.")
        return fault.retry_after + 0.1 * jitter
    return min(BASE_SECONDS * 2.0 ** (failures - 1), LONGEST_SECONDS) * (0.75 + 0.5 * jitter)
