"""The words of a command line after quoting, braces and known variables: what a program would get, as far as that is certain."""

import re
from collections.abc import Iterable
from itertools import pairwise

from msgspec import Struct

MOST = 64
SPECIAL = frozenset("\\*?[](){},~!@+|")
GLOB = re.compile(r"[*?\[]|[!@+]\(")
ESCAPED = re.compile(r"\\(.)", re.DOTALL)


class Word(Struct, frozen=True):
    """One argument.

    `values` are all texts that it may have, None when that is not known. `exact`: it is one word with one known value.
    `glob`: the values are file name patterns. `many`: it may become no word or several.
    """

    text: str
    values: tuple[str, ...] | None
    exact: bool = True
    glob: bool = False
    many: bool = False

    @property
    def value(self) -> str | None:
        """The text, if it is certain."""
        return self.values[0] if self.exact and self.values else None


def known(text: str) -> Word:
    return Word(text, (text,))


def unknown(text: str, many: bool = False) -> Word:
    return Word(text, None, exact=False, many=many)


def number(text: str) -> Word:
    """A number that is not known: no path, whatever it is. `0` stands for it."""
    return Word(text, ("0",), exact=False)


def quoted(text: str) -> str:
    """`text` as a pattern in which no character is special."""
    return "".join("\\" + char if char in SPECIAL else char for char in text)


def plain(pattern: str) -> str:
    return ESCAPED.sub(r"\1", pattern)


def has_glob(pattern: str) -> bool:
    return bool(GLOB.search(ESCAPED.sub("", pattern)))


def joined(text: str, words: Iterable[Word | None]) -> Word | None:
    """A word that may be any of `words`; None as soon as one of them is not known."""
    values: list[str] = []
    glob = False
    for word in words:
        if word is None or word.values is None:
            return None
        values.extend(value for value in word.values if value not in values)
        glob = glob or word.glob
    return Word(text, tuple(values), exact=False, glob=glob) if len(values) <= MOST else None


class Builder:
    """Collects the pieces of one word. Pieces are patterns: quoted special characters carry a backslash."""

    def __init__(self, text: str, home: str) -> None:
        self.text = text
        self.home = home
        self.alternatives: list[str] | None = [""]
        self.exact = True
        self.many = False
        self.glob = False

    def literal(self, text: str) -> None:
        self.patterns((quoted(text),))

    def bare(self, raw: str) -> None:
        """Unquoted source text: a backslash quotes the next character, one before a newline vanishes."""
        self.patterns((raw.replace("\\\n", ""),))

    def patterns(self, patterns: tuple[str, ...]) -> None:
        if self.alternatives is None:
            return
        self.alternatives = [head + tail for head in self.alternatives for tail in patterns]
        if len(self.alternatives) > MOST:
            self.alternatives = None

    def expand(self, word: Word | None, in_quotes: bool) -> None:
        """The value of a variable or a substitution, None when nothing is known about it."""
        values = None if word is None else word.values
        splits = r"\s" if word is not None and word.glob else r"[\s*?\[]"
        if values is None or (not in_quotes and any(re.search(splits, value) for value in values)):
            self.alternatives = None
            self.exact = False
            self.many = self.many or not in_quotes
            return
        assert word is not None
        self.exact = self.exact and word.exact
        self.glob = self.glob or word.glob
        self.patterns(tuple(quoted(value) for value in values))

    def words(self) -> list[Word]:
        """The finished words: one, or several where braces multiply it."""
        if self.alternatives is None:
            return [unknown(self.text, self.many or bool(re.search(r"[{*?\[]", self.text)))]
        found: list[list[str]] = []
        for pattern in self.alternatives:
            expanded = braces(pattern)
            if expanded is None:
                return [unknown(self.text, many=True)]
            if any(pattern.startswith("~") and not re.match(r"~(?:/|$)", pattern) for pattern in expanded):
                return [unknown(self.text, many=True)]
            found.append([quoted(self.home) + each[1:] if each.startswith("~") else each for each in expanded])
        if len(found) == 1:
            return [self._word(found[0][at : at + 1]) for at in range(len(found[0]))]
        if all(len(each) == 1 for each in found):
            return [self._word([each[0] for each in found])]
        return [unknown(self.text, many=True)]

    def _word(self, patterns: list[str]) -> Word:
        glob = self.glob or any(has_glob(pattern) for pattern in patterns)
        values = tuple(plain(pattern) for pattern in patterns)
        exact = self.exact and len(values) == 1 and not glob
        return Word(values[0] if exact else self.text, values, exact=exact, glob=glob, many=glob)


