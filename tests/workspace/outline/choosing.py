"""Which lines of a text are chosen around a line."""

from ferrule.workspace.outline import indentation, syntax
from ferrule.workspace.outline.base import Outline, Span, Wanted
from ferrule.workspace.outline.choose import Choice, choose


def outline(text: str, anchor: int, language: str | None = None) -> Outline:
    """By syntax when a language is given, else by indentation."""
    if language is None:
        return indentation.outline(text.removesuffix("\n").split("\n"), anchor)
    found = syntax.outline(text, language, anchor)
    assert found is not None
    return found


ALL = Wanted()


def chosen(text: str, anchor: int, language: str | None = None, wanted: Wanted = ALL) -> Choice:
    return choose(outline(text, anchor, language), text.removesuffix("\n").split("\n"), wanted)


def block(text: str, anchor: int, language: str | None = None, levels: int = 0, siblings: bool = False) -> tuple[int, int]:
    """The first and the last line, without header."""
    shown = chosen(text, anchor, language, Wanted(levels, siblings, header=False)).shown
    return shown.first, shown.last


def spans(*given: tuple[int, int]) -> tuple[Span, ...]:
    return tuple(Span(*each) for each in given)
