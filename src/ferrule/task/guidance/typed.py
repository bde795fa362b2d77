"""`/name arguments` at the beginning of what the person typed."""

import re
from typing import NamedTuple

from ferrule.types.errors import UsageError

from .arguments import substitute
from .gathering import Guidance
from .reading import Unusable
from .shelf import Item, body
from .telling import invoked

TYPED = re.compile(r"\s*/([A-Za-z0-9][A-Za-z0-9_.-]*)(?:\s+(.*))?\Z", re.DOTALL)
MOST = 128_000
"""Bytes of a command's text."""


class Typed(NamedTuple):
    """What the task is told, and a remark for the person, empty where there is none."""

    prompt: str
    remark: str = ""


def expanded(prompt: str, guidance: Guidance) -> Typed:
    """What was typed stays, and the text of the command or skill follows it. What is no command of ours stays as it is.

    Raises UsageError where its file cannot be read.
    """
    found = TYPED.match(prompt)
    if found is None:
        return Typed(prompt)
    name, written = found[1], found[2] or ""
    item = find(name, guidance)
    if item is None:
        return Typed(prompt, _unknown(name, guidance))
    try:
        return Typed(f"{prompt}\n\n{text_of(item, written, guidance)}")
    except Unusable as problem:
        raise UsageError(f"/{name}: {guidance.where.shown(item.file)} {problem}") from problem


def find(name: str, guidance: Guidance) -> Item | None:
    """A command, else the skill of that name."""
    return guidance.named("commands").get(name) or guidance.named("skills").get(name)


def text_of(item: Item, written: str, guidance: Guidance) -> str:
    """Raises Unusable."""
    text, cut = body(item, MOST)
    if cut:
        text += f"\n[cut: only its first {MOST} bytes are here]"
    return invoked(item, substitute(text, written), guidance.where)


def _unknown(name: str, guidance: Guidance) -> str:
    from difflib import get_close_matches

    names = [*guidance.named("commands"), *guidance.named("skills")]
    near = get_close_matches(name, names, 1, 0.6)
    meant = f" Did you mean /{near[0]}?" if near else ""
    return f"There is no command /{name}, so the prompt is taken as it stands.{meant}"
