"""Vectors of texts, from a server that speaks OpenAI's embeddings dialect. Only where one is configured."""

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

BATCH = 64
"""Texts of one request."""
LONGEST = 6_000
"""Characters of one text."""
TIMEOUT = 60.0


class Unavailable(Exception):
    """No vectors came; the text says why, without any secret."""


class Embeddings(Struct, frozen=True):
    """Where to ask: `url` ends before `/embeddings`. `key` is a secret."""

    url: str
    model: str
    key: str | None = None

    async def vectors(self, texts: Sequence[str]) -> list[list[float]]:
        """One for each text, in order. Raises Unavailable."""
        import httpx2

        headers: Mapping[str, str] = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        body = {"model": self.model, "input": [text[:LONGEST] or " " for text in texts]}
        try:
            async with httpx2.AsyncClient(timeout=TIMEOUT) as client:
                answer = await client.post(f"{self.url}/embeddings", json=body, headers=headers)
        except httpx2.HTTPError as problem:
            raise Unavailable(f"{self.url} cannot be asked for embeddings ({type(problem).__name__})") from problem
        if answer.status_code != 200:
            raise Unavailable(f"{self.url} answered a request for embeddings with status {answer.status_code}")
        return _read(answer.content, len(texts), self.url)


class _Item(Struct):
    embedding: list[float]
    index: int


class _Answer(Struct):
    data: list[_Item]


def _read(content: bytes, wanted: int, url: str) -> list[list[float]]:
    try:
        items = sorted(msgspec.json.decode(content, type=_Answer).data, key=lambda item: item.index)
    except msgspec.DecodeError as problem:
        raise Unavailable(f"{url} answered with something else than embeddings") from problem
    if [item.index for item in items] != list(range(wanted)):
        raise Unavailable(f"{url} gave {len(items)} embeddings for {wanted} texts")
    return [item.embedding for item in items]
