"""Hooks that are commands, with real processes."""

import json
import time
from pathlib import Path

import psutil
import pytest

from ferrule.attempt.hooks import FinalizeVerdict, Notice, ToolVerdict
from ferrule.run.hooks.hook import Hook
from ferrule.types.tools import Effect, ok

from .asking import CALL, ask


def before_tool(folder: Path, command: str, **more: object) -> tuple[ToolVerdict, str, str]:
    """The verdict, and the word and reason that were recorded."""
    hook = Hook("before_tool", command=command, **more)  # type: ignore[arg-type]  # from a table
    verdict, heard = ask(folder, [hook], lambda runner: runner.before_tool(CALL, Effect.MUTATING))
    (ran,) = heard.ran
    assert (ran.event, ran.call_id) == ("before_tool", "call_1")
    return verdict, ran.verdict, ran.reason


def test_it_reads_what_it_is_asked_about_as_json_and_stands_in_the_project(tmp_path: Path) -> None:
    before_tool(tmp_path, "cat > asked.json; pwd > where")
    asked = json.loads((tmp_path / "asked.json").read_text())
    session = asked.pop("session")
    assert asked == {
        "version": 1,
        "event": "before_tool",
        "folder": str(tmp_path),
        "tool": "edit",
        "call_id": "call_1",
        "arguments": {"path": "a"},
        "effect": "mutating",
    }
    assert session
    assert (tmp_path / "where").read_text() == f"{tmp_path}\n"


def test_exit_code_0_passes_whatever_it_prints(tmp_path: Path) -> None:
    assert before_tool(tmp_path, "echo fine; echo noise >&2") == (ToolVerdict(CALL), "pass", "")


def test_exit_code_2_blocks_with_what_it_complains_about(tmp_path: Path) -> None:
    verdict, word, reason = before_tool(tmp_path, "echo not in here >&2; exit 2")
    assert (verdict.decision, verdict.reason, word, reason) == ("block", "not in here.", "block", "not in here")
    assert before_tool(tmp_path, "exit 2")[0].reason == "it gave no reason."


def test_json_says_more_than_an_exit_code(tmp_path: Path) -> None:
    verdict, word, _ = before_tool(tmp_path, """echo '{"arguments":{"path":"b"},"decision":"ask","reason":"hm"}'""")
    assert (verdict.call.arguments, verdict.decision, verdict.reason, word) == ('{"path":"b"}', "ask", "hm.", "ask")
    assert before_tool(tmp_path, """echo '{"arguments":{"path":"b"}}'""")[1] == "change"


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("exit 1", "exit code 1"),
        ("echo went wrong >&2; exit 3", "exit code 3: went wrong"),
        ("kill -9 $$", "ended by signal 9"),
        ("/no/such/program", "exit code 127: "),
        ("echo '{\"decision\": '", "what it printed begins like JSON and is none: "),
        ('echo \'{"decision": "perhaps"}\'', "its answer is not understood: Invalid enum value 'perhaps'"),
        ('echo \'{"decison": "block"}\'', "its answer is not understood: Object contains unknown field `decison`"),
        ('echo \'{"summary": "x"}\'', "its answer says summary, but before_tool takes arguments, ask, block"),
        ("echo '{\"arguments\": [1]}'", "its answer is not understood: Expected `object | null`, got `array`"),
        ("head -c 1100000 /dev/zero", "it printed more than 1048576 bytes"),
    ],
)
def test_everything_else_is_a_failure_that_blocks_where_it_fails_closed(tmp_path: Path, command: str, why: str) -> None:
    verdict, word, reason = before_tool(tmp_path, command)
    assert (verdict.decision, word) == ("block", "failed")
    assert reason.startswith(why)
    assert verdict.reason.startswith(f"it failed: {reason}")
    assert before_tool(tmp_path, command, on_failure="open")[0] == ToolVerdict(CALL)


def test_a_hook_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    began = time.monotonic()
    verdict, _, reason = before_tool(tmp_path, "setsid sleep 61.0732 & exec sleep 61.0732", timeout=0.3)
    assert (verdict.decision, reason) == ("block", "it gave no answer within 0.3 s and was ended")
    assert time.monotonic() - began < 30
    assert not [each for each in psutil.process_iter(["cmdline"]) if "61.0732" in (each.info["cmdline"] or [])]


def test_much_output_on_both_streams_is_read_and_forgotten(tmp_path: Path) -> None:
    many = "head -c 3000000 /dev/zero | tr '\\0' x >&2"
    verdict, _, reason = before_tool(tmp_path, f"{many}; head -c 900000 /dev/zero; exit 2")
    assert verdict.decision == "block"
    assert len(reason) == 8000


def test_it_sees_the_allowed_environment_alone_and_nothing_stays_in_the_temporary_folder(tmp_path: Path) -> None:
    before_tool(tmp_path, "env > env; readlink /proc/self/fd/0 > stdin")
    assert "sings" not in (tmp_path / "env").read_text()
    assert "PATH=" in (tmp_path / "env").read_text()
    assert not Path((tmp_path / "stdin").read_text().strip()).parent.exists()


def test_what_it_prints_is_a_note_where_a_note_is_taken(tmp_path: Path) -> None:
    said, heard = ask(tmp_path, [Hook("session_start", command="echo Remember.")], lambda runner: runner.session_start(False))
    assert said == Notice(("Remember.",))
    assert [ran.verdict for ran in heard.ran] == ["note"]


def test_secrets_stay_out_of_records_and_notes(tmp_path: Path) -> None:
    secret = (("TOKEN", "abcdefgh12345678"),)
    hooks = [Hook("before_model", command="echo use abcdefgh12345678")]
    said, _ = ask(tmp_path, hooks, lambda runner: runner.before_model("scripted/x"), secret)
    assert said == Notice(("use [secret TOKEN]",))
    hooks = [Hook("before_finalize", command="echo abcdefgh12345678 >&2; exit 2")]
    _, heard = ask(tmp_path, hooks, lambda runner: runner.before_finalize(CALL), secret)
    assert heard.ran[0].reason == "[secret TOKEN]"


def test_a_result_is_replaced_commented_or_left_out(tmp_path: Path) -> None:
    def after(command: str, **more: str) -> tuple[str, list[str]]:
        hook = Hook("after_tool", command=command, **more)  # type: ignore[arg-type]  # from a table
        output, _ = ask(tmp_path, [hook], lambda runner: runner.after_tool(CALL, ok("the result")))
        return output.kind, [str(getattr(part, "text", "")) for part in output.parts]

    assert after("grep -q 'the result' && echo '{\"result\": \"another\"}'") == ("ok", ["another"])
    assert after("echo format it >&2; exit 2", name="fmt") == (
        "error",
        ["the result", "The tool ran (ok), and the hook fmt says: format it"],
    )
    assert after("exit 1") == ("ok", ["the result"])
    assert after("exit 1", on_failure="closed", name="redact") == (
        "error",
        ["The tool ran (ok), but its result is left out: the hook redact failed: exit code 1"],
    )


def test_a_terminal_action_is_revised_with_a_reason(tmp_path: Path) -> None:
    hooks = [
        Hook("before_finalize", command="true", name="a"),
        Hook("before_finalize", command="echo more >&2; exit 2", name="b"),
    ]
    said, _ = ask(tmp_path, hooks, lambda runner: runner.before_finalize(CALL))
    assert said == FinalizeVerdict("more", "b", ("a", "b"))
