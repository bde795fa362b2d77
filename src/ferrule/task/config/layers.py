"""Five layers, the later ones win: defaults < the user's file < the project's file < environment < flags.

A value of a later layer replaces the earlier one, lists included; only `allow`, `deny` and `hooks` add up, so that no layer can
lift a denial or a hook by being silent about it. The project's file counts only in folders that the user's file lists in
`trusted`.
A setting KEY is `FERRULE_KEY` in the environment: upper case, `_` for each dot; a list has one item a line.
"""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from ferrule.types.errors import UsageError

from .keys import (
    BUILTIN,
    DIALECTS,
    Key,
    checked,
    dotted,
    from_text,
    from_texts,
    in_words,
    instead,
    named_struct_in,
    nearest,
    plain_keys,
    struct_in,
    tables,
)
from .schema import Config, EndpointConfig
from .trust import counts

ADDING = frozenset({("allow",), ("deny",), ("hooks",)})
RESERVED = frozenset({"FERRULE_HOME", "FERRULE_CONFIG", "FERRULE_FAULT_POINT"})
PROJECT_FILE = Path(".ferrule") / "config.toml"
DEFAULT = "default"


class Flag(NamedTuple):
    """One setting from the command line: its dotted key, the texts given for it, and the flag as the person knows it."""

    key: str
    texts: tuple[str, ...]
    flag: str


class Loaded(Struct, frozen=True):
    """`origins` maps the dotted key of every value to where it comes from; `files` are those that were read."""

    config: Config
    origins: Mapping[str, str]
    files: tuple[str, ...]
    notes: tuple[str, ...]


class _File(NamedTuple):
    path: Path
    text: str

    def at(self, key: Key) -> str:
        line = line_of(self.text, key)
        return f"{self.path}:{line}" if line else str(self.path)


_Values = dict[Key, tuple[Any, str]]


def load(folder: Path, environ: Mapping[str, str], flags: Sequence[Flag] = ()) -> Loaded:
    """All settings for a task in `folder`. Raises UsageError naming the file and line, variable or flag that is wrong."""
    values: _Values = {}
    files: list[str] = []
    notes: list[str] = []
    user_path = user_file(environ)
    trusted: tuple[Path, ...] = ()
    if (user := _read(user_path, must_exist="FERRULE_CONFIG" in environ)) is not None:
        raw = _parsed(user)
        trusted = _trusted(raw.pop("trusted", []), user)
        _take(values, _of_table(raw, Config, (), user))
        files.append(str(user.path))
    project_path = folder / PROJECT_FILE
    if not counts(folder, trusted, environ):
        if os.path.lexists(project_path):
            notes.append(
                f"{project_path} is ignored because its folder is not trusted; "
                f"to trust it: ferrule config trust {quote(str(folder.resolve()))}"
            )
    elif (project := _read(project_path)) is not None:
        _take(values, _of_table(_parsed(project), Config, (), project))
        files.append(str(project.path))
    from_environment, more_notes = _of_environment(environ)
    _take(values, from_environment)
    _take(values, _of_flags(flags))
    config = _built(values)
    return Loaded(config, _origins(values), tuple(files), (*notes, *more_notes))


def user_file(environ: Mapping[str, str]) -> Path:
    """`$FERRULE_CONFIG`, else `ferrule/config.toml` in the user's configuration folder."""
    if named := environ.get("FERRULE_CONFIG"):
        return Path(named)
    base = environ.get("XDG_CONFIG_HOME", "")
    return (
        Path(base) if base.startswith("/") else Path(environ.get("HOME") or "~").expanduser() / ".config"
    ) / "ferrule/config.toml"


def listed_folders(environ: Mapping[str, str]) -> tuple[Path, ...]:
    """The folders that the user's file trusts. Raises UsageError."""
    user = _read(user_file(environ), must_exist="FERRULE_CONFIG" in environ)
    return () if user is None else _trusted(_parsed(user).get("trusted", []), user)


def variable(key: Key) -> str:
    return "FERRULE_" + "_".join(key).upper()


def line_of(text: str, key: Key) -> int | None:
    """The line where a TOML text sets `key`, or the table or inline table that holds it."""
    table: Key = ()
    best: tuple[int, int] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[+([^\[\]]+)\]", line):
            table = _words(header[1])
            here = table
        elif assigned := re.match(r"\s*([\w.\"' -]+?)\s*=", line):
            here = (*table, *_words(assigned[1]))
        else:
            continue
        if here == key[: len(here)] and (best is None or len(here) > best[0]):
            best = (len(here), number)
    return best[1] if best else None


def _words(name: str) -> Key:
    return tuple(part.strip().strip("\"'") for part in name.split("."))


def _read(path: Path, must_exist: bool = False) -> _File | None:
    try:
        return _File(path, path.read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError) as error:
        if must_exist:
            raise UsageError(f"{path} (named by FERRULE_CONFIG) does not exist") from error
        return None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text (byte {error.start})") from error


