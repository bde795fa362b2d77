import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from .command import Shell, call, ends

HASH = "0" * 64


@pytest.fixture
def exported(shell: Shell) -> tuple[str, list[bytes]]:
    """The id of a session that is gone again, and the lines of its export."""
    (shell.folder / "hay.txt").write_text("hay\n")
    talk = {"text": "I look.", "calls": [call("read_file", path="hay.txt")]}
    shell.run("-p", "find the needle", "--model", shell.script(talk, ends("A needle was there.")))
    [path] = shell.state.glob("sessions/*.db")
    out = shell.run("sessions", "export", path.stem, "--format", "jsonl").out
    assert shell.run("sessions", "rm", path.stem).code == 0
    return path.stem, out.encode().splitlines(keepends=True)


def put(shell: Shell, lines: list[bytes]) -> Path:
    path = shell.folder / "export.jsonl"
    path.write_bytes(b"".join(lines))
    return path


def again(shell: Shell, session: str) -> list[bytes]:
    return shell.run("sessions", "export", session, "--format", "jsonl").out.encode().splitlines(keepends=True)


def test_a_whole_export_is_the_same_session_again_and_goes_on(shell: Shell, exported: tuple[str, list[bytes]]) -> None:
    session, lines = exported
    ran = shell.run("sessions", "import", str(put(shell, lines)))
    assert (ran.code, ran.err, ran.out) == (0, "", f"imported {session}: {len(lines)} records\n")
    assert again(shell, session) == lines
    ran = shell.run("-c", "-p", "and now?", "--model", shell.script({**ends("Going on."), "times": "always"}))
    assert (ran.code, ran.out) == (0, "Going on.\n")
    assert again(shell, session)[: len(lines)] == lines


Damage = Callable[[list[bytes]], list[bytes]]

HARMLESS: dict[str, tuple[Damage, list[str]]] = {
    "the last line without its end": (lambda lines: [*lines[:-1], lines[-1].rstrip()], []),
    "empty lines": (lambda lines: [lines[0], b"\n", b"  \n", *lines[1:]], []),
    "a block of NUL bytes on a line of its own": (
        lambda lines: [*lines[:3], b"\0" * 4096 + b"\n", *lines[3:]],
        ["line 4: 4096 NUL bytes in it were ignored"],
    ),
    "a block of NUL bytes before a record": (
        lambda lines: [*lines[:3], b"\0" * 512 + lines[3], *lines[4:]],
        ["line 4: 512 NUL bytes in it were ignored"],
    ),
    "a record twice": (lambda lines: [*lines[:4], lines[3], *lines[4:]], ["line 5: it repeats record 4, and was ignored"]),
    "all records twice": (
        lambda lines: lines + lines[1:3],
        ["line {n+1}: it repeats record 2, and was ignored", "line {n+2}: it repeats record 3, and was ignored"],
    ),
    "a torn record that was written again": (
        lambda lines: [*lines[:3], lines[3][:40] + b"\n", *lines[3:]],
        ["line 4: it is no record: Input data was truncated"],
    ),
    "a torn record joined with itself": (
        lambda lines: [*lines[:3], lines[3][:70] + lines[3], *lines[4:]],
        ["line 4: it begins with a torn record, which was ignored"],
    ),
    "noise between records": (
        lambda lines: [*lines[:3], b"\xff\xfe noise\n", b"[]\n", *lines[3:]],
        ["line 4: it is no record: JSON is malformed: ", "line 5: it is no record: Expected `object`, got `array`"],
    ),
}

LOSSY: dict[str, tuple[Damage, int, int, list[str]]] = {
    "a torn tail": (lambda lines: [*lines[:-1], lines[-1][:50]], -1, 1, ["line {n}: it is no record and it is cut: "]),
    "a torn tail of NUL bytes": (
        lambda lines: [*lines[:-1], lines[-1][:50] + b"\0" * 100],
        -1,
        1,
        ["line {n}: 100 NUL bytes in it were ignored", "line {n}: it is no record and it is cut: "],
    ),
    "a torn line in the middle": (
        lambda lines: [*lines[:4], lines[4][:50] + b"\n", *lines[5:]],
        4,
        -4,
        [
            "line 5: it is no record: Input data was truncated",
            "line 6: record 6 does not follow from those before: record 5 is missing before it; it and {n-6} more from ",
        ],
    ),
    "a missing line": (
        lambda lines: [*lines[:-2], lines[-1]],
        -2,
        1,
        ["line {n-1}: record {n} does not follow from those before: record {n-1} is missing before it; it was left out"],
    ),
    "two lines in the wrong order": (
        lambda lines: [*lines[:-2], lines[-1], lines[-2]],
        -1,
        1,
        ["line {n-1}: record {n} does not follow from those before"],
    ),
    "a changed payload": (
        lambda lines: [*lines[:-1], lines[-1].replace(b"A needle", b"No needle")],
        -1,
        1,
        ["line {n}: record {n} does not follow from those before: its hash does not match"],
    ),
    "a line of another session": (
        lambda lines: [*lines[:-1], lines[-1].replace(b'{"session":"2', b'{"session":"3')],
        -1,
        1,
        ["line {n}: it belongs to session 3"],
    ),
    "an impossible time": (
        lambda lines: [*lines[:-1], b'{"session":%b,"seq":%d,"branch":"main","time":%d,"kind":"x","payload":"{}","hash":"0"}\n'
        % (lines[0][11:33], len(lines), 2**70)],
        -1,
        1,
        ["line {n}: record {n} has an impossible time"],
    ),
}  # fmt: skip


