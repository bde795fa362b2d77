"""Fills `{{dotted.name}}` in Markdown templates: one pass, no logic, so that nothing inside a value is ever expanded."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PLACEHOLDER = re.compile(r"\{\{\s*([A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*)\s*\}\}")
PROMPT = Path(__file__).parent / "prompt"


def render(template: str, values: Mapping[str, Any]) -> str:
    """Each step of a name is a key of a mapping, else an attribute. Lists are joined by commas; None is nothing.

    Raises KeyError for a name that the values do not have: a template that asks for what nobody gives is a bug.
    """
    return PLACEHOLDER.sub(lambda match: _text(_find(values, match[1])), template)


def template(name: str) -> str:
    return (PROMPT / f"{name}.md").read_text("utf-8").strip()


def _find(values: Any, name: str) -> Any:
    found = values
    for step in name.split("."):
        if isinstance(found, Mapping):
            if step not in found:
                raise KeyError(name)
            found = found[step]
        elif hasattr(found, step):
            found = getattr(found, step)
        else:
            raise KeyError(name)
    return found


def _text(value: Any) -> str:
    match value:
        case None:
            return ""
        case list() | tuple():
            return ", ".join(_text(item) for item in value)
        case _:
            return str(value)
