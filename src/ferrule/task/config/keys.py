"""What the schema says about one key: its type, its valid values in words, its neighbours when it is misspelled."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec import Struct
from msgspec.structs import fields

from ferrule.types.errors import UsageError

from .duration import seconds
from .hooks import hooks_of
from .schema import Config

Key = tuple[str, ...]
BUILTIN = "builtin/checks"
"""The reviewer that needs no model, named as one."""
DIALECTS = ("openai", "openai-responses", "anthropic", "google", "scripted")


def dotted(key: Key) -> str:
    return ".".join(key)


def tables(struct: type[Struct]) -> dict[str, Any]:
    """The keys of one table and their types."""
    return {field.encode_name: field.type for field in fields(struct)}


def options(type_: Any) -> list[Any]:
    """The types that a value may have, None left out."""
    if get_origin(type_) not in (Union, UnionType):
        return [type_]
    return [option for option in get_args(type_) if option is not type(None)]


def struct_in(type_: Any) -> type[Struct] | None:
    """The table that a value of this type is, None for a plain value."""
    return next((option for option in options(type_) if isinstance(option, type) and issubclass(option, Struct)), None)


def named_struct_in(type_: Any) -> type[Struct] | None:
    """The table behind each free name, of types such as `Mapping[str, EndpointConfig]`."""
    return struct_in(get_args(type_)[1]) if get_origin(type_) is Mapping else None


def plain_keys(struct: type[Struct] = Config, prefix: Key = ()) -> Iterator[tuple[Key, Any, Any]]:
    """Key, type and default of every value that has a fixed name."""
    for field in fields(struct):
        key = (*prefix, field.encode_name)
        inner = struct_in(field.type)
        if inner is not None:
            yield from plain_keys(inner, key)
        elif named_struct_in(field.type) is None:
            yield key, field.type, field.default if field.default is not msgspec.NODEFAULT else None


def nearest(word: str, words: list[str]) -> str | None:
    from difflib import get_close_matches

    found = get_close_matches(word, words, 1, 0.6)
    return found[0] if found else None


def instead(key: Key, struct: type[Struct]) -> str:
    """What to write in the place of an unknown key of this table."""
    prefix = key[:-1]
    here = {name: dotted((*prefix, name)) for name in tables(struct)}
    below = {inner[-1]: dotted(inner) for inner, _, _ in plain_keys(struct, prefix)} if struct is Config else {}
    for known in (here, below):
        if (near := nearest(key[-1], list(known))) is not None:
            return f"did you mean {known[near]}?"
    return f"known here: {', '.join(sorted(here.values()))}"


def _whole(value: Any) -> bool:
    return bool(value >= 1)


def _amount(value: Any) -> bool:
    return value > 0 and math.isfinite(value)


def _price(value: Any) -> bool:
    return value >= 0 and math.isfinite(value)


def _texts(value: Any) -> bool:
    return all(item.strip() for item in value)


def _names(value: Any) -> bool:
    return all(_variable(name) for name in value)


def _variable(value: Any) -> bool:
    return re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value) is not None


def _url(value: Any) -> bool:
    return re.fullmatch(r"https?://[^\s/]\S*", value) is not None


def _models(value: Any) -> bool:
    return all(re.fullmatch(r"[^\s/]+/\S.*", name.strip()) for name in value.split(","))


def _wait(value: Any) -> bool:
    return value >= 0 and math.isfinite(value)


COUNT = (_whole, "a whole number of at least 1")
TIME = (_amount, "a time above 0 such as 90, 90s, 10m or 2h")
PRICE = (_price, "US dollars for a million tokens, 0 or more")
WAIT = (_wait, "a time such as 90, 90s, 10m or 2h, or 0 for no limit")
WAITS = tuple(
    f"{table}.{name}"
    for table, names in (
        ("timeouts", ("first_event", "idle", "total")),
        ("endpoints.*", ("first_event_timeout", "idle_timeout", "total_timeout")),
    )
    for name in names
)
TIMES = frozenset({"limits.time", "timeouts.tool", "timeouts.command", "verify_timeout", *WAITS})
RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    **dict.fromkeys(WAITS, WAIT),
    "model": (_models, "DIALECT/NAME or ENDPOINT/NAME, such as openai/NAME or anthropic/NAME, several separated by commas"),
    "limits.turns": COUNT,
    "mcp.tools": COUNT,
    "limits.tokens": COUNT,
    "limits.cost": (_amount, "an amount of US dollars above 0"),
    "limits.time": TIME,
    "timeouts.tool": TIME,
    "timeouts.command": TIME,
    "verify_timeout": TIME,
    "retention_days": (_whole, "a whole number of days, at least 1"),
    "verify": (_texts, "a list of commands, none of them empty"),
    "allow": (_texts, "a list of rules, none of them empty"),
    "deny": (_texts, "a list of rules, none of them empty"),
    "sandbox.show": (_texts, "a list of folders and files, none of them empty"),
    "search.embeddings_url": (_url, "a URL that begins with http:// or https://"),
    "search.embeddings_key_env": (_variable, "the name of an environment variable (not the key itself)"),
    "env.pass": (_names, "a list of names of environment variables"),
    "endpoints.*.base_url": (_url, "a URL that begins with http:// or https://"),
    "endpoints.*.key_env": (_variable, "the name of an environment variable (not the key itself)"),
    "endpoints.*.window": COUNT,
    "endpoints.*.max_output": COUNT,
    **dict.fromkeys(("endpoints.*.image_bytes", "endpoints.*.image_edge", "endpoints.*.image_count"), COUNT),
    "endpoints.*.price.input": PRICE,
    "endpoints.*.price.output": PRICE,
    "endpoints.*.price.cache_read": PRICE,
    "endpoints.*.price.cache_write": PRICE,
}


def in_words(type_: Any) -> str:
    """What a value of this type is, for a person."""
    match options(type_):
        case [only] if get_origin(only) is Literal:
            return f"one of {', '.join(get_args(only))}"
        case [only] if get_origin(only) is tuple:
            return "a list of texts"
        case [only] if get_origin(only) is Mapping:
            return "a table of texts"
        case [only]:
            return {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}.get(only, str(only))
        case _:
            return " or ".join(in_words(option) for option in options(type_))


def shown(value: object) -> str:
    """A wrong value as it was written, cut to a readable length."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return f'"{value}"' if len(value) <= 60 else f'"{value[:57]}…"'
        case dict():
            return "a table"
        case list() | tuple():
            return "a list"
        case _:
            return str(value)


