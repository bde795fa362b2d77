"""`[[hooks]]`: the tables of a configuration file as hooks."""

from typing import Any, get_args

import msgspec

from ferrule.run.hooks.hook import OF_TOOLS, Event, Hook
from ferrule.types.errors import UsageError

from .duration import seconds

FIELDS = tuple(field.name for field in msgspec.structs.fields(Hook))
PLACES = ("open", "closed")


def hooks_of(value: object, subject: str) -> tuple[Hook, ...]:
    """In their order. `subject` names the value in an error. Raises UsageError."""
    if not isinstance(value, list) or not all(isinstance(table, dict) for table in value):
        raise UsageError(f"{subject} must be tables of a configuration file, each written [[hooks]]")
    return tuple(_hook(table, f"{subject}[{number}]") for number, table in enumerate(value, 1))


def _hook(table: dict[str, Any], subject: str) -> Hook:
    for name in table:
        if name not in FIELDS:
            raise UsageError(f'{subject}: unknown key "{name}"; known here: {", ".join(FIELDS)}')
    if table.get("event") not in get_args(Event):
        raise UsageError(f"{subject}: event must be one of {', '.join(get_args(Event))}")
    if table.get("on_failure", "open") not in PLACES:
        raise UsageError(f"{subject}: on_failure must be open or closed")
    written = dict(table)
    if isinstance(limit := written.get("timeout"), str):
        written["timeout"] = seconds(limit) or 0.0
    try:
        hook = msgspec.convert(written, Hook)
    except msgspec.ValidationError as error:
        raise UsageError(f"{subject}: {error}") from error
    if problem := _problem(hook, table):
        raise UsageError(f"{subject}: {problem}")
    return hook


def _problem(hook: Hook, table: dict[str, Any]) -> str:
    if bool(hook.command.strip()) == bool(hook.python.strip()):
        return "it needs either command (a line for the shell) or python (module:function, or the name of an entry point)"
    if not 0 < hook.timeout <= 3600:
        return "timeout must be a time above 0 and up to 1h, such as 5, 90s or 2m"
    if "match" in table and hook.event not in OF_TOOLS:
        return f"match is for {', '.join(sorted(OF_TOOLS))}; {hook.event} is about no call"
    if hook.event == "after_task" and hook.closed:
        return "after_task cannot fail closed: the task has ended then"
    return ""
