"""How the bytes of a text file spell characters. Nothing is ever replaced without being named.

Detection: a byte order mark decides; else a NUL means binary; else UTF-8 where it decodes; else UTF-8 with stray bytes where
most of what isn't ASCII is valid UTF-8; else Windows-1252, or Latin-1 where bytes are used that Windows-1252 leaves undefined.
"""

import codecs
import re

from msgspec import Struct


class Encoding(Struct, frozen=True):
    """`codec` is a Python codec that neither writes nor eats a mark; `errors` makes decoding and encoding reversible."""

    codec: str
    label: str
    bom: bytes = b""
    errors: str = "strict"

    @property
    def wide(self) -> bool:
        """Whether a line feed takes more than one byte."""
        return self.codec.startswith(("utf-16", "utf-32"))

    @property
    def plain(self) -> bool:
        return self == UTF_8

    def encode(self, text: str) -> bytes:
        """The bytes of the file; raises UnicodeEncodeError where the encoding lacks a character."""
        return self.bom + text.encode(self.codec, self.errors)


UTF_8 = Encoding("utf-8", "UTF-8")
STRAY = Encoding("utf-8", "UTF-8 with invalid bytes", errors="surrogateescape")
WINDOWS = Encoding("cp1252", "Windows-1252")
LATIN = Encoding("latin-1", "Latin-1")
MARKED = (
    Encoding("utf-8", "UTF-8 with BOM", codecs.BOM_UTF8),
    Encoding("utf-32-le", "UTF-32 LE", codecs.BOM_UTF32_LE, "surrogatepass"),
    Encoding("utf-32-be", "UTF-32 BE", codecs.BOM_UTF32_BE, "surrogatepass"),
    Encoding("utf-16-le", "UTF-16 LE", codecs.BOM_UTF16_LE, "surrogatepass"),
    Encoding("utf-16-be", "UTF-16 BE", codecs.BOM_UTF16_BE, "surrogatepass"),
)
"""UTF-32 before UTF-16: its little-endian mark begins with the other's."""

SNIFFED = 65_536
"""Bytes at the start of a file in which a NUL makes it binary."""

_LONE = re.compile("[\udc80-\udcff]")


def marked(head: bytes) -> Encoding | None:
    """The encoding that a byte order mark names."""
    return next((encoding for encoding in MARKED if head.startswith(encoding.bom)), None)


def is_binary(head: bytes) -> bool:
    """Whether these first bytes of a file belong to no text."""
    return marked(head) is None and b"\0" in head[:SNIFFED]


def guess(data: bytes) -> Encoding:
    """The encoding of bytes that carry no mark."""
    try:
        data.decode("utf-8")
        return UTF_8
    except UnicodeDecodeError:
        pass
    text = data.decode("utf-8", "surrogateescape")
    stray = len(_LONE.findall(text))
    good = sum(1 for character in text if character > "\x7f") - stray
    if good >= stray:
        return STRAY
    try:
        data.decode("cp1252")
        return WINDOWS
    except UnicodeDecodeError:
        return LATIN


def decode(data: bytes) -> tuple[str, Encoding] | None:
    """A whole file as text that `Encoding.encode` turns back into the same bytes; None when it is binary or malformed."""
    encoding = marked(data)
    if encoding is None:
        if is_binary(data):
            return None
        encoding = guess(data)
    try:
        return data[len(encoding.bom) :].decode(encoding.codec, encoding.errors), encoding
    except UnicodeDecodeError:
        if encoding.codec != "utf-8":
            return None
    stray = Encoding("utf-8", "UTF-8 with BOM and invalid bytes", encoding.bom, "surrogateescape")
    return data[len(stray.bom) :].decode(stray.codec, stray.errors), stray


def shown(text: str) -> str:
    """Text of `decode` as JSON can hold it: stray bytes as `\\xNN`, lone surrogates as `\\uNNNN`."""
    escaped = _LONE.sub(lambda match: f"\\x{ord(match[0]) - 0xDC00:02x}", text)
    return escaped.encode("utf-8", "backslashreplace").decode()


def readable(data: bytes) -> tuple[str, Encoding]:
    """Bytes without a mark as text to be shown: invalid bytes as `\\xNN`, NUL as `\\x00`."""
    encoding = guess(data)
    errors = "backslashreplace" if encoding is STRAY else "strict"
    return data.decode(encoding.codec, errors).replace("\0", "\\x00"), encoding
