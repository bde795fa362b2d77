"""Settings as rows for people and scripts. Nothing secret is in them: headers are shown by name, passwords in URLs masked."""

import json
import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from .keys import Key, dotted, plain_keys
from .layers import DEFAULT, Loaded

HIDDEN = "(not shown)"


class Row(Struct, frozen=True):
    """One value and where it comes from."""

    key: str
    value: Any
    origin: str


def rows(loaded: Loaded) -> tuple[Row, ...]:
    """Every setting in the order of the schema, then those of the named endpoints that are set."""
    nested = msgspec.to_builtins(loaded.config)
    found = [_row(key, _at(nested, key), loaded) for key, _, _ in plain_keys()]
    for name in loaded.config.endpoints:
        table = nested["endpoints"][name]
        leaves = _leaves(table, ("endpoints", name))
        found += [_row(key, value, loaded) for key, value in leaves if dotted(key) in loaded.origins]
    return tuple(found)


def line(row: Row, width: int) -> str:
    """`key = value  # origin`, which is TOML where the value is set."""
    value = "(none)" if row.value is None else _toml(row.value)
    return f"{f'{row.key} = {value}':<{width}}  # {row.origin}"


def lines(loaded: Loaded) -> tuple[str, ...]:
    """The rows with their origins aligned, as far as the values are short."""
    shown = rows(loaded)
    width = max(min(len(line(row, 0).partition("  # ")[0]), 48) for row in shown)
    return tuple(line(row, width) for row in shown)


def _row(key: Key, value: Any, loaded: Loaded) -> Row:
    if key[-1] == "headers" and isinstance(value, Mapping):
        value = dict.fromkeys(value, HIDDEN)
    if key[-1] == "base_url":
        value = re.sub(r"(?<=//)[^/@\s]*@", "…@", value)
        value = re.sub(r"\?.*", "?…", value)
    return Row(dotted(key), value, loaded.origins.get(dotted(key), DEFAULT))


def _at(nested: Mapping[str, Any], key: Key) -> Any:
    value: Any = nested
    for name in key:
        value = value[name]
    return value


def _leaves(table: Mapping[str, Any], prefix: Key) -> list[tuple[Key, Any]]:
    found: list[tuple[Key, Any]] = []
    for name, value in table.items():
        if isinstance(value, Mapping) and name != "headers":
            found += _leaves(value, (*prefix, name))
        else:
            found.append(((*prefix, name), value))
    return found


def _toml(value: object) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{name} = {_toml(inner)}" for name, inner in value.items()) + " }" if value else "{}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False)
