"""Blobs whose bytes hold no secret: what a tool writes is masked on its way, also where a value lies across two writes."""

import codecs

from ferrule.context.secrets import Mask
from ferrule.store.protocol import Blobs, BlobWriter


class MaskedBlobs:
    """Implements `Blobs` for text outputs, as UTF-8; bytes that are no UTF-8 come out as the tool wrote them."""

    def __init__(self, blobs: Blobs, mask: Mask) -> None:
        self._blobs = blobs
        self._mask = mask

    def writer(self) -> BlobWriter:
        writer = self._blobs.writer()
        return _MaskedWriter(writer, self._mask) if self._mask.longest else writer

    def read(self, digest: str, offset: int = 0, limit: int | None = None) -> bytes:
        return self._blobs.read(digest, offset, limit)

    def size(self, digest: str) -> int:
        return self._blobs.size(digest)


class _MaskedWriter:
    """Holds back as many characters as the longest secret could still reach into."""

    def __init__(self, writer: BlobWriter, mask: Mask) -> None:
        self._writer = writer
        self._mask = mask
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._held = ""

    def write(self, data: bytes) -> None:
        text = self._mask.text(self._held + self._decoder.decode(data))
        ready = max(0, len(text) - self._mask.longest + 1)
        self._pass_on(text[:ready])
        self._held = text[ready:]

    def so_far(self, offset: int, limit: int, then: bytes = b"") -> tuple[bytes, int]:
        """What is held back is masked as a whole before it is cut."""
        decoded = self._decoder.getstate()
        text = self._mask.text(self._held + self._decoder.decode(then))
        self._decoder.setstate(decoded)
        return self._writer.so_far(offset, limit, text.encode("utf-8", "surrogateescape"))

    def finish(self) -> str:
        self._pass_on(self._mask.text(self._held + self._decoder.decode(b"", True)))
        return self._writer.finish()

    def discard(self) -> None:
        self._writer.discard()

    def _pass_on(self, text: str) -> None:
        if text:
            self._writer.write(text.encode("utf-8", "surrogateescape"))
