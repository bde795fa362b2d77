"""Line endings and indentation of replacement text, made to fit the place where it goes."""

from collections.abc import Sequence
from math import gcd

ALIGNED = 5_000
"""Items of the shorter of two texts above which only their equal beginnings and ends are paired."""


def lines_of(text: str) -> list[tuple[str, str]]:
    """The lines of a text, each with its ending (`\\n`, `\\r\\n`, or empty at the end of the text). Joined, they are the text."""
    *ended, rest = text.split("\n")
    lines = [(line[:-1], "\r\n") if line.endswith("\r") else (line, "\n") for line in ended]
    return [*lines, (rest, "")] if rest else lines


def common_ending(text: str) -> str | None:
    """The ending that most lines have; None for a text without one."""
    crlf = text.count("\r\n")
    feeds = text.count("\n") - crlf
    if not crlf and not feeds:
        return None
    return "\r\n" if crlf > feeds else "\n"


def unfolded(text: str) -> str:
    """With every line ending as `\\n`."""
    return text.replace("\r\n", "\n")


def fit_endings(new: str, region: str, around: str) -> str:
    """`new`, written with `\\n` alone, with the endings of the text that it replaces.

    Lines that `new` shares with `region` keep their own ending; others get the most common one of the region, else of the file
    (`around`).
    """
    usual = common_ending(region) or common_ending(around) or "\n"
    if region.count("\n") == region.count(usual) and (usual == "\r\n" or "\r\n" not in region):
        return new.replace("\n", usual)
    old_lines, new_lines = lines_of(region), lines_of(new)
    kept = aligned([line for line, _ in old_lines], [line for line, _ in new_lines])
    fitted: list[str] = []
    for number, (line, ending) in enumerate(new_lines):
        own = old_lines[kept[number]][1] or usual if number in kept else usual
        fitted.append(line + (own if ending else ""))
    return "".join(fitted)


def aligned(old: Sequence[str], new: Sequence[str]) -> dict[int, int]:
    """Positions in `new` with those in `old` of the same items: at both ends, and where a comparison pairs them between."""
    head, tail = shared(old, new)
    pairs = {number: number for number in range(head)}
    pairs |= {len(new) - number: len(old) - number for number in range(1, tail + 1)}
    middle, other = old[head : len(old) - tail], new[head : len(new) - tail]
    if middle and other and min(len(middle), len(other)) <= ALIGNED:
        from difflib import SequenceMatcher

        for block in SequenceMatcher(None, middle, other, autojunk=False).get_matching_blocks():
            pairs |= {head + block.b + number: head + block.a + number for number in range(block.size)}
    return pairs


def shared(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How many items are equal at the start, and how many of the rest at the end."""
    most = min(len(old), len(new))
    head = 0
    while head < most and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < most - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return head, tail


def fit_indentation(old: Sequence[str], found: Sequence[str], new: Sequence[str]) -> list[str]:
    """`new` indented as the file does it, where `old` is what was searched for and `found` are the file's lines for it.

    Lines that `new` shares with `old` come back exactly as the file has them.
    """
    kept = aligned(old, new)
    known = {indent(a): indent(b) for a, b in reversed(list(zip(old, found, strict=True))) if a.strip()}
    fitted: list[str] = []
    for number, line in enumerate(new):
        fitted.append(found[kept[number]] if number in kept else _indented(line, known))
    return fitted


def indent(line: str) -> str:
    """The blanks at the start of a line."""
    return line[: len(line) - len(line.lstrip(" \t"))]


def _indented(line: str, known: dict[str, str]) -> str:
    own = indent(line)
    text = line[len(own) :]
    if not text or own in known:
        return known.get(own, "") + text if text else line
    below = [searched for searched in known if own.startswith(searched)]
    if below:
        base = max(below, key=len)
        return known[base] + _translated(own[len(base) :], known) + text
    above = min((searched for searched in known if searched.startswith(own)), key=len, default=None)
    if above is None:
        return line
    missing = _translated(above[len(own) :], known)
    return known[above].removesuffix(missing) + text


def _translated(extra: str, known: dict[str, str]) -> str:
    """Further indentation in the file's unit, where the pairs show that it is another one."""
    for searched, found in _units(known):
        if extra == searched * (len(extra) // len(searched)):
            return found * (len(extra) // len(searched))
    return extra


def _units(known: dict[str, str]) -> list[tuple[str, str]]:
    """What one step of the searched text's indentation is in the file's, the smallest first."""
    steps = {
        (deep[len(flat) :], known[deep][len(known[flat]) :])
        for flat in known
        for deep in known
        if deep != flat and deep.startswith(flat) and known[deep].startswith(known[flat])
    }
    if not any(step and deeper for step, deeper in steps):
        # One depth alone tells the unit only when one text has tabs where the other has spaces; else it's but shifted.
        steps = {pair for pair in known.items() if set(pair[0]) != set(pair[1])}
    return sorted({_reduced(step, deeper) for step, deeper in steps if step and deeper}, key=lambda unit: len(unit[0]))


def _reduced(searched: str, found: str) -> tuple[str, str]:
    """Eight spaces for two tabs are four for one."""
    if len(set(searched)) > 1 or len(set(found)) > 1:
        return searched, found
    common = gcd(len(searched), len(found))
    return searched[: len(searched) // common], found[: len(found) // common]