def filled(messages: list[str], count: int) -> list[str]:
    for shift in range(-6, 7):
        messages = [message.replace(f"{{n{shift:+d}}}" if shift else "{n}", str(count + shift)) for message in messages]
    return messages


@pytest.mark.parametrize(("damage", "messages"), HARMLESS.values(), ids=HARMLESS)
def test_a_file_that_holds_all_records_is_imported_whole_and_its_damage_said(
    shell: Shell, exported: tuple[str, list[bytes]], damage: Damage, messages: list[str]
) -> None:
    session, lines = exported
    path = put(shell, damage(lines))
    before = path.read_bytes()
    ran = shell.run("sessions", "import", str(path))
    assert (ran.code, ran.out) == (0, f"imported {session}: {len(lines)} records\n")
    told = ran.err.splitlines()
    expected = filled(messages, len(lines))
    assert len(told) == len(expected)
    assert [line for line, start in zip(told, expected, strict=True) if not line.startswith(f"ferrule: {start}")] == []
    assert again(shell, session) == lines
    assert path.read_bytes() == before


@pytest.mark.parametrize(("damage", "kept", "lost", "messages"), LOSSY.values(), ids=LOSSY)
def test_what_does_not_follow_is_left_out_and_counted_and_what_stands_before_is_the_session(
    shell: Shell, exported: tuple[str, list[bytes]], damage: Damage, kept: int, lost: int, messages: list[str]
) -> None:
    session, lines = exported
    expected = lines[:kept]
    if lost < 0:
        lost += len(lines)
    ran = shell.run("sessions", "import", str(put(shell, damage(lines))))
    assert (ran.code, ran.out) == (
        1,
        f"imported {session}: {len(expected)} records, {lost} line{'' if lost == 1 else 's'} left out\n",
    )
    told = ran.err.splitlines()
    starts = filled(messages, len(lines))
    assert len(told) == len(starts), told
    assert [line for line, start in zip(told, starts, strict=True) if not line.startswith(f"ferrule: {start}")] == []
    assert again(shell, session) == expected


def forged(lines: list[bytes], **fields: object) -> bytes:
    """The first record with other fields and a hash that fits them."""
    record = {**json.loads(lines[0]), **fields}
    spelled = (
        HASH,
        record["session"],
        record["branch"],
        str(record["seq"]),
        record["kind"],
        str(record["time"]),
        record["payload"],
    )
    whole = b"".join(b"%d:%b" % (len(field.encode()), field.encode()) for field in spelled)
    return json.dumps(record | {"hash": hashlib.sha256(whole).hexdigest()}).encode() + b"\n"


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda lines: [], "holds no beginning of a session"),
        (lambda lines: [b"\0" * 5000], "holds no beginning of a session"),
        (lambda lines: [b"no json\n"], "line 1: it is no record"),
        (lambda lines: lines[1:], "line 1: record 2 does not follow from those before: record 1 is missing"),
        (lambda lines: [forged(lines, session="../../etc/x")], "'../../etc/x' is no id of a session"),
        (lambda lines: [forged(lines, kind="todo", payload='{"type":"todo","todos":[]}')], "does not begin with the opening"),
        (lambda lines: [forged(lines, kind="todo")], "is stored as 'todo' and says that it is 'session'"),
        (lambda lines: [forged(lines, kind="dance", payload='{"type":"dance"}')], "dance"),
    ],
)  # fmt: skip
def test_what_is_no_session_is_refused_and_leaves_nothing(
    shell: Shell, exported: tuple[str, list[bytes]], make: Damage, why: str
) -> None:
    ran = shell.run("sessions", "import", str(put(shell, make(exported[1]))))
    assert ran.code in (1, 2)
    assert why in ran.err
    assert ran.out == ""
    assert list(shell.state.glob("sessions/*.db")) == []


def test_a_session_that_is_there_is_not_replaced(shell: Shell, exported: tuple[str, list[bytes]]) -> None:
    session, lines = exported
    path = str(put(shell, lines[:5]))
    assert shell.run("sessions", "import", path).code == 0
    put(shell, lines)
    ran = shell.run("sessions", "import", path)
    assert (ran.code, ran.err) == (2, f"ferrule: Session {session} is here already. Nothing was imported.\n")
    assert again(shell, session) == lines[:5]


def test_an_import_is_told_to_programs(shell: Shell, exported: tuple[str, list[bytes]]) -> None:
    session, lines = exported
    ran = shell.run("sessions", "import", str(put(shell, [*lines[:2], lines[1]])), "--output-format", "json")
    assert json.loads(ran.out) == {
        "session": session,
        "records": 2,
        "left_out": 0,
        "troubles": [{"line": 3, "why": "it repeats record 2, and was ignored"}],
    }
