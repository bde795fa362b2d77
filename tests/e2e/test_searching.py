"""Finding names, definitions and code through the installed command."""

import os

from .driving import Json, Project, Ran, call, completes, step


def ran(project: Project, *calls: Json) -> tuple[Ran, list[str]]:
    script = project.model(*(step(each) for each in calls), step(completes()))
    done = project.run("-p", "Look.", "--model", script, "--output-format", "json", "--approve", "all")
    results = [entry["result"] for entry in project.journal.entries("call_finished")]
    return done, ["".join(part["text"] for part in result["parts"]) for result in results][:-1]


def test_names_definitions_and_code_are_found_without_asking_anybody(project: Project) -> None:
    for folder in ("src", "ignored"):
        (project.folder / folder).mkdir()
    project.write("src/retry_policy.py", "def wait_seconds(attempt):\n    return 2**attempt\n")
    project.write("ignored/retry_other.py", "def wait_seconds(): pass\n")
    project.write(".gitignore", "ignored/\n")
    calls = [
        call("find_files", query="rtrypol"),
        call("list_code_definitions", path="src"),
        call("codebase_search", query="how long to wait"),
    ]
    done, answers = ran(project, *calls)
    assert (done.code, done.result["outcome"]) == (0, "finished")
    assert answers == [
        "Found 1 match.\nsrc/retry_policy.py",
        "# src/retry_policy.py\n1-2 | def wait_seconds(attempt):",
        "The best 1 places among 2 files.\n\n"
        "# src/retry_policy.py:1-3\n1 | def wait_seconds(attempt):\n2 |     return 2**attempt",
    ]
    assert sorted(os.listdir(project.folder)) == [".gitignore", "ignored", "src"]


def test_a_file_that_was_made_meanwhile_is_found(project: Project) -> None:
    project.write("a.py", "x\n")
    missing = call("find_files", query="later")
    made = call("write_to_file", path="deep/down/later.py", content="x\n")
    done, answers = ran(project, missing, made, call("execute_command", command="sleep 1"), missing)
    assert done.code == 0
    assert (answers[0], answers[3]) == (
        "Nothing of 1 files and folders in ./ matches `later`.",
        "Found 1 match.\ndeep/down/later.py",
    )


def test_the_index_of_the_code_lies_in_the_state_folder_and_a_task_that_keeps_nothing_leaves_none(project: Project) -> None:
    project.write("a.py", "def needle(): pass\n")
    look = call("codebase_search", query="needle")
    script = project.model(step(look), step(completes()))
    assert project.run("-p", "Look.", "--model", script, "--no-session").code == 0
    assert list(project.state.rglob("code/*.db")) == []
    assert ran(project, look)[0].code == 0
    (index,) = project.state.rglob("code/*.db")
    assert index.stat().st_mode & 0o777 == 0o600
    assert os.listdir(project.folder) == ["a.py"]
