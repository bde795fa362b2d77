import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ferrule.task.receipts.check import Verification, verify_receipt
from ferrule.task.receipts.file import decode, flat
from ferrule.types.errors import UsageError
from tests.store.entries import values

from .receipts import Kept, Place, kept, places

PLACES = dict(places())
few = settings(max_examples=8)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    return kept(tmp_path_factory.mktemp("run"))


def named(place: Place) -> str:
    return ".".join(place)


def states(verification: Verification) -> dict[str, str]:
    return {field.name: field.state for field in verification.fields}


def test_a_receipt_matches_its_journal_an_export_and_the_files(run: Kept) -> None:
    for export in (None, run.export):
        found = verify_receipt(run.file, run.environ, export)
        assert (found.state, found.exit_code, found.chain.state) == ("ok", 0, "ok")
        assert set(states(found).values()) == {"ok"}
        assert [(file.path, file.state) for file in found.files] == [("app.py", "ok"), ("tests/test_app.py", "ok")]
    assert [field.name for field in found.fields if not field.recomputed] == ["environment", "limits", "sandbox"]


def test_every_part_of_the_receipt_is_there_to_be_tampered_with(run: Kept) -> None:
    receipt = run.file.receipt
    assert (receipt.terminal_action, receipt.environment, receipt.unwatched) == ("attempt_completion", ("SHOWN",), 1)
    assert [gate.changed_tests for gate in receipt.gates] == [(), (), ("tests/test_app.py",), ("tests/test_app.py",)]
    assert [(denied.tool, denied.flag) for denied in receipt.denials] == [("execute_command", receipt.denials[0].flag)]
    assert receipt.limits.turns == 9 and receipt.usage.input == 200 and len(receipt.changes) == 2


def tampered(fields: dict[str, Any], place: Place, kind: Any, data: st.DataObject) -> None:
    """Put another value of the right type into one place."""
    holder: Any = fields
    for name in place[:-1]:
        holder = holder[data.draw(st.integers(0, len(holder) - 1)) if name == "[]" else name] if holder else assume(False)
    key: Any = place[-1]
    if key == "[]":
        assume(holder)
        key = data.draw(st.integers(0, len(holder) - 1))
    old = holder[key]
    new = data.draw(values(kind).map(lambda value: msgspec.json.decode(msgspec.json.encode(value))))
    assume(new != old)
    holder[key] = new


@pytest.mark.parametrize("place", PLACES, ids=named)
@few
@given(data=st.data())
def test_a_tampered_field_is_caught_with_the_journal_and_not_verifiable_without(
    run: Kept, place: Place, data: st.DataObject
) -> None:
    fields = flat(run.file)
    tampered(fields, place, PLACES[place], data)
    try:
        file = decode(msgspec.json.encode(fields), "it")
    except UsageError:
        assert place == ("schema_version",)
        return
    with_export = verify_receipt(file, run.environ, run.export)
    assert (with_export.state, states(with_export)[place[0]]) == ("differs", "differs")
    assert [name for name, state in states(with_export).items() if state != "ok"] == [place[0]]
    with_store = verify_receipt(file, run.environ, None)
    assert with_store.state == ("not verifiable" if place == ("session_id",) and file.session_id is not None else "differs")
    without = verify_receipt(file, {**run.environ, "FERRULE_HOME": "/no/such"}, None)
    assert (without.state, without.exit_code, set(states(without).values())) == ("not verifiable", 8, {"not verifiable"})


@pytest.mark.parametrize("place", [place for place in PLACES if "[]" not in place], ids=named)
def test_a_field_too_few_or_too_many_is_no_receipt(run: Kept, place: Place) -> None:
    for change in (lambda holder: holder.pop(place[-1]), lambda holder: holder.update(more=1)):
        fields = flat(run.file)
        holder = fields
        for name in place[:-1]:
            holder = holder[name]
        change(holder)
        with pytest.raises(UsageError, match="is no receipt"):
            decode(msgspec.json.encode(fields), "it")


def lines(run: Kept) -> list[dict[str, Any]]:
    return [msgspec.json.decode(line) for line in run.export.read_bytes().splitlines()]


def written(records: list[dict[str, Any]], to: Path) -> Path:
    to.write_bytes(b"".join(msgspec.json.encode(record) + b"\n" for record in records))
    return to


COLUMNS = {"session": str, "seq": int, "branch": str, "time": int, "kind": str, "payload": str, "hash": str}


