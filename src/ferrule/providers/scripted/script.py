"""The format of a script: values, and how a file becomes one. The page for users is `docs/scripted.md`."""

import json
import re
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec
from msgspec import UNSET, Struct, UnsetType

from ferrule.types.errors import UsageError
from ferrule.types.messages import ResultKind, StopReason
from ferrule.types.usage import Usage

from .faults import AnyFault, Http

Times = int | Literal["always"]


class Call(Struct, frozen=True, forbid_unknown_fields=True):
    """A tool call. `arguments` as text goes out untouched. `id` null: the call has none; absent: one that is unique."""

    name: str
    arguments: dict[str, Any] | str = {}
    id: str | UnsetType | None = UNSET


class Part(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One part of an answer; exactly one of the fields is set. `text` null is content that is null."""

    text: str | UnsetType | None = UNSET
    reasoning: str | UnsetType = UNSET
    call: Call | UnsetType = UNSET


class Match(Struct, frozen=True, forbid_unknown_fields=True):
    """Conditions on a request; all that are set must hold. Texts are found anywhere in what they are compared with."""

    last: Literal["user", "results"] | None = None
    last_user: str | None = None
    last_result: str | None = None
    result_kind: ResultKind | None = None
    system: str | None = None
    tool: str | None = None
    messages: int | None = None
    answers: int | None = None


class Tokens(Struct, frozen=True, forbid_unknown_fields=True):
    """Usage as the provider would report it."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0

    def usage(self) -> Usage:
        return Usage(self.input, self.output, self.cache_read, self.cache_write, self.reasoning)


class Wire(Struct, frozen=True, forbid_unknown_fields=True):
    """How a server spells the stream. The provider inside Ferrule has no wire and ignores it."""

    newline: Literal["\n", "\r\n", "\r"] = "\n"
    comments: bool = False
    data_lines: bool = False
    end_marker: bool = True
    bytes: int | None = None
    halves: bool = False
    interleave: bool = False
    index: bool = True


class Step(Struct, frozen=True, forbid_unknown_fields=True):
    """One model call: what is answered, how, and on which conditions."""

    text: str | UnsetType | None = UNSET
    reasoning: str | UnsetType = UNSET
    calls: tuple[Call, ...] = ()
    parts: tuple[Part, ...] | UnsetType = UNSET
    chunk: int | None = None
    delay: float = 0.0
    usage: Tokens | UnsetType | None = UNSET
    stop: StopReason | None = None
    fault: AnyFault | None = None
    expect: Match | None = None
    when: Match | None = None
    copy: dict[str, str] = {}
    times: Times = 1
    wire: Wire = Wire()
    note: str = ""

    @property
    def content(self) -> tuple[Part, ...]:
        """The parts in order: `parts`, or reasoning, text and calls."""
        if not isinstance(self.parts, UnsetType):
            return self.parts
        parts = [] if isinstance(self.reasoning, UnsetType) else [Part(reasoning=self.reasoning)]
        if not isinstance(self.text, UnsetType):
            parts.append(Part(text=self.text))
        return (*parts, *(Part(call=call) for call in self.calls))


class Script(Struct, frozen=True, forbid_unknown_fields=True):
    """All steps in order. `on_end`: what happens when a request finds none left; `on_lost`: when an answer was not kept."""

    version: Literal[1]
    steps: tuple[Step, ...]
    on_end: Literal["error", "repeat_last"] = "error"
    on_lost: Literal["next", "again"] = "next"
    note: str = ""


def load(path: str | Path) -> Script:
    """Read a script. Raises UsageError that names the file, the step and what would be right."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, ValueError) as problem:
        raise UsageError(f"The script {path} cannot be read: {problem}") from problem
    try:
        return parse(text)
    except UsageError as problem:
        raise UsageError(f"The script {path} is wrong: {problem}") from problem


def parse(text: str) -> Script:
    """The script that a JSON text spells. Raises UsageError."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise UsageError(f"it is not JSON ({problem})") from problem
    _check_keys(data)
    try:
        script = msgspec.convert(data, Script)
    except msgspec.ValidationError as problem:
        raise UsageError(_placed(str(problem))) from problem
    for number, step in enumerate(script.steps, 1):
        if wrong := _contradiction(step):
            raise UsageError(f"step {number}: {wrong}")
    return script


def _check_keys(data: Any) -> None:
    """Every object's keys against its struct's, so that the message can name the nearest one."""
    if not isinstance(data, dict):
        raise UsageError('it must be an object such as {"version": 1, "steps": []}')
    _known("", data, Script)
    for number, step in enumerate(_list(data, "steps"), 1):
        where = f"step {number}: "
        _known(where, step, Step)
        if not isinstance(step, dict):
            continue
        for key, struct in (("expect", Match), ("when", Match), ("usage", Tokens), ("wire", Wire)):
            _known(f"{where}{key}: ", step.get(key), struct)
        _known_fault(f"{where}fault: ", step.get("fault"))
        calls = _list(step, "calls")
        for index, part in enumerate(_list(step, "parts")):
            _known(f"{where}parts[{index}]: ", part, Part)
            calls = [*calls, part.get("call") if isinstance(part, dict) else None]
        for index, call in enumerate(calls):
            _known(f"{where}call {index + 1}: ", call, Call)


def _list(data: dict[str, Any], key: str) -> list[Any]:
    found = data.get(key)
    return found if isinstance(found, list) else []


def _known_fault(where: str, fault: Any) -> None:
    if not isinstance(fault, dict):
        return
    kinds = {struct.__struct_config__.tag: struct for struct in get_args(AnyFault)}
    kind = fault.get("kind")
    if kind not in kinds:
        raise UsageError(f"{where}kind {kind!r} is unknown{_nearest(str(kind), [str(name) for name in kinds])}")
    _known(where, {key: value for key, value in fault.items() if key != "kind"}, kinds[kind])


def _known(where: str, data: Any, struct: type[Struct]) -> None:
    if not isinstance(data, dict):
        return
    names = [field.encode_name for field in msgspec.structs.fields(struct)]
    for key in data:
        if key not in names:
            raise UsageError(f"{where}unknown key {key!r}{_nearest(key, names)}")


def _nearest(word: str, words: list[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(word, words, 1, 0.5)
    return f"; did you mean {close[0]!r}?" if close else f"; known are {', '.join(words)}"


def _placed(problem: str) -> str:
    """msgspec counts from `$.steps[0]`; people count steps from 1."""
    what, _, path = problem.partition(" - at ")
    path = path.strip("`")
    if found := re.match(r"\$\.steps\[(\d+)\]\.?(.*)", path):
        inner = f"{found[2]}: " if found[2] else ""
        return f"step {int(found[1]) + 1}: {inner}{what}"
    return f"{path.removeprefix('$').removeprefix('.') or 'the top level'}: {what}"


def _contradiction(step: Step) -> str | None:
    plain = not isinstance(step.text, UnsetType) or not isinstance(step.reasoning, UnsetType) or step.calls
    if not isinstance(step.parts, UnsetType) and plain:
        return "give either `parts` or `text`, `reasoning` and `calls`, not both"
    if isinstance(step.fault, Http) and step.content:
        return "an http fault answers with an error, so the step can't have content"
    if step.chunk is not None and step.chunk < 1:
        return f"chunk must be at least 1, not {step.chunk}"
    if step.delay < 0:
        return f"delay must not be negative, not {step.delay}"
    if step.times != "always" and step.times < 1:
        return f'times must be at least 1 or "always", not {step.times}'
    for part in step.content:
        if sum(not isinstance(value, UnsetType) for value in (part.text, part.reasoning, part.call)) != 1:
            return "a part has exactly one of `text`, `reasoning` and `call`"
    for name, pattern in step.copy.items():
        try:
            re.compile(pattern)
        except re.error as problem:
            return f"copy: {name}: {pattern!r} is not a regular expression ({problem})"
    return None
