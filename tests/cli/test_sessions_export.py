import hashlib
import json
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from .command import Shell, call, ends, lines

TALK = {
    "text": "I look.\n## Ended: finished (exit 0)\n\x1b[2J",
    "reasoning": "Thinking of Needles.",
    "calls": [call("read_file", path="hay.txt"), call("execute_command", command="grep 'the \"needle\"' größe")],
    "usage": {"input": 20, "output": 5},
}


@pytest.fixture
def session(shell: Shell) -> str:
    (shell.folder / "hay.txt").write_text("hay\n```\nNEEDLE\x1b[31m and needle\n```\n")
    shell.run("-p", "find the needle", "--model", shell.script(TALK, ends("A needle was there.")))
    return only(shell).stem


def only(shell: Shell) -> Path:
    [path] = shell.state.glob("sessions/*.db")
    return path


def damage(shell: Shell, seq: int) -> None:
    with closing(sqlite3.connect(only(shell))) as connection:
        connection.execute("UPDATE records SET payload = CAST(payload || ' ' AS BLOB) WHERE seq = ?", (seq,))
        connection.commit()


def chained(session: str, text: str) -> None:
    """The chain computed again from an export, by what docs/receipts.md says."""
    heads: dict[str, str] = {}
    for number, record in enumerate(lines(text), 1):
        fields = [heads.get(record["branch"], "0" * 64), session, record["branch"], str(record["seq"])]
        fields += [record["kind"], str(record["time"]), record["payload"]]
        spelled = b"".join(b"%d:%b" % (len(field.encode()), field.encode()) for field in fields)
        assert (record["seq"], record["session"], record["hash"]) == (number, session, hashlib.sha256(spelled).hexdigest())
        assert json.loads(record["payload"])["type"] == record["kind"]
        heads[record["branch"]] = record["hash"]


def test_an_export_holds_all_that_its_chain_is_checked_by(shell: Shell, session: str) -> None:
    ran = shell.run("sessions", "export", session[-4:], "--format", "jsonl")
    assert (ran.code, ran.err) == (0, "")
    chained(session, ran.out)
    with closing(sqlite3.connect(only(shell))) as connection:
        assert len(lines(ran.out)) == connection.execute("SELECT COUNT(*) FROM records").fetchone()[0]


def test_an_export_to_a_file_is_for_its_owner_alone(shell: Shell, session: str) -> None:
    ran = shell.run("sessions", "export", session, "--format", "jsonl", "-o", "e.jsonl")
    path = shell.folder / "e.jsonl"
    count = len(path.read_text().splitlines())
    assert (ran.code, ran.out, ran.err) == (0, "", f"ferrule: wrote {count} records to e.jsonl\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert shell.run("sessions", "export", session, "-o", "no/e").err == (
        "ferrule: no/e cannot be written: No such file or directory\n"
    )
    assert shell.run("sessions", "export", session, "-o", "/dev/null").code == 0


@pytest.mark.parametrize("form", ["markdown", "jsonl"])
def test_a_damaged_session_is_exported_up_to_its_damage_which_is_said(shell: Shell, session: str, form: str) -> None:
    damage(shell, 6)
    ran = shell.run("sessions", "export", session, "--format", form)
    assert ran.code == 1
    assert ran.err.startswith("ferrule: the export ends after 5 records: ")
    assert "its hash does not match what is stored and the record before" in ran.err
    if form == "jsonl":
        assert len(lines(ran.out)) == 5
    else:
        assert "## The export ends here" in ran.out


def test_markdown_keeps_what_was_said_apart_from_its_own_headings(shell: Shell, session: str) -> None:
    ran = shell.run("sessions", "export", session)
    headings = [line for line in ran.out.splitlines() if line.startswith("#")]
    assert (ran.code, ran.err) == (0, "")
    model = f"## Model `scripted/{shell.home}/script.json`"
    assert headings == [
        f"# Session {session}",
        "## You",
        model,
        "### Result of `read_file`: ok",
        "### Result of `execute_command`: ok",
        model,
        "### Result of `attempt_completion`: ok",
        "## Receipt",
        "## Ended: finished (exit 0)",
    ]
    assert "> ## Ended: finished (exit 0)\n> ␛[2J" in ran.out
    assert "````\n" in ran.out and "\x1b" not in ran.out


def test_search_finds_what_was_said_called_and_answered(shell: Shell, session: str) -> None:
    found = json.loads(shell.run("sessions", "search", "NEEDLE", "--output-format", "json").out)
    assert (found["sessions"], found["problems"], {hit["session"] for hit in found["hits"]}) == (1, [], {session})
    assert [(hit["place"], hit["times"]) for hit in found["hits"][:4]] == [
        ("you", 1),
        ("reasoning", 1),
        ("call execute_command", 1),
        ("result read_file", 2),
    ]
    assert "grep 'the \"needle\"' größe" in found["hits"][2]["snippet"]
    text = shell.run("sessions", "search", 'the "Needle"\' GRÖSSE'.replace("SS", "ß")).out
    assert text.startswith(f"{session}\n      5  call execute_command: ")
    assert "\x1b" not in shell.run("sessions", "search", "hay").out


def test_search_looks_in_one_folder_unless_all_is_said(shell: Shell, session: str) -> None:
    other = shell.home / "other"
    other.mkdir()
    none = shell.run("sessions", "search", "needle", "-C", str(other))
    assert (none.code, none.out) == (0, "")
    assert none.err == (
        "ferrule: 0 sessions searched, nothing found; ferrule sessions search TEXT --all looks in those of other folders too\n"
    )
    assert session in shell.run("sessions", "search", "needle", "--all", "-C", str(other)).out


def test_a_damaged_session_is_searched_up_to_its_damage_which_is_said(shell: Shell, session: str) -> None:
    damage(shell, 6)
    ran = shell.run("sessions", "search", "needle")
    assert (ran.code, session in ran.out) == (1, True)
    assert ran.err.startswith(f"ferrule: session {session} was searched only up to its damage: Record 6 ")
