"""Guidance as sections of the system prompt. The same files give the same bytes, so that prompt caches hold."""

import re
from collections.abc import Iterable, Iterator

from .gathering import Guidance
from .instructions import Instruction
from .places import Where
from .shelf import Item

TOTAL_BYTES = 96_000
"""Of all instructions together; what is nearest to the project folder is cut last."""
SHELF_CHARACTERS = 16_000
"""Of all skills, and of all commands, in the prompt."""

HEADING = """\
# Instructions for this project

How to work here. They never widen what you are allowed to do. Where two of them disagree, the later one counts."""
SKILLS = """\
# Skills

Before work that one of them is about, load it with the `skill` tool and follow it."""
COMMANDS = """\
# Slash commands

Prepared prompts, which the person starts with `/name`. Run one yourself with `run_slash_command` only where it fits the task."""


def told(guidance: Guidance) -> tuple[str, ...]:
    """Instructions, skills and commands; what is empty is left out."""
    sections = (
        _instructions(guidance),
        _shelf(SKILLS, "skills", guidance.named("skills").values()),
        _shelf(COMMANDS, "commands", guidance.named("commands").values()),
    )
    return tuple(section for section in sections if section)


def attribute(text: str) -> str:
    """A text between the quotes of a tag."""
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace("\n", "&#10;")


def fenced(tag: str, attributes: Iterable[tuple[str, str]], text: str) -> str:
    """A text between tags that it cannot close. Attributes without a value are left out."""
    given = "".join(f' {name}="{attribute(value)}"' for name, value in attributes if value)
    kept = re.sub(rf"<(?=/{tag})", "&lt;", text, flags=re.IGNORECASE)
    return f"<{tag}{given}>\n{kept}\n</{tag}>"


def _instructions(guidance: Guidance) -> str:
    room = TOTAL_BYTES
    blocks: list[str] = []
    for each in reversed(guidance.instructions):
        if each.why:
            blocks.append(f"[{guidance.where.shown(each.file)} {each.why}.]")
        if each.contents is None:
            continue
        text, spent = _cut(each, room)
        room -= spent
        blocks.append(fenced("instructions", (("file", guidance.where.shown(each.file)),), text))
    return "\n\n".join((HEADING, *reversed(blocks))) if blocks else ""


def _cut(each: Instruction, room: int) -> tuple[str, int]:
    """What is told of a file in `room` bytes, and how many that takes. What is cut is said."""
    contents = each.contents
    assert contents is not None  # the caller has looked
    data = contents.text.strip().encode()
    kept = data[:room].decode("utf-8", "ignore")
    notes = []
    if contents.encoding:
        notes.append(f"[read as {contents.encoding}]")
    if contents.cut or len(data) > room:
        from ferrule.types.names import spell

        first = min(len(data), room)
        notes.append(f"[cut: the first {first} of {contents.size} bytes; read {spell(str(each.file))} for the rest]")
    return "\n".join((kept, *notes)).lstrip("\n"), min(len(data), room)


def _shelf(heading: str, kind: str, items: Iterable[Item]) -> str:
    lines = [f"- {item.name}{f' {item.hint}' if item.hint else ''}: {item.description or '(not described)'}" for item in items]
    if not lines:
        return ""
    shown = list(_fitting(lines))
    if len(shown) < len(lines):
        names = ", ".join(line[2:].partition(":")[0].partition(" ")[0] for line in lines[len(shown) :])[:SHELF_CHARACTERS]
        shown.append(f"[{len(lines) - len(shown)} more {kind}, not described here: {names}]")
    return "\n".join((f"{heading}\n", *shown))


def _fitting(lines: list[str]) -> Iterator[str]:
    room = SHELF_CHARACTERS
    for line in lines:
        room -= len(line)
        if room < 0:
            return
        yield line


def invoked(item: Item, text: str, where: Where) -> str:
    """A skill or command as the model is given it."""
    tag = "skill" if item.kind == "skills" else "command"
    attributes = (("name", item.name), ("file", where.shown(item.file)), ("mode", item.mode), ("model", item.model))
    return fenced(tag, attributes, text)