@pytest.mark.parametrize("column", COLUMNS)
@few
@given(data=st.data())
def test_an_export_tampered_with_at_any_record_is_caught(run: Kept, tmp_path: Path, column: str, data: st.DataObject) -> None:
    records = lines(run)
    place = data.draw(st.integers(0, len(records) - 1))
    new = data.draw(values(COLUMNS[column]))
    assume(new != records[place][column])
    records[place][column] = new
    found = verify_receipt(run.file, run.environ, written(records, tmp_path / "e.jsonl"))
    assert (found.state, found.chain.state) == ("differs", "differs")


def reordered(records: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    for place in range(len(records)):
        yield records[:place] + records[place + 1 :]
        yield [*records[: place + 1], *records[place:]]
        if place:
            yield [*records[: place - 1], records[place], records[place - 1], *records[place + 1 :]]


def test_an_export_without_a_record_or_with_one_twice_or_in_another_order_is_caught(run: Kept, tmp_path: Path) -> None:
    for records in reordered(lines(run)):
        found = verify_receipt(run.file, run.environ, written(records, tmp_path / "e.jsonl"))
        assert found.state == "differs", [record["seq"] for record in records]


@pytest.mark.parametrize("cut", [0.1, 0.5, 0.9, 0.999])
def test_a_cut_export_says_where_it_is_cut(run: Kept, tmp_path: Path, cut: float) -> None:
    whole = run.export.read_bytes()
    part = tmp_path / "part.jsonl"
    part.write_bytes(whole[: int(len(whole) * cut)])
    number = whole[: int(len(whole) * cut)].count(b"\n") + 1
    found = verify_receipt(run.file, run.environ, part)
    assert (found.state, f"line {number} is no record and it is cut" in found.chain.why) == ("differs", True)


@pytest.mark.parametrize("content", [b"", b"\n", b"{}\n", b'{"a":1}', b"\xff\xfe"])
def test_what_is_no_export_is_refused(run: Kept, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "e").write_bytes(content)
    with pytest.raises(UsageError, match="is no export of a session"):
        verify_receipt(run.file, run.environ, tmp_path / "e")


CHANGES = {
    "payload": "UPDATE records SET payload = CAST(payload || ' ' AS BLOB) WHERE seq = ?",
    "time": "UPDATE records SET time = time + 1 WHERE seq = ?",
    "kind": "UPDATE records SET kind = 'user2' WHERE seq = ?",
    "branch": "UPDATE records SET branch = 'other' WHERE seq = ?",
    "hash": "UPDATE records SET hash = '0' || substr(hash, 2, 62) || 'g' WHERE seq = ?",
    "record": "DELETE FROM records WHERE seq = ?",
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_journal_tampered_with_at_any_record_is_caught(run: Kept, tmp_path: Path, change: str) -> None:
    environ = {**run.environ, "FERRULE_HOME": str(tmp_path / "state")}
    for record in lines(run):
        shutil.copytree(run.environ["FERRULE_HOME"], tmp_path / "state", dirs_exist_ok=True)
        path = tmp_path / "state" / "sessions" / run.journal.name
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(CHANGES[change], (record["seq"],))
            connection.commit()
        found = verify_receipt(run.file, environ, None)
        assert (found.state, found.exit_code) == ("differs", 1), record["seq"]
        shutil.rmtree(tmp_path / "state")


def test_a_journal_that_cannot_be_read_at_all_is_no_match(run: Kept, tmp_path: Path) -> None:
    path = tmp_path / "sessions" / run.journal.name
    path.parent.mkdir()
    path.write_bytes(b"not a database")
    found = verify_receipt(run.file, {**run.environ, "FERRULE_HOME": str(tmp_path)}, None)
    assert (found.state, found.chain.state, set(states(found).values())) == ("differs", "differs", {"not verifiable"})


def test_files_are_judged_apart_from_the_receipt(run: Kept, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    shutil.copytree(run.folder, folder)
    outside = replace(run.file, folder=str(folder))
    where = {**run.environ, "FERRULE_HOME": "/no/such"}

    def file_states() -> list[tuple[str, str]]:
        return [(file.state, file.why) for file in verify_receipt(outside, where, None).files]

    assert file_states() == [("ok", ""), ("ok", "")]
    (folder / "app.py").write_text("x = 2\n")
    shutil.rmtree(folder / "tests")
    assert file_states() == [("differs", ""), ("differs", "")]
    (folder / "app.py").unlink()
    os.mkfifo(folder / "app.py")
    assert file_states() == [("not verifiable", "it is not a regular file"), ("differs", "")]
    shutil.rmtree(folder)
    assert file_states() == [("not verifiable", f"the folder {folder} is not here")] * 2
