"""Who can be asked: models in the person's order, each with its keys, and who has to be left alone for a while."""

import math
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from ferrule.providers.base import Endpoint, Provider
from ferrule.types.fault import Fault, FaultCode
from ferrule.types.records import ModelChosen
from ferrule.types.request import Request
from ferrule.types.stream import StreamEvent

PAUSES = (60.0, 300.0, 1500.0, 3600.0)
"""Seconds that a candidate is left alone after its first, second … failure in a row."""
LEAST_PAUSE = 5.0
"""Also where a provider asks for less: two that do would be asked in turns without end."""
LONG_PAUSES = (5 * 3600.0, 10 * 3600.0, 20 * 3600.0, 24 * 3600.0)
LONG: frozenset[FaultCode] = frozenset({"billing", "quota"})
FOR_GOOD: frozenset[FaultCode] = frozenset({"auth_permanent", "model_not_found"})


@dataclass(frozen=True, eq=False)
class Candidate:
    """One model with one of its keys. `model` numbers the models, `key` the keys of this one, both from 1."""

    provider: Provider
    model: int = 1
    key: int = 1

    @property
    def chosen(self) -> ModelChosen:
        endpoint = self.provider.endpoint
        return ModelChosen(endpoint.asked or endpoint.name, endpoint.base_url)

    @property
    def name(self) -> str:
        return self.chosen.model if self.key == 1 else f"{self.chosen.model} with key {self.key}"


class Reduced:
    """A provider as if its model could say less and nobody knew its window."""

    def __init__(self, provider: Provider, most: int) -> None:
        self._provider = provider
        profile = replace(provider.endpoint.profile, max_output=most, window=None)
        self._endpoint = replace(provider.endpoint, profile=profile)

    @property
    def endpoint(self) -> Endpoint:
        return self._endpoint

    def stream(self, request: Request) -> AsyncIterator[StreamEvent]:
        return self._provider.stream(request)

    async def close(self) -> None:
        """Who opened the provider closes it."""


class Lineup:
    """Lives as long as its task; never empty. `clock` gives seconds from any beginning."""

    def __init__(self, candidates: Sequence[Candidate], clock: Callable[[], float] = time.monotonic) -> None:
        self.candidates = tuple(candidates)
        self._clock = clock
        self._until: dict[Candidate, float] = {}
        self._failures: dict[Candidate, int] = {}
        self.current = self.candidates[0]

    @property
    def provider(self) -> Provider:
        return self.current.provider

    def free(self, candidate: Candidate) -> bool:
        return self._until.get(candidate, -math.inf) <= self._clock()

    def begin(self) -> Candidate:
        """Choose for a run: the first that need not be left alone, else the one that is soonest free."""
        free = [each for each in self.candidates if self.free(each)]
        self.current = free[0] if free else min(self.candidates, key=lambda each: self._until[each])
        return self.current

    def other_key(self) -> Candidate | None:
        """The same model with another key that is free."""
        return self._first(lambda each: each.model == self.current.model)

    def other_model(self) -> Candidate | None:
        """Another model that is free, the first in the person's order."""
        return self._first(lambda each: each.model != self.current.model)

    def move(self, to: Candidate, fault: Fault) -> None:
        """Ask `to` from here on; who was asked is left alone for a time that depends on what it did and how often."""
        left = self.current
        self._failures[left] = self._failures.get(left, 0) + 1
        self._until[left] = self._clock() + pause(fault, self._failures[left])
        self.current = to

    def worked(self) -> None:
        self._failures.pop(self.current, None)
        self._until.pop(self.current, None)

    def _first(self, wanted: Callable[[Candidate], bool]) -> Candidate | None:
        return next((each for each in self.candidates if each != self.current and wanted(each) and self.free(each)), None)


def pause(fault: Fault, failures: int) -> float:
    """Seconds to leave a candidate alone after so many failures in a row."""
    if fault.code in FOR_GOOD:
        return math.inf
    series = LONG_PAUSES if fault.code in LONG else PAUSES
    usual = series[min(failures, len(series)) - 1]
    return usual if fault.retry_after is None else max(fault.retry_after, LEAST_PAUSE)