def braces(pattern: str) -> list[str] | None:
    """Brace expansion of a pattern, None when it is too large or not a form that is certain."""
    if pattern.count("{") > MOST:
        return None
    results: list[str] = []
    pending = [pattern]
    while pending:
        if len(pending) + len(results) > MOST:
            return None
        current = pending.pop()
        split = _first_brace(current)
        if split is None:
            results.append(current)
            continue
        head, body, tail = split
        choices = _choices(body)
        if choices is None:
            return None
        pending.extend(head + choice + tail for choice in reversed(choices))
    return results


def _first_brace(pattern: str) -> tuple[str, str, str] | None:
    """The first group that bash would expand: one with a comma or `..` at its own level."""
    for start in _unescaped(pattern, "{"):
        depth = 0
        splits = False
        for at in _unescaped(pattern, "{},."):
            if at < start:
                continue
            char = pattern[at]
            depth += {"{": 1, "}": -1}.get(char, 0)
            if depth == 1 and (char == "," or pattern[at : at + 2] == ".."):
                splits = True
            if depth == 0:
                if splits:
                    return pattern[:start], pattern[start + 1 : at], pattern[at + 1 :]
                break
    return None


def _unescaped(pattern: str, chars: str) -> list[int]:
    found: list[int] = []
    at = 0
    while at < len(pattern):
        if pattern[at] == "\\":
            at += 2
            continue
        if pattern[at] in chars:
            found.append(at)
        at += 1
    return found


def _choices(body: str) -> list[str] | None:
    cuts: list[int] = []
    depth = 0
    for at in _unescaped(body, "{},"):
        depth += {"{": 1, "}": -1}.get(body[at], 0)
        if depth == 0 and body[at] == ",":
            cuts.append(at)
    if cuts:
        edges = [-1, *cuts, len(body)]
        return [body[a + 1 : b] for a, b in pairwise(edges)]
    span = re.fullmatch(r"(-?\d{1,6})\.\.(-?\d{1,6})", body)
    if span is None:
        return None
    first, last = int(span[1]), int(span[2])
    if abs(last - first) >= MOST or any(len(part.lstrip("-")) > 1 and part.lstrip("-")[0] == "0" for part in span.groups()):
        return None
    step = 1 if last >= first else -1
    return [str(each) for each in range(first, last + step, step)]


NAMED_ESCAPES = {
    "a": 7,
    "b": 8,
    "e": 27,
    "E": 27,
    "f": 12,
    "n": 10,
    "r": 13,
    "t": 9,
    "v": 11,
    "\\": 92,
    "'": 39,
    '"': 34,
    "?": 63,
}
ANSI_ESCAPE = re.compile(
    r"\\(?:([abeEfnrtv\\'\"?])|([0-7]{1,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|c(.))", re.DOTALL
)


def ansi_c(body: str) -> str | None:
    """The text of `$'body'`; None for escapes without a certain meaning."""
    out = bytearray()
    at = 0
    for match in ANSI_ESCAPE.finditer(body):
        out += body[at : match.start()].encode("utf-8", "surrogateescape")
        at = match.end()
        named, octal, hexadecimal, short, long, control = match.groups()
        if control is not None:
            return None
        if named:
            out.append(NAMED_ESCAPES[named])
        elif octal or hexadecimal:
            out.append((int(octal, 8) if octal else int(hexadecimal, 16)) & 255)
        else:
            code = int(short or long, 16)
            if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
                return None
            out += chr(code).encode()
    out += body[at:].encode("utf-8", "surrogateescape")
    return None if 0 in out else out.decode("utf-8", "surrogateescape")
