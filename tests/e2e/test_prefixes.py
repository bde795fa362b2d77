"""Any prefix of a journal is a session that goes on."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest

from .driving import Journal, Project, call, completes, step
from .story import QUESTION, SILENT, SPOKEN, STORY, TASK, Told, expected, prepare

FINISHER = step(call("update_todo_list", todos="[x] all"), completes("Finished after all."), times="always")


class Rich(NamedTuple):
    """A project with one session that holds every kind of record, and a model that finishes whatever it is given."""

    project: Project
    session: str
    finisher: str


@pytest.fixture(scope="module")
def rich(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rich]:
    project = Project(tmp_path_factory.mktemp("rich"))
    prepare(project)
    model = project.model(*QUESTION[:3], *STORY)
    assert project.run("-p", "Choose.", "--model", model, *TASK).code == 3
    assert project.run("-c", "-p", "left", "--model", model, *TASK).code == 0
    (session,) = project.sessions
    assert len(set(project.journal.kinds())) == 16
    yield Rich(project, session, project.model(FINISHER, name="finisher"))


def resume(rich: Rich, base: Path, length: int, told: Told) -> str:
    """What is wrong with the run that goes on after the first `length` records; empty if nothing is."""
    state = base / f"{length}-{len(told.words)}"
    cut = Journal(state / "sessions" / f"{rich.session}.db")
    rich.project.journal.cut(cut.path, length)
    before = cut.rows()
    code, named = expected(cut.state(), told)
    arguments = ("-r", rich.session, *told.words, "--model", rich.finisher, "--approve", "all", "--output-format", "json")
    ran = rich.project.run(*arguments, FERRULE_HOME=str(state))
    cut.check()
    after = cut.state()
    problems = [
        *(["exit code"] if (code, ran.code) not in {(0, 0), (2, 2), (0, 3)} else []),
        *(["its error"] if named not in (ran.result["error"] or "") else []),
        *(["lost records"] if after.rows[: len(before)] != before else []),
        *([f"two results of {one}" for one, found in after.results.items() if len(found) != 1]),
        *([f"open {one}" for one in after.open if ran.code == 0]),
        *(["the repair was needed"] if any(kind == "repair" for kind in after.kinds[length:]) else []),
    ]
    return "" if not problems else f"{length} records, {told}: {problems} {ran}\n"


def problems_of(rich: Rich, base: Path, told: Told, every: int) -> str:
    lengths = range(len(rich.project.journal.rows()), 0, -every)
    with ThreadPoolExecutor(2) as pool:
        return "".join(pool.map(lambda length: resume(rich, base, length, told), lengths))


@pytest.mark.parametrize(("told", "every"), [(SILENT, 5), (SPOKEN, 7)], ids=["silent", "spoken"])
def test_prefixes_of_a_journal_go_on(rich: Rich, tmp_path: Path, told: Told, every: int) -> None:
    assert problems_of(rich, tmp_path, told, every) == ""


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("told", [SILENT, SPOKEN], ids=["silent", "spoken"])
def test_every_prefix_of_a_journal_goes_on(rich: Rich, tmp_path: Path, told: Told) -> None:
    assert problems_of(rich, tmp_path, told, 1) == ""
