"""The bytes that a command prints, as text."""

import codecs
import re

UNFINISHED = 65_536
"""Characters of an escape sequence without an end that are held back."""

ESCAPE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor movements
    r"|[\]P^_X][^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC, DCS, PM, APC, SOS: titles, links
    r"|[ -/]+[0-~]|[0-OQ-WYZ\\`-~])"
)
_OPEN_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[\]P^_X][^\x07\x1b]*\x1b?|[ -/]*)\Z")
_STRAY = re.compile("[\udc80-\udcff]")


class Decoder:
    """Bytes to text; bad bytes become U+FFFD and are counted in `bad`. No character or escape sequence is cut in two."""

    def __init__(self) -> None:
        self._utf8 = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._held = ""
        self.bad = 0

    def feed(self, data: bytes, final: bool = False) -> str:
        text = self._held + self._readable(self._utf8.decode(data, final))
        self._held = ""
        if "\x1b" in text and (opened := _OPEN_ESCAPE.search(text)):
            held = text[opened.start() :]
            if final:
                return text[: opened.start()]
            if len(held) < UNFINISHED:
                text, self._held = text[: opened.start()], held
        return text

    def _readable(self, text: str) -> str:
        try:
            text.encode()
            return text
        except UnicodeEncodeError:
            replaced, bad = _STRAY.subn("\N{REPLACEMENT CHARACTER}", text)
            self.bad += bad
            return replaced


def plain(text: str) -> str:
    """Without escape sequences, for who shows output while it comes."""
    return ESCAPE.sub("", text) if "\x1b" in text else text
