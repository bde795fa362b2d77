"""The YAML between two lines `---` at the beginning of a Markdown file."""

import re

from .reading import Unusable

PLAIN = re.compile(r"([A-Za-z][\w-]*):[ \t]*(.*)")
EDGES = re.compile(r"---[ \t]*\Z"), re.compile(r"(?:---|\.\.\.)[ \t]*\Z")


def divide(text: str) -> tuple[dict[str, str | tuple[str, ...]], str]:
    """The fields, each one a text or several, and what follows them. No value is anything but text, whatever it looks like.

    `argument-hint: [one] [two]` and `description: Use it when: …` are no YAML, but common: where every line is `name: value`,
    the values are taken as they stand. Raises Unusable for everything else that is no YAML.
    """
    lines = text.splitlines()
    if not lines or not EDGES[0].match(lines[0]):
        return {}, text
    end = next((number for number, line in enumerate(lines[1:], 1) if EDGES[1].match(line)), None)
    if end is None:
        raise Unusable("begins with frontmatter that does not end: a line `---` is missing")
    return _fields(lines[1:end]), "\n".join(lines[end + 1 :]).strip("\n")


def text_of(fields: dict[str, str | tuple[str, ...]], name: str) -> str:
    """A field in one line, empty where it is missing. A list is written as YAML writes one, for `argument-hint: [file]`."""
    value = fields.get(name, "")
    return " ".join((value if isinstance(value, str) else f"[{', '.join(value)}]").split())


def _fields(lines: list[str]) -> dict[str, str | tuple[str, ...]]:
    import yaml

    try:
        loaded = yaml.load("\n".join(lines), Loader=yaml.BaseLoader)
    except yaml.YAMLError as error:
        plain = [PLAIN.fullmatch(line.rstrip()) for line in lines if line.strip()]
        if all(plain):
            return {match[1]: match[2] for match in plain if match}
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 2}" if mark else ""
        raise Unusable(f"has frontmatter that is no YAML{where}: {getattr(error, 'problem', None) or error}") from error
    except RecursionError as error:
        raise Unusable("has frontmatter that is nested too deeply") from error
    if not loaded:
        return {}
    if not isinstance(loaded, dict):
        raise Unusable("has frontmatter that is no table of `name: value`")
    return {str(name): _value(value) for name, value in loaded.items()}


def _value(value: object) -> str | tuple[str, ...]:
    """Tables below a field mean nothing to us."""
    if isinstance(value, list):
        return tuple(item for item in value if isinstance(item, str))
    return value if isinstance(value, str) else ""
