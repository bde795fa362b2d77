"""The run that crash tests interrupt: several effects of every class, and a record of every kind that a run writes.

Each effect leaves a nonce in a file that Ferrule does not know as such; those files are the judge of what ran, and how often.
"""

from collections import Counter
from typing import NamedTuple

from .driving import Journal, Json, Project, Ran, State, asks, call, completes, runs, step

TASK = ("--approve", "all", "--verify", "true", "--output-format", "json")
NOTES = "end\n"

STORY: list[Json] = [
    step(
        call("read_file", path="notes.txt"),
        call("list_files", path="."),
        runs("echo nonce-1 >> effects"),
        reasoning="Look first.",
    ),
    {"fault": {"kind": "http", "status": 500, "headers": {"Retry-After": "0"}}},
    step(
        call("update_todo_list", todos="[x] look\n[x] change"),
        call("edit", file_path="notes.txt", old_string="end", new_string="nonce-2 \nend"),
        call("write_to_file", path="written.txt", content="nonce-3\n"),
        runs("echo nonce-4 >> effects"),
        text="Now the work.",
    ),
    {"text": "I am done, I think."},
    step(call("Read_File", path="notes.txt"), runs("echo nonce-5 >> effects; false"), call("no_such_tool")),
    step(completes("First."), runs("echo nonce-6 >> effects")),
    step(completes("Second."), times="always"),
]

QUESTION: list[Json] = [
    step(runs("echo nonce-1 >> effects")),
    step(asks("Which way?", "left", "right"), runs("echo nonce-2 >> effects")),
    step(runs("echo nonce-3 >> effects")),
    step(completes(), times="always"),
]

STORIES = {"story": STORY, "question": QUESTION}


class Told(NamedTuple):
    """How a killed run goes on: with a prompt of the person, or without."""

    words: tuple[str, ...]


SILENT, SPOKEN = Told(()), Told(("-p", "Go on."))


def prepare(project: Project) -> None:
    project.write("notes.txt", NOTES)


def expected(state: State, told: Told) -> tuple[int, str]:
    """The exit code of the run that goes on, and what its error must name."""
    if told.words:
        return 0, ""
    if state.waiting:
        return 2, state.waiting
    if not state.prompted:
        return 2, "no prompt"
    if state.outcome == "finished":
        return 2, "finished"
    return 0, ""


def go_on(project: Project, told: Told, *arguments: str, **environ: str) -> Ran:
    """Go on after a kill, judge what must hold then, and drive the rest of the story to its end."""
    journal = project.journal
    journal.check()
    before = journal.rows()
    state = journal.state()
    code, named = expected(state, told)
    ran = project.run("-c", *told.words, *arguments, **environ)
    assert ran.code == ran.result["exit_code"], ran
    assert ran.code == code or (code, ran.code) == (0, 3), ran
    assert named in (ran.result["error"] or ""), ran
    while ran.code == 3 or code == 2:
        code = 0
        ran = project.run("-c", "-p", "The left one.", *arguments, **environ)
    assert (ran.code, ran.result["outcome"]) == (0, "finished"), ran
    assert journal.rows()[: len(before)] == before
    journal.check()
    judge(project, journal)
    return ran


def judge(project: Project, journal: Journal) -> None:
    """No effect ran twice; what was reported done is done; what was never begun is not."""
    state = journal.state()
    assert state.open == []
    assert {call: found for call, found in state.results.items() if len(found) != 1} == {}
    done = Counter(
        word for name in ("effects", "notes.txt", "written.txt") for word in project.lines(name) if word.startswith("nonce-")
    )
    done = Counter({word.strip(): count for word, count in done.items()})
    for one in state.calls:
        kind, nonce, started = state.results[one][0], state.nonce(one), state.started.get(one, 0)
        if state.name(one) in ("execute_command", "edit"):
            assert started <= 1, f"{one} began {started} times"
        if nonce is None:
            continue
        possible = {"ok": {1}, "unknown": {0, 1}, "skipped": {0}, "interrupted": {0, 1}}[kind]
        assert done[nonce] in possible, f"{nonce}, reported {kind}, is there {done[nonce]} times"
        assert started or kind == "skipped"
