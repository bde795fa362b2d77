"""Schemas of tools as every vendor takes them. A tool whose schema cannot be brought into that form is left out, and it is said.

What is brought into it: references are written out, `oneOf` becomes `anyOf`, lists of types become alternatives, a constant the
only choice; keywords that only narrow are dropped where they are refused, since the tool checks its arguments itself; missing
`properties` and `items` are added. What can't be: anything but an object at the top, a choice there, a schema that refers to
itself or elsewhere.
"""

from collections.abc import Mapping, Set
from typing import Any

from msgspec.structs import replace

from ferrule.stream.naming import VALID_NAME
from ferrule.types import json
from ferrule.types.request import ToolSchema

MOST_TOOLS = 128
"""OpenAI takes no more."""
DEEPEST = 20

PLAIN = frozenset(
    {
        *("type", "properties", "required", "items", "enum", "anyOf", "additionalProperties", "description", "title", "default"),
        *("minimum", "maximum", "minItems", "maxItems"),
    }
)
"""What every vendor takes, and what servers with grammars can express."""
FULL = PLAIN | {
    *("exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern", "format", "uniqueItems"),
}
SAID_ONLY = frozenset({"$schema", "$id", "$comment", "$defs", "definitions", "examples", "deprecated", "readOnly", "writeOnly"})
COMBINATORS = ("anyOf", "oneOf", "allOf", "not", "enum", "const", "if")


class Unfit(Exception):
    """Why a schema cannot be lowered."""


def lowered(tools: tuple[ToolSchema, ...], keywords: Set[str] = PLAIN) -> tuple[tuple[ToolSchema, ...], list[str]]:
    """The tools that can be offered, and a line for each that was left out or whose schema says less than before."""
    offered: list[ToolSchema] = []
    lines: list[str] = []
    for tool in tools:
        try:
            if len(offered) == MOST_TOOLS:
                raise Unfit(f"a request may hold {MOST_TOOLS} tools")
            if not VALID_NAME.fullmatch(tool.name) or any(tool.name == other.name for other in offered):
                raise Unfit("its name is taken, or is no name for a tool")
            schema = json.loads(tool.parameters)[0]
            lower, dropped = lower_schema(schema, keywords)
        except Unfit as why:
            lines.append(f"the tool {tool.name[:64]} is not offered: {why}")
            continue
        if dropped:
            lines.append(f"the schema of {tool.name} is sent without {', '.join(sorted(dropped))}")
        offered.append(tool if lower == schema else replace(tool, parameters=json.encode(lower).decode()))
    same = len(offered) == len(tools) and all(one is other for one, other in zip(offered, tools, strict=True))
    return (tools if same else tuple(offered)), lines


def lower_schema(schema: Any, keywords: Set[str] = PLAIN) -> tuple[dict[str, Any], set[str]]:
    """The schema in the form that all vendors take, and the keywords in it that were dropped. Raises Unfit."""
    if not isinstance(schema, dict):
        raise Unfit("its schema is no JSON object")
    lowering = _Lowering(schema, keywords)
    top = lowering.resolved(schema, ())[0]
    if top.get("type", "object") != "object":
        raise Unfit(f"its parameters are not an object but {top['type']!r}")
    if found := [word for word in COMBINATORS if word in top]:
        raise Unfit(f"its schema has {found[0]} at the top")
    lower = lowering.node({"type": "object", **top}, (), 0)
    lower.setdefault("properties", {})
    return lower, lowering.dropped


class _Lowering:
    """Of one schema."""

    def __init__(self, root: Mapping[str, Any], keywords: Set[str]) -> None:
        self._root = root
        self._keywords = keywords
        self.dropped: set[str] = set()

    def resolved(self, node: Any, seen: tuple[str, ...]) -> tuple[dict[str, Any], tuple[str, ...]]:
        """What a reference leads to, with what stands beside it. `seen` are the references on the way here."""
        if isinstance(node, bool):
            return {}, seen
        if not isinstance(node, dict):
            raise Unfit("a part of its schema is none")
        while "$ref" in node or "$dynamicRef" in node or "$recursiveRef" in node:
            reference = node.get("$ref")
            if not isinstance(reference, str) or not reference.startswith("#"):
                raise Unfit("its schema refers to another document")
            if reference in seen:
                raise Unfit("its schema refers to itself")
            target: Any = self._root
            for step in reference.removeprefix("#").strip("/").split("/") if reference.strip("#/") else ():
                target = json.member(target, step.replace("~1", "/").replace("~0", "~"))
            if not isinstance(target, dict):
                raise Unfit(f"its schema refers to {reference}, which it does not hold")
            beside = {key: value for key, value in node.items() if key != "$ref"}
            node, seen = {**target, **beside}, (*seen, reference)
        return node, seen

    def node(self, given: Any, seen: tuple[str, ...], depth: int) -> dict[str, Any]:
        if depth > DEEPEST:
            raise Unfit(f"its schema is nested deeper than {DEEPEST} levels")
        node, seen = self.resolved(given, seen)
        lower = {key: value for key, value in node.items() if key in self._keywords}
        self.dropped |= node.keys() - self._keywords - SAID_ONLY - {"oneOf", "const"}
        if "const" in node:
            lower.setdefault("enum", [node["const"]])
        choices = [*json.items(node, "anyOf"), *json.items(node, "oneOf")]
        kinds = node.get("type")
        if isinstance(kinds, list):
            del lower["type"]
            if choices or len(kinds) == 1:
                lower |= {"type": kinds[0]} if len(kinds) == 1 else {}
            else:
                choices = [self._of_kind(node, kind) for kind in kinds]
                lower = {key: value for key, value in lower.items() if key in ("description", "title", "default")}
        if choices:
            lower["anyOf"] = [self.node(choice, seen, depth + 1) for choice in choices]
        return self._children(lower, seen, depth)

    @staticmethod
    def _of_kind(node: Mapping[str, Any], kind: Any) -> dict[str, Any]:
        """One alternative of a list of types: the rest of the schema holds for those that are not null."""
        if kind == "null":
            return {"type": "null"}
        kept = {
            key: value for key, value in node.items() if key not in ("type", "description", "title", "default", "anyOf", "oneOf")
        }
        return {**kept, "type": kind}

    def _children(self, lower: dict[str, Any], seen: tuple[str, ...], depth: int) -> dict[str, Any]:
        properties = lower.get("properties")
        if isinstance(properties, dict):
            lower["properties"] = {name: self.node(child, seen, depth + 1) for name, child in properties.items()}
            if "required" in lower:
                lower["required"] = [name for name in json.items(lower, "required") if name in properties]
        else:
            lower.pop("properties", None)
            lower.pop("required", None)
        if "items" in lower or lower.get("type") == "array":
            items = lower.get("items", {})
            lower["items"] = self.node(items, seen, depth + 1) if isinstance(items, dict | bool) else {}
        if isinstance(lower.get("additionalProperties"), dict):
            lower["additionalProperties"] = self.node(lower["additionalProperties"], seen, depth + 1)
        return lower
