"""Tool parameters as a model sees them, and its arguments as a tool gets them."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct, structs

from ferrule.types.request import ToolSchema

from .base import Given, Tool

_KINDS = {
    "str": "a string",
    "string": "a string",
    "int": "a whole number",
    "integer": "a whole number",
    "float": "a number",
    "number": "a number",
    "bool": "true or false",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_SHOWN = 60


def schema(tool: Tool) -> ToolSchema:
    """The tool's JSON Schema as text: one closed object without references, optional fields never null; a foreign one as is."""
    if tool.foreign is not None:
        return ToolSchema(tool.name, tool.description, tool.foreign)
    raw = msgspec.json.schema(tool.params)
    parameters = _plain(raw, raw.get("$defs", {}))
    return ToolSchema(tool.name, tool.description, msgspec.json.encode(parameters).decode())


def parse(tool: Tool, arguments: str) -> Struct | str:
    """The parameters, or a sentence that names the wrong one and what was expected.

    Lenient where it can do no harm: a number, a boolean or a list written as a string is taken for what it spells, and null
    for an optional parameter is as if it were left out. `arguments` is JSON text.
    """
    try:
        given = msgspec.json.decode(arguments or "{}")
    except msgspec.DecodeError as problem:
        return f"The arguments of {tool.name} are not valid JSON: {problem}."
    except RecursionError:
        return f"The arguments of {tool.name} are nested too deeply."
    if not isinstance(given, dict):
        return f"The arguments of {tool.name} must be an object, got {_shown(given)}."
    if tool.foreign is not None:
        return Given(given)
    fields = {field.encode_name: field for field in structs.fields(tool.params)}
    if unknown := [name for name in given if name not in fields]:
        return _unknown(tool, unknown[0], {name: field.required for name, field in fields.items() if name not in given})
    nodes = _properties(tool.params)
    kinds = {name: _kinds(node) for name, node in nodes.items()}
    offered = {
        name: _lenient(value, kinds.get(name, ())) for name, value in given.items() if value is not None or fields[name].required
    }
    try:
        parsed: Struct = msgspec.convert(offered, tool.params)
    except msgspec.ValidationError as problem:
        return _explained(str(problem), offered, nodes)
    return parsed


def _plain(node: Any, definitions: Mapping[str, Any]) -> Any:
    """A schema node without titles, references and null."""
    if isinstance(node, list):
        return [_plain(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        target = definitions[node["$ref"].removeprefix("#/$defs/")]
        described = {key: value for key, value in node.items() if key == "description"}
        return _plain({**target, **described}, definitions)
    if "anyOf" in node:
        kinds = [kind for kind in node["anyOf"] if kind != {"type": "null"}]
        rest = {key: value for key, value in node.items() if key != "anyOf"}
        return _plain({**rest, **kinds[0]} if len(kinds) == 1 else {**rest, "anyOf": kinds}, definitions)
    plain: dict[str, Any] = {}
    for key, value in node.items():
        if key == "properties":
            plain[key] = {name: _plain(field, definitions) for name, field in value.items()}
        elif key not in ("title", "$defs") and not (key == "default" and value is None):
            plain[key] = _plain(value, definitions)
    if "enum" in plain and all(isinstance(choice, str) for choice in plain["enum"]):
        plain["type"] = "string"
    if plain.get("type") == "object":
        plain.pop("description", None)  # a struct's docstring is for the reader of the code
        plain.setdefault("required", [])
        plain["additionalProperties"] = False
    return plain


@cache
def _properties(params: type[Struct]) -> dict[str, Any]:
    """The schema of each parameter. A class never changes, so each is looked at once; the result is not changed by anybody."""
    raw = msgspec.json.schema(params)
    properties: dict[str, Any] = _plain(raw, raw.get("$defs", {}))["properties"]
    return properties


def _kinds(node: Mapping[str, Any]) -> tuple[str, ...]:
    """The JSON types that a parameter may have; null is none of them."""
    return tuple(choice["type"] for choice in node.get("anyOf", [node]) if isinstance(choice.get("type"), str))


def _lenient(value: object, kinds: tuple[str, ...]) -> object:
    """What a model meant that wrote `"10"` for 10; anything doubtful stays as it is and is refused."""
    if isinstance(value, float) and value.is_integer() and "integer" in kinds and "number" not in kinds:
        return int(value)
    if not isinstance(value, str) or "string" in kinds:
        return value
    word = value.strip()
    if "boolean" in kinds and word.lower() in ("true", "false"):
        return word.lower() == "true"
    starts = {"integer": "-0123456789", "number": "-0123456789", "array": "[", "object": "{"}
    for kind in kinds:
        if word[:1] and word[0] in starts.get(kind, ""):
            try:
                spelled = msgspec.json.decode(word)
            except msgspec.DecodeError:
                continue
            return _lenient(spelled, kinds)
    return value


def _unknown(tool: Tool, name: str, left: Mapping[str, bool]) -> str:
    """Names the nearest of the parameters that are not given; one that is required is the likelier."""
    from difflib import SequenceMatcher

    likeness = {field: SequenceMatcher(None, name, field).ratio() for field in left}
    near = [field for field in left if likeness[field] >= 0.5]
    if near:
        best = max(near, key=lambda field: likeness[field] + 0.2 * left[field])
        return f"`{name}` is not a parameter of {tool.name}; did you mean `{best}`?"
    known = ", ".join(f"`{field.encode_name}`" for field in structs.fields(tool.params))
    return f"`{name}` is not a parameter of {tool.name}; it takes {known or 'none'}."


def _explained(problem: str, given: Mapping[str, Any], nodes: Mapping[str, Any]) -> str:
    """msgspec's words with the parameter first: `limit` must be a whole number, got "ten"."""
    what, _, where = problem.partition(" - at `")
    path = where.rstrip("`").removeprefix("$").removeprefix(".")
    if what.startswith("Object missing required field"):
        field = what.split("`")[1]
        expected = "" if path else f"; it must be {_said(_kinds(nodes[field]))}"
        return f"`{f'{path}.{field}' if path else field}` is missing{expected}."
    value = _at(given, path)
    if what.startswith("Expected `"):
        kind, _, bound = what.removeprefix("Expected `").partition("`")
        bound = bound.partition(", got")[0].strip()
        expected = _said(tuple(name.strip() for name in kind.split("|") if name.strip() != "null"))
        return f"`{path}` must be {expected}{f' {bound}' if bound else ''}, got {_shown(value)}."
    if choices := nodes.get(path, {}).get("enum"):
        return f"`{path}` must be {' or '.join(_shown(choice) for choice in choices)}, got {_shown(value)}."
    return f"`{path}` is wrong ({what[:1].lower()}{what[1:]}), got {_shown(value)}."


def _said(kinds: tuple[str, ...]) -> str:
    return " or ".join(dict.fromkeys(_KINDS.get(kind, kind) for kind in kinds)) or "given"


def _at(given: Any, path: str) -> Any:
    """The value at a path such as `follow_up[0].text`; where an index is not told (`[...]`), the whole list."""
    value = given
    for step in path.replace("[", ".[").split("."):
        key = step.strip("[]")
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        else:
            break
    return value


def _shown(value: object) -> str:
    text = msgspec.json.encode(value).decode(errors="replace")
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
