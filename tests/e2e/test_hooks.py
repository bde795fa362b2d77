"""Hooks of the person and of the project, as anybody sees them."""

import json
import secrets
import signal

import pytest

from .driving import Project, carriers, completes, descendants, over, runs, step, until


def configured(project: Project, text: str) -> None:
    file = project.home / ".config/ferrule/config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def of_project(project: Project, text: str) -> None:
    file = project.folder / ".ferrule/config.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)


def table(event: str, command: str, **more: str) -> str:
    lines = [f'event = "{event}"', f"command = '''{command}'''", *(f'{key} = "{value}"' for key, value in more.items())]
    return "\n".join(["[[hooks]]", *lines, ""])


def task(project: Project, *steps: dict[str, object]) -> tuple[str, ...]:
    return ("-p", "Do it.", "--model", project.model(*steps), "--approve", "all", "--output-format", "json")


def test_a_persons_hook_denies_a_call_and_the_journal_says_so(project: Project) -> None:
    configured(project, table("before_tool", "echo not today >&2; exit 2", name="calm", match="execute_command"))
    ran = project.run(*task(project, step(runs("touch made")), step(completes())))
    assert (ran.code, ran.result["outcome"]) == (0, "finished")
    assert not (project.folder / "made").exists()
    assert [(each["tool"], each["reason"]) for each in ran.result["denials"]] == [("execute_command", "not today.")]
    (hook,) = project.journal.entries("hook")
    assert (hook["event"], hook["name"], hook["verdict"], hook["reason"]) == ("before_tool", "calm", "block", "not today")
    project.journal.check()


def test_hooks_of_a_project_that_is_not_trusted_do_not_run_and_that_is_said(project: Project) -> None:
    of_project(project, table("session_start", "touch ran"))
    arguments = task(project, step(completes()))
    untrusted = project.run(*arguments)
    assert untrusted.code == 0
    assert "is ignored because its folder is not trusted" in untrusted.err
    assert "not trusted" in project.run("doctor").out
    assert not (project.folder / "ran").exists()
    configured(project, f'trusted = ["{project.folder}"]\n')
    assert project.run(*arguments).code == 0
    assert (project.folder / "ran").exists()
    assert "touch ran; 30 s, fails open" in project.run("doctor").out


def test_hooks_that_never_accept_end_unverified(project: Project) -> None:
    configured(project, table("before_finalize", "echo no >&2; exit 2", name="never"))
    ran = project.run(*task(project, *[step(completes(str(n))) for n in range(9)]))
    assert (ran.code, ran.result["outcome"]) == (8, "unverified")
    assert [gate["gate"] for gate in ran.result["verification"] if not gate["passed"]] == ["hooks"]
    assert len(project.journal.entries("hook")) == 4


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_hook_and_all_that_it_started(project: Project, number: int) -> None:
    mark = f"60.{secrets.randbelow(10**12):012}"
    configured(project, table("before_tool", f"setsid sleep {mark} & sleep {mark}"))
    with project.started(*task(project, step(runs("true")), step(completes()))) as process:
        until(lambda: carriers(mark) != [])
        below = descendants(process.pid)
        process.send_signal(number)
        process.communicate()
        until(lambda: all(over(pid) for pid in below) and carriers(mark) == [])
    assert process.returncode == 130
    (hook,) = project.journal.entries("hook")
    assert (hook["verdict"], hook["reason"]) == ("failed", "it was interrupted")
    assert [entry["result"]["kind"] for entry in project.journal.entries("call_finished")] == ["skipped"]


def test_a_signal_ends_a_hook_that_is_told_of_the_end_and_the_outcome_stands(project: Project) -> None:
    mark = f"60.{secrets.randbelow(10**12):012}"
    configured(project, table("after_task", f"sleep {mark}"))
    with project.started(*task(project, step(completes("All done.")))) as process:
        until(lambda: carriers(mark) != [])
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate()
        until(lambda: carriers(mark) == [])
    result = json.loads(out)
    assert (process.returncode, result["outcome"], result["result"]) == (0, "finished", "All done.")