def checked(key: Key, type_: Any, value: object, subject: str) -> Any:
    """The value as the schema wants it. `subject` names the value in the error."""
    if key == ("hooks",):
        return hooks_of(value, subject)
    rule_name = dotted(("endpoints", "*", *key[2:])) if key[0] == "endpoints" else dotted(key)
    holds, words = RULES.get(rule_name, (lambda value: True, in_words(type_)))
    written = seconds(value) if rule_name in TIMES and isinstance(value, str) else value
    try:
        converted = msgspec.convert(written, type_)
    except msgspec.ValidationError as error:
        raise UsageError(f"{subject} must be {words}, not {shown(value)}") from error
    if converted is None or not holds(converted):
        raise UsageError(f"{subject} must be {words}, not {shown(value)}")
    if key in (("allow",), ("deny",)):
        _check_rules(converted, subject)
    return converted.rstrip("/") if rule_name in ("endpoints.*.base_url", "search.embeddings_url") else converted


def _check_text(text: str, subject: str) -> None:
    """What is not UTF-8 comes from the system as lone surrogates, which can neither be stored nor sent."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"{subject} is not UTF-8 text (character {error.start + 1})") from error


def _check_rules(rules: tuple[str, ...], subject: str) -> None:
    from ferrule.policy.rules import parse_rule

    for rule in rules:
        try:
            parse_rule(rule)
        except UsageError as error:
            raise UsageError(f"{subject}: {error}") from error


def from_texts(key: Key, type_: Any, texts: tuple[str, ...], subject: str) -> Any:
    """The value of a flag that was given these texts: all of them for a list, else the last one."""
    if get_origin(type_) is not tuple:
        return from_text(key, type_, texts[-1], subject)
    for text in texts:
        _check_text(text, subject)
    return checked(key, type_, texts, subject)


def from_text(key: Key, type_: Any, text: str, subject: str) -> Any:
    """The value of a flag or variable: numbers and truth values are read from the text, a list has one item a line."""
    _check_text(text, subject)
    if get_origin(type_) is tuple:
        return checked(key, type_, [line.strip() for line in text.splitlines() if line.strip()], subject)
    if dotted(key) in TIMES:
        return checked(key, type_, text, subject)
    try:
        value = msgspec.convert(text.strip(), type_, strict=False)
    except msgspec.ValidationError:
        value = text
    return checked(key, type_, text if value is None else value, subject)
