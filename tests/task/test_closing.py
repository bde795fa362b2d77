"""Giving everything back when something went wrong, and when giving back goes wrong."""

import asyncio

import pytest

from ferrule.task.closing import Closer, close_all


def closers(done: list[str]) -> list[Closer]:
    def closer(name: str, failure: Exception | None) -> Closer:
        async def close() -> None:
            done.append(name)
            if failure is not None:
                raise failure

        return close

    return [closer("first", OSError("no space")), closer("second", None), closer("third", ValueError("odd"))]


def test_all_are_given_back_in_reverse_and_all_that_failed_is_told() -> None:
    done: list[str] = []
    with pytest.raises(ExceptionGroup) as raised:
        asyncio.run(close_all(closers(done)))
    assert done == ["third", "second", "first"]
    assert [repr(error) for error in raised.value.exceptions] == ["ValueError('odd')", "OSError('no space')"]


def test_the_error_on_its_way_out_stays_the_one_that_is_raised_and_has_the_others_as_notes() -> None:
    done: list[str] = []
    primary = RuntimeError("the model could not be asked")
    asyncio.run(close_all(closers(done), primary))
    assert done == ["third", "second", "first"]
    assert primary.__notes__ == ["and while closing: ValueError: odd", "and while closing: OSError: no space"]


def test_a_cancellation_takes_the_failures_along_too() -> None:
    done: list[str] = []
    primary = asyncio.CancelledError()
    asyncio.run(close_all(closers(done), primary))
    assert len(primary.__notes__) == 2
