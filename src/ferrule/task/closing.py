"""Giving everything back: in reverse, all of it, whatever fails on the way."""

from collections.abc import Awaitable, Callable, Sequence

Closer = Callable[[], Awaitable[None]]


async def close_all(closers: Sequence[Closer], primary: BaseException | None = None) -> None:
    """Await every closer, the last one first. What they raise is attached to `primary`, the error on its way out, as notes.

    Raises ExceptionGroup of all that failed where there is no primary error.
    """
    errors: list[Exception] = []
    for closer in reversed(closers):
        try:
            await closer()
        except Exception as failure:
            errors.append(failure)
    if not errors:
        return
    if primary is None:
        raise ExceptionGroup("closing the task", errors)
    for each in errors:
        primary.add_note(f"and while closing: {type(each).__name__}: {each}")
