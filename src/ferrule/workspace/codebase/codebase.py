"""Searching a project by what its code is about: by words, and by vectors as well where a server for them is configured."""

import asyncio
import math
import operator
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from heapq import nlargest
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from ferrule.workspace.encoding import decode

from .embedding import BATCH, Embeddings, Unavailable
from .store import Hit, Store
from .updating import Progress, content, update

PATIENCE = 20.0
"""Seconds of one call in which the index is brought up to date, and as many for its vectors."""
CANDIDATES = 100
"""Of each of both ways of searching."""
RANK = 60
"""Reciprocal rank fusion counts 1 / (RANK + rank) for each way in which something was found."""

Result = TypeVar("Result")


class Answer(Struct, frozen=True):
    """The best pieces, best first; `remark` says what may be missing."""

    hits: tuple[Hit, ...]
    progress: Progress
    remark: str = ""


class Codebase:
    """One for a session. `file` is where the index lies; it is opened at the first question."""

    def __init__(self, root: Path, file: Path, embeddings: Embeddings | None = None, patience: float = PATIENCE) -> None:
        self._root = root
        self._file = file
        self._embeddings = embeddings
        self._patience = patience
        self._thread = ThreadPoolExecutor(1, "codebase")
        self._store: Store | None = None
        self._one = asyncio.Lock()
        self._closed = False

    async def search(self, question: str, paths: Sequence[str], below: str, limit: int) -> Answer:
        """`paths` are all files that there are, `below` a folder with its slash or empty."""
        async with self._one:
            store = await self._opened()
            until = time.monotonic() + self._patience
            progress = await self._run(lambda: update(store, self._root, paths, until, lambda: self._closed))
            found = await self._run(lambda: store.search(question, below, max(limit, CANDIDATES)))
            if self._embeddings is None:
                return Answer(tuple(found[:limit]), progress)
            try:
                near, left = await self._near(self._embeddings, store, question, below)
            except Unavailable as problem:
                return Answer(tuple(found[:limit]), progress, f"Found by words alone: {problem}.")
            remark = "Some of it has no vectors yet; ask again for more." if left else ""
            return Answer(tuple(fused((found, near))[:limit]), progress, remark)

    async def close(self) -> None:
        self._closed = True
        if self._store is not None:
            await self._run(self._store.close)
        await asyncio.to_thread(self._thread.shutdown)

    async def _opened(self) -> Store:
        if self._store is None:
            self._store = await self._run(lambda: Store(self._file))
        return self._store

    async def _near(self, embeddings: Embeddings, store: Store, question: str, below: str) -> tuple[list[Hit], bool]:
        """Those whose vectors are nearest, and whether some have none."""
        until = time.monotonic() + self._patience
        await self._run(store.tidy)
        while missing := await self._run(lambda: store.without_vector(embeddings.model, BATCH)):
            if time.monotonic() > until:
                break
            texts = await self._run(lambda missing=missing: [shown(self._root, hit) or "" for _, hit in missing])  # type: ignore[misc]  # mypy sees no type in a default
            made = await embeddings.vectors(texts)
            pairs = [(hash, vector) for (hash, _), vector in zip(missing, made, strict=True)]
            await self._run(lambda pairs=pairs: store.put_vectors(embeddings.model, pairs))  # type: ignore[misc]  # as above
        (wanted,) = await embeddings.vectors([question])
        return await self._run(lambda: nearest(store.vectors(embeddings.model, below), wanted, CANDIDATES)), bool(missing)

    async def _run(self, work: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


def nearest(vectors: Iterable[tuple[Hit, Sequence[float]]], wanted: Sequence[float], limit: int) -> list[Hit]:
    """By the cosine of the angle between two vectors; those of another length are of another model and left out."""
    scored = ((_cosine(vector, wanted), hit) for hit, vector in vectors if len(vector) == len(wanted))
    return [hit for _, hit in nlargest(limit, scored, key=lambda pair: (pair[0], -pair[1].piece))]


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    length = math.sqrt(sum(map(operator.mul, one, one)) * sum(map(operator.mul, other, other)))
    return sum(map(operator.mul, one, other)) / length if length else 0.0


def fused(ways: Iterable[Sequence[Hit]]) -> list[Hit]:
    """Reciprocal rank fusion: what several ways found, or one found early, comes first."""
    scores: dict[Hit, float] = {}
    for found in ways:
        for rank, hit in enumerate(found, 1):
            scores[hit] = scores.get(hit, 0.0) + 1 / (RANK + rank)
    return sorted(scores, key=lambda hit: (-scores[hit], hit.path, hit.first))


def shown(root: Path, hit: Hit) -> str | None:
    """The lines of a piece as they are on disk; None where they are not there any more."""
    found = content(root, hit.path)
    decoded = decode(found[0]) if found else None
    if decoded is None:
        return None
    lines = decoded[0].replace("\r\n", "\n").split("\n")[hit.first - 1 : hit.last]
    return "\n".join(lines) or None
