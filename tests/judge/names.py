"""Google's JSON takes its field names in camelCase and in snake_case; the rules are written for camelCase."""

import re
from typing import Any

from .body import Json

FREE = frozenset(
    {"args", "response", "parametersJsonSchema", "responseJsonSchema", "partMetadata", "properties", "default", "example", "enum"}
)
LOWER_AFTER = re.compile(r"_([a-z0-9])")


def camel_key(key: str) -> str:
    return LOWER_AFTER.sub(lambda match: match[1].upper(), key)


def camel(value: Json) -> Json:
    """A copy with camelCase keys; what is free data of the user keeps its own."""
    return {camel_key(key): item if camel_key(key) in FREE else camel_value(item) for key, item in value.items()}


def camel_value(value: Any) -> Any:
    match value:
        case dict():
            return camel(value)
        case list():
            return [camel_value(item) for item in value]
    return value
