"""How long to wait before a failed model call is made again. Pure; the jitter is handed in."""

from ferrule.types.fault import Fault

BASE_SECONDS = 0.5
LONGEST_SECONDS = 30.0
LONGEST_RETRY_AFTER = 120.0


def too_long(fault: Fault) -> str:
    """Why waiting makes no sense, in words; empty where it does. More than two minutes would look like hanging."""
    if fault.code == "quota":
        return "Waiting does not help soon."
    if fault.retry_after is not None and fault.retry_after > LONGEST_RETRY_AFTER:
        return f"It asks to wait {fault.retry_after:.0f} seconds."
    return ""


def next_delay(fault: Fault, failures: int, jitter: float) -> float:
    """Seconds until the next try; `failures` counts the tries in a row, 1 the first time. `jitter` is from 0 to 1."""
    if fault.retry_after is not None:
        return fault.retry_after + 0.1 * jitter
    return min(BASE_SECONDS * 2.0 ** (failures - 1), LONGEST_SECONDS) * (0.75 + 0.5 * jitter)
