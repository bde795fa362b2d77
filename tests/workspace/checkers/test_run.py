import asyncio
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferrule.workspace.checkers.base import Changed, Checker, CheckerRun, CheckFinding, Said, Surroundings
from ferrule.workspace.checkers.catalog import checkers
from ferrule.workspace.checkers.code.ruff import ruff
from ferrule.workspace.checkers.data.workflows import workflows
from ferrule.workspace.checkers.run import run_all
from ferrule.workspace.checkers.text.typos import typos

from .checking import changed, program, report

PROGRAMS = {"ruff": (ruff(), "a.py"), "typos": (typos(), "a.md"), "zizmor": (workflows(), ".github/workflows/a.yml")}


def always(name: str, *found: CheckFinding) -> Checker:
    async def run(files: tuple[Changed, ...], surroundings: Surroundings) -> Said:
        return Said(found, "1.0")

    return Checker(name, lambda file: True, run)


def raising(name: str, problem: Exception) -> Checker:
    async def run(files: tuple[Changed, ...], surroundings: Surroundings) -> Said:
        raise problem

    return Checker(name, lambda file: True, run)


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Python whose packages brought no programs; those of a test go to the folder given, to be the PATH."""
    (tmp_path / "path").mkdir()
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path / "bin"))
    return tmp_path / "path"


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_that_is_not_installed_is_told(name: str, elsewhere: Path) -> None:
    checker, path = PROGRAMS[name]
    said = report(changed(path, "a: b\n"), checkers=(checker,), path=str(elsewhere))
    assert said.coverage.runs == (
        CheckerRun(checker.name, "", "missing", 1, f"{name} was found neither beside Python nor on PATH"),
    )


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize(
    "script, told",
    [
        ("kill -SEGV $$", "ended with signal 11"),
        ("exit 99", "ended with exit code 99"),
        ("echo '}'", "printed something else than expected"),
    ],
)
def test_a_program_that_crashes_is_told(name: str, script: str, told: str, elsewhere: Path) -> None:
    checker, path = PROGRAMS[name]
    on_path = program(elsewhere, name, f'[ "$1" = --version ] && echo {name} 9.9 && exit\n{script}')
    run = report(changed(path, "a: b\n"), checkers=(checker,), path=on_path).coverage.runs[0]
    assert (run.state, told in run.detail) == ("failed", True), run


def test_a_program_that_prints_without_end_is_told(elsewhere: Path) -> None:
    on_path = program(elsewhere, "ruff", '[ "$1" = --version ] && echo ruff 9.9 && exit\n/usr/bin/head -c 20000000 /dev/zero')
    run = report(changed("a.py", "a\n"), checkers=(ruff(),), path=on_path).coverage.runs[0]
    assert (run.state, run.detail) == ("failed", "ruff printed more than 16777216 bytes")


def test_a_program_that_hangs_is_ended_and_told(elsewhere: Path) -> None:
    from dataclasses import replace

    on_path = program(elsewhere, "ruff", "exec /bin/sleep 60")
    began = time.monotonic()
    said = report(changed("a.py", "a\n"), checkers=(replace(ruff(), timeout=0.3), always("other")), path=on_path)
    assert said.coverage.runs == (
        CheckerRun("ruff", "", "timed out", 1, "it took more than 0.3 s"),
        CheckerRun("other", "1.0", "ran", 1),
    )
    assert time.monotonic() - began < 5


def test_a_bug_of_a_checker_stops_no_other_and_is_told() -> None:
    found = CheckFinding("a", 1, 1, "good", "r", "nit", "text")
    said = report(changed("a", "x\n"), checkers=(raising("bad", KeyError("k")), always("good", found)))
    assert said.findings == (found,)
    assert said.coverage.runs == (CheckerRun("bad", "", "failed", 1, "KeyError: 'k'"), CheckerRun("good", "1.0", "ran", 1))


def test_findings_are_told_once_and_in_order() -> None:
    late, early = CheckFinding("b", 1, 1, "x", "r", "nit", "t"), CheckFinding("a", 9, 9, "x", "r", "nit", "t")
    heavy, light = CheckFinding("a", 9, 9, "y", "r", "blocking", "u"), CheckFinding("a", 9, 9, "z", "r", "nit", "u")
    whole = CheckFinding("a", None, None, "x", "m", "nit", "t")
    said = report(changed("a", "x\n"), checkers=(always("x", late, early, light), always("y", heavy, early, whole)))
    assert said.findings == (whole, heavy, early, late)


def test_two_run_at_once_and_no_more() -> None:
    now = most = 0

    async def run(files: tuple[Changed, ...], surroundings: Surroundings) -> Said:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.01)
        now -= 1
        return Said(())

    report(changed("a", "x\n"), checkers=tuple(Checker(f"c{n}", lambda file: True, run) for n in range(6)))
    assert most == 2


def test_cancelling_leaves_no_folder_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    started = asyncio.Event()

    async def run(files: tuple[Changed, ...], surroundings: Surroundings) -> Said:
        (surroundings.folder / "file").write_text("x")
        started.set()
        await asyncio.sleep(60)
        return Said(())

    async def nothing(path: str) -> None:
        return None

    async def never(path: str) -> bool:
        return False

    async def cancel() -> None:
        from ferrule.process.supervisor import Supervisor

        checker = Checker("slow", lambda file: True, run)
        task = asyncio.ensure_future(run_all((changed("a", "x\n"),), (checker,), Supervisor(), (), nothing, never))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert list(tmp_path.iterdir()) == []


def test_a_clean_change_has_no_findings_and_tells_what_was_checked() -> None:
    files = (changed("a.py", "print(1)\n"), changed("b.md", "Text.\n"), changed("c.json", "{}\n"), changed("d.sh", "true\n"))
    said = report(*files, checkers=checkers())
    assert said.findings == ()
    assert [(run.checker, run.state, run.files) for run in said.coverage.runs] == [
        ("ruff", "ran", 1),
        ("syntax", "ran", 1),
        ("json", "ran", 1),
        ("conflicts", "ran", 4),
        ("secrets", "ran", 4),
        ("typos", "ran", 3),
        ("links", "ran", 1),
        ("sizes", "ran", 4),
        ("modes", "ran", 4),
    ]
    assert (said.coverage.files, said.coverage.lines, said.coverage.skipped) == (4, 4, ())


def test_no_other_finding_shows_a_secret() -> None:
    key = "ghp_" + "Zk9QmWv3" + "T7xLr2Pn" + "B5cYd8Hs" + "J4fGa6Ut" + "E1wK"
    source = f"key = '{key}'  # recieve it\n"
    broken = f"f();\nlet x = ){key};\n"
    said = report(changed("a.py", source), changed("a.js", broken), checkers=checkers())
    assert {(each.path, each.rule) for each in said.findings} == {
        ("a.py", "github-token"),
        ("a.py", "typo"),
        ("a.js", "github-token"),
        ("a.js", "parse-error"),
    }
    assert all(key[at : at + 8] not in repr(said) for at in range(len(key) - 7))


NAMES = ("a.py", "a.js", "a.json", "a.yml", "a.toml", "setup.cfg", "a.xml", "a.md", "a.css", ".github/workflows/a.yml", "a.rb")


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(NAMES), st.binary(max_size=200)), min_size=1, max_size=4, unique_by=lambda each: each[0])
)
def test_no_content_makes_a_checker_fail(contents: list[tuple[str, bytes]]) -> None:
    said = report(*(changed(name, content) for name, content in contents), checkers=checkers())
    assert [run for run in said.coverage.runs if run.state != "ran"] == []
    for finding in said.findings:
        content = dict(contents)[finding.path]
        assert finding.line is None or 1 <= finding.line <= content.count(b"\n") + 1
