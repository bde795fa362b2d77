"""The chains of one task: what its model calls go through, one chain an endpoint."""

from collections.abc import Sequence

from ferrule.providers.base import Endpoint
from ferrule.stream.chain import Chain
from ferrule.stream.filter import Filter

from .catalog import FILTERS


class Chains:
    """Each chain is made when its endpoint is first asked, and remembers what it made of the conversation."""

    def __init__(self, filters: Sequence[Filter] = FILTERS) -> None:
        self._filters = filters
        self._chains: dict[Endpoint, Chain] = {}

    def of(self, endpoint: Endpoint) -> Chain:
        if endpoint not in self._chains:
            self._chains[endpoint] = Chain(self._filters, endpoint)
        return self._chains[endpoint]
