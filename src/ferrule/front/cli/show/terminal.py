"""What a terminal can show, and text that cannot harm it."""

import os
from collections.abc import Mapping
from typing import NamedTuple, TextIO

DIM, RED, GREEN, YELLOW, BOLD = "2", "31", "32", "33", "1"

_PLAIN = {
    "✓": "+",
    "✗": "x",
    "⊘": "!",
    "‖": "~",
    "↷": "-",
    "?": "?",
    "↻": "~",
    "⚒": "*",
    "…": "...",
    "·": "-",
    "●": "*",
    "›": ">",
}
_REORDERING = (0x200E, 0x200F, 0x061C, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_VISIBLE = (
    {code: chr(0x2400 + code) for code in range(0x20) if code not in (0x09, 0x0A)}
    | {0x7F: "\u2421"}
    | {code: f"\\x{code:02x}" for code in range(0x80, 0xA0)}
    | {code: f"\\u{code:04x}" for code in (*_REORDERING, 0x2028, 0x2029)}
)


def clean(text: str) -> str:
    """Text from elsewhere with everything that would steer a terminal made visible; line breaks and tabs stay."""
    return text.replace("\r\n", "\n").translate(_VISIBLE)


def one_line(text: str, width: int) -> str:
    """Cleaned text on one line, runs of white space folded, cut to `width` characters."""
    folded = " ".join(clean(text[: width * 8]).split())
    return folded if len(folded) <= width else folded[: max(width - 1, 0)] + "…"


class Look(NamedTuple):
    """`live`: lines may be redrawn in place. `width` in columns."""

    colour: bool = False
    live: bool = False
    width: int = 120
    symbols: bool = True

    def paint(self, text: str, style: str) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if self.colour and text else text

    def symbol(self, symbol: str) -> str:
        return symbol if self.symbols else _PLAIN.get(symbol, "?")


def look_of(stream: TextIO | None, environ: Mapping[str, str]) -> Look:
    """Colours and redrawing only on a real terminal; NO_COLOR (any value but empty) turns colours off."""
    if stream is None:
        return Look()
    symbols = (stream.encoding or "").lower().replace("-", "").startswith("utf")
    if not stream.isatty() or environ.get("TERM") == "dumb":
        return Look(symbols=symbols)
    try:
        width = os.get_terminal_size(stream.fileno()).columns
    except OSError:
        width = 80
    return Look(not environ.get("NO_COLOR"), True, max(width, 40), symbols)


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def duration(seconds: float) -> str:
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s"
