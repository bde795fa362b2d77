"""What the vendors demand of JSON Schemas: of tools, and of a format that the answer must have."""

import re
from collections.abc import Iterator

from .body import Json, objects, texts

COMPOSED = ("anyOf", "oneOf", "allOf")
STRICT_REFUSES = ("allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "patternProperties")
GRAMMAR_REFUSES = ("maxLength", "minLength", "pattern", "format")


def nodes(schema: object, where: str) -> Iterator[tuple[str, Json]]:
    """Every schema in a schema, itself first."""
    if not isinstance(schema, dict):
        return
    yield where, schema
    for key in ("properties", "$defs", "definitions", "patternProperties"):
        children = schema.get(key)
        if isinstance(children, dict):
            for name, child in children.items():
                yield from nodes(child, f"{where}.{key}.{name}")
    for key in ("items", "additionalProperties", "not"):
        yield from nodes(schema.get(key), f"{where}.{key}")
    for key in (*COMPOSED, "prefixItems"):
        for index, child in objects(schema.get(key)):
            yield from nodes(child, f"{where}.{key}[{index}]")


def is_of(node: Json, kind: str) -> bool:
    declared = node.get("type")
    return declared == kind or (isinstance(declared, list) and kind in declared)


def object_problems(schema: object, where: str) -> Iterator[str]:
    """The root of a tool's parameters is an object, and `required` names only what `properties` has."""
    if not isinstance(schema, dict):
        yield f"{where}: the schema is not an object"
        return
    if schema.get("type") != "object":
        yield f"{where}: the schema has type {schema.get('type')!r}, not 'object'"
    for at, node in nodes(schema, where):
        properties = node.get("properties", {})
        required = node.get("required", [])
        if not isinstance(properties, dict) or any(not isinstance(child, dict | bool) for child in properties.values()):
            yield f"{at}: 'properties' is not an object of schemas"
        elif not isinstance(required, list) or any(not isinstance(name, str) for name in required):
            yield f"{at}: 'required' is not a list of strings"
        elif properties and (unknown := sorted(set(required) - properties.keys())):
            yield f"{at}: 'required' names {unknown}, which 'properties' does not have"


def property_name_problems(schema: object, pattern: re.Pattern[str], where: str) -> Iterator[str]:
    for at, node in nodes(schema, where):
        properties = node.get("properties")
        for name in properties if isinstance(properties, dict) else ():
            if not pattern.fullmatch(name):
                yield f"{at}: the property {name!r} does not match {pattern.pattern}"


def openai_problems(schema: object, where: str) -> Iterator[str]:
    """What OpenAI refuses even where `strict` is off: an object without properties, an array without items."""
    yield from object_problems(schema, where)
    if isinstance(schema, dict) and schema.get("type") == "object" and "properties" not in schema:
        yield f"{where}: object schema without 'properties'"
    for at, node in nodes(schema, where):
        if is_of(node, "array") and not any(key in node for key in ("items", "prefixItems")):
            yield f"{at}: array schema without 'items'"


def strict_problems(schema: object, where: str) -> Iterator[str]:
    """OpenAI's strict mode: a plain object at the root, every object closed, every property required, no conditions."""
    if not isinstance(schema, dict) or schema.get("type") != "object" or any(key in schema for key in COMPOSED):
        yield f"{where}: the root of a strict schema is an object without anyOf"
    for at, node in nodes(schema, where):
        for key in STRICT_REFUSES:
            if key in node:
                yield f"{at}: {key!r} is not permitted in a strict schema"
        if not is_of(node, "object") and "properties" not in node:
            continue
        properties = node.get("properties", {})
        if node.get("additionalProperties") is not False:
            yield f"{at}: 'additionalProperties' has to be false"
        if isinstance(properties, dict) and set(properties) != set(texts(node.get("required"))):
            yield f"{at}: 'required' has to name every property"