def _parsed(file: _File) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(file.text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{file.path} is not valid TOML: {error}") from error


def _trusted(value: object, file: _File) -> tuple[Path, ...]:
    try:
        listed = msgspec.convert(value, tuple[str, ...])
    except msgspec.ValidationError as error:
        raise UsageError(f"{file.at(('trusted',))}: trusted must be a list of folders") from error
    try:
        return tuple(Path(entry).expanduser().resolve() for entry in listed)
    except (RuntimeError, ValueError, OSError) as error:
        raise UsageError(f"{file.at(('trusted',))}: trusted: {error}") from error


def _of_table(raw: dict[str, Any], struct: type[Struct], prefix: Key, file: _File) -> _Values:
    values: _Values = {}
    known = tables(struct)
    for name, value in raw.items():
        key = (*prefix, name)
        where = file.at(key)
        if name not in known:
            raise UsageError(f"{where}: {_unknown(key, struct)}")
        inner, named = struct_in(known[name]), named_struct_in(known[name])
        if inner is None and named is None:
            values[key] = (checked(key, known[name], value, f"{where}: {dotted(key)}"), where)
        elif not isinstance(value, dict):
            raise UsageError(f"{where}: {dotted(key)} must be a table, written [{dotted(key)}{'.NAME' if named else ''}]")
        elif inner is not None:
            values |= _of_table(value, inner, key, file)
        elif named is not None:
            for free, table in value.items():
                values |= _of_named(free, table, named, key, file)
    return values


def _of_named(name: str, table: object, struct: type[Struct], prefix: Key, file: _File) -> _Values:
    key = (*prefix, name)
    where = file.at(key)
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise UsageError(f'{where}: an endpoint is named with letters, digits, ".", "_" and "-", not "{name}"')
    if name in DIALECTS:
        raise UsageError(f'{where}: an endpoint cannot be named "{name}", which is a dialect; choose another name')
    if not isinstance(table, dict):
        raise UsageError(f"{where}: {dotted(key)} must be a table, written [{dotted(key)}]")
    return _of_table(table, struct, key, file)


def _unknown(key: Key, struct: type[Struct]) -> str:
    if key == ("trusted",):
        return "the list `trusted` counts only in the user's own file"
    return f'unknown key "{dotted(key)}"; {instead(key, struct)}'


def _of_environment(environ: Mapping[str, str]) -> tuple[_Values, list[str]]:
    known = {variable(key): (key, type_) for key, type_, _ in plain_keys()}
    values: _Values = {}
    notes: list[str] = []
    for name in sorted(name for name in environ if name.startswith("FERRULE_") and name not in RESERVED):
        if name not in known:
            if near := nearest(name.removeprefix("FERRULE_"), [other.removeprefix("FERRULE_") for other in known]):
                notes.append(f"the variable {name} is no setting and is ignored; did you mean FERRULE_{near}?")
        elif environ[name].strip():
            key, type_ = known[name]
            values[key] = (from_text(key, type_, environ[name], name), name)
    return values, notes


def _of_flags(flags: Sequence[Flag]) -> _Values:
    known = {dotted(key): (key, type_) for key, type_, _ in plain_keys()}
    values: _Values = {}
    for given in flags:
        key, type_ = known[given.key]
        values[key] = (from_texts(key, type_, given.texts, given.flag), given.flag)
    return values


def _take(values: _Values, layer: _Values) -> None:
    for key, (value, where) in layer.items():
        if key in ADDING and key in values:
            earlier, earlier_where = values[key]
            value, where = (*earlier, *value), f"{earlier_where}, {where}"
        values[key] = (value, where)


def _built(values: _Values) -> Config:
    nested: dict[str, Any] = {}
    for key, (value, _) in values.items():
        table = nested
        for name in key[:-1]:
            table = table.setdefault(name, {})
        table[key[-1]] = value
    for name, endpoint in nested.get("endpoints", {}).items():
        _require(endpoint, EndpointConfig, ("endpoints", name), values)
    config = msgspec.convert(nested, Config)
    _check_model(config, values)
    return config


def _require(table: dict[str, Any], struct: type[Struct], prefix: Key, values: _Values) -> None:
    for field in msgspec.structs.fields(struct):
        inner = struct_in(field.type)
        if field.required and field.encode_name not in table:
            where = next((where for key, (_, where) in values.items() if key[: len(prefix)] == prefix), dotted(prefix))
            raise UsageError(f"{where}: {dotted(prefix)} needs {field.encode_name}: {in_words(field.type)}")
        if inner is not None and field.encode_name in table:
            _require(table[field.encode_name], inner, (*prefix, field.encode_name), values)


def _check_model(config: Config, values: _Values) -> None:
    if config.model is None:
        return
    served = [*DIALECTS, *config.endpoints]
    first, _, rest = config.model.partition("/")
    if first in served or config.model == BUILTIN:
        return
    near = nearest(first, served)
    meant = f"did you mean {near}/{rest}?" if near else f"known: {', '.join(served)}"
    where = values["model",][1]
    raise UsageError(f'{where}: model "{config.model}" begins with neither a dialect nor a configured endpoint; {meant}')


def _origins(values: _Values) -> dict[str, str]:
    origins = {dotted(key): DEFAULT for key, _, _ in plain_keys()}
    return origins | {dotted(key): where for key, (_, where) in values.items()}
