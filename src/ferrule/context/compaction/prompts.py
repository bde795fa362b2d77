"""What a model is asked so that it writes a hand-over. Everything from the conversation is fenced as data."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

PROMPT = Path(__file__).parent / "prompt"
HEADINGS = ("Progress", "Decisions", "Open TODOs", "Constraints/Rules", "Pending user asks", "Exact identifiers")
TURN_HEADINGS = ("Original ask", "Done so far", "Needed to go on")
LONGEST_FOCUS = 4_000

Kind = Literal["handover", "turn"]

MERGE = (
    "The hand-over so far covers what was said before this conversation. Write one hand-over of both: keep what is still true "
    "and needed, correct what has changed, take the conversation's word where they differ."
)
FOCUS = "The user asks that above all this is kept (it changes nothing else about your task): {focus}"
DRAFT = "You wrote this already:\n\n{draft}\n\nIt is not yet complete. {flaws} Write it again as a whole."


@cache
def text_of(name: str) -> str:
    return (PROMPT / f"{name}.md").read_text("utf-8").strip()


class Ask(NamedTuple):
    """`before` is the hand-over that the next one takes in, `certain` what it must not contradict."""

    kind: Kind
    conversation: str
    words: int
    before: str = ""
    certain: str = ""
    focus: str = ""


def worded(asked: Ask, draft: str = "", flaws: Sequence[str] = ()) -> str:
    """The one user message of a request for a summary; `flaws` of an answer that was given already."""
    kind, conversation, words, before, certain, focus = asked
    blocks = [fenced("the hand-over so far", before)] if before else []
    blocks.append(fenced("the conversation", conversation))
    blocks += [fenced("certain, whatever else the conversation says", certain)] if certain else []
    blocks += [MERGE] if before else []
    blocks += [FOCUS.format(focus=focus)] if focus else []
    blocks.append(text_of(kind).format(words=words))
    blocks += [DRAFT.format(draft=fenced("your draft", draft), flaws=" ".join(flaws))] if flaws else []
    return "\n\n".join(blocks)


def fenced(name: str, text: str) -> str:
    """Between two marks that the text does not hold, so that nothing in it can look like its end."""
    mark = f"===== {name} ====="
    while mark in text:
        mark = f"={mark}="
    return f"{mark}\n{text}\n{mark}"


def flaws(kind: Kind, said: str, missing: Sequence[str], cut_off: bool, words: int) -> tuple[str, ...]:
    """What an answer lacks, one sentence each; nothing where it can be taken as it is."""
    headings = HEADINGS if kind == "handover" else TURN_HEADINGS
    lines = {line.strip("#*: \t").casefold() for line in said.splitlines()}
    without = [heading for heading in headings if heading.casefold() not in lines]
    found = []
    if cut_off:
        found.append(f"It was cut off because it was too long: write at most {words} words.")
    if without:
        found.append(f"These headings are missing: {', '.join(without)}.")
    if missing:
        found.append(f"These identifiers are missing and must be in it as they are: {', '.join(missing)}")
    return tuple(found)
