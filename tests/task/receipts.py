"""A session with every part of a receipt filled in, and the places of a receipt at which somebody could tamper."""

import asyncio
import json
import os
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ferrule.task.config.schema import Config, Environment
from ferrule.task.open import TaskOptions, open_task
from ferrule.task.receipts.file import ReceiptFile, ReceiptTarget, read_receipt
from ferrule.task.sessions.export import export_records
from ferrule.types.records import Receipt
from ferrule.types.usage import Limits

Place = tuple[str, ...]


class Kept(NamedTuple):
    """A finished run: its project, the environment with its store, its receipt and an export of its session."""

    folder: Path
    environ: dict[str, str]
    file: ReceiptFile
    export: Path

    @property
    def journal(self) -> Path:
        return Path(self.environ["FERRULE_HOME"], "sessions", f"{self.file.session_id}.db")


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


USAGE = {"input": 100, "output": 10, "cache_read": 5, "reasoning": 2}
STEPS = (
    {
        "calls": [
            call("write_to_file", path="app.py", content="x = 1\n"),
            call("write_to_file", path="tests/test_app.py", content="pass\n"),
            call("execute_command", command="true"),
            call("execute_command", command="curl example.test"),
        ],
        "usage": USAGE,
    },
    {"calls": [call("attempt_completion", result="Done.")], "usage": USAGE},
)


def kept(base: Path, *steps: dict[str, Any]) -> Kept:
    folder, script = base / "project", base / "script.json"
    folder.mkdir()
    script.write_text(json.dumps({"version": 1, "steps": steps or STEPS}))
    config = Config(
        model=f"scripted/{script}",
        approve="edits",
        allow=("execute:true",),
        verify=("true", "test -f tests/test_app.py") if not steps else (),
        limits=Limits(turns=9, time=60.5),
        env=Environment(passed=("SHOWN",)),
    )
    environ = {"PATH": os.environ["PATH"], "HOME": str(base), "FERRULE_HOME": str(base / "state"), "SHOWN": "seen"}
    options = TaskOptions(prompt="Do it.", folder=folder, config=config, environ=environ, user_folder=base / "user")
    target = ReceiptTarget(base / "receipt.json")
    asyncio.run(_driven(options, target))
    file = read_receipt(target.path)
    assert file.session_id is not None
    export = base / "export.jsonl"
    export.write_bytes(export_records(environ, file.session_id).data)
    return Kept(folder, environ, file, export)


async def _driven(options: TaskOptions, target: ReceiptTarget) -> None:
    task = await open_task(options)
    task.receipt_to = target
    try:
        await task.run()
    finally:
        await task.close()


def places() -> Iterator[tuple[Place, Any]]:
    """Every field of a receipt, those within its parts included, and its type; `[]` stands for one item of a list."""
    fields = typing.get_type_hints(ReceiptFile)
    del fields["receipt"]
    for name, kind in {**fields, **typing.get_type_hints(Receipt)}.items():
        yield from _within((name,), kind)


def _within(place: Place, kind: Any) -> Iterator[tuple[Place, Any]]:
    yield place, kind
    match kind:
        case types.UnionType():
            structs = [each for each in typing.get_args(kind) if isinstance(each, type) and issubclass(each, msgspec.Struct)]
            assert not structs, "a receipt has no optional part"
        case type() if issubclass(kind, msgspec.Struct):
            for name, part in typing.get_type_hints(kind).items():
                yield from _within((*place, name), part)
        case _ if typing.get_origin(kind) is tuple:
            yield from _within((*place, "[]"), typing.get_args(kind)[0])
