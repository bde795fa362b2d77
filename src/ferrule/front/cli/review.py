"""`ferrule review`: review a local change, by a model or without one."""

import sys
from collections.abc import Mapping
from typing import Any

import msgspec

from ferrule.review.coverage import Coverage
from ferrule.review.open import open_review
from ferrule.review.review import Review, ReviewResult
from ferrule.review.subject import Wanted
from ferrule.task.config.layers import user_file
from ferrule.task.open import TaskOptions
from ferrule.types.names import spell
from ferrule.types.outcome import Outcome
from ferrule.types.result import RunResult, TaskEvent
from ferrule.types.review import SEVERITIES, Severity

from .arguments import Invocation, ReviewOf
from .headless import run_task
from .show.findings import findings_text
from .show.output import Pipe, standard_error, standard_output
from .show.terminal import Look, look_of
from .show.views import Opened, PersonView, StreamView, View
from .start import configured, with_receipt


def review(invocation: Invocation, environ: Mapping[str, str]) -> int:
    """Raises UsageError and what opening a task raises."""
    from .command import note

    asked = invocation.review or ReviewOf()
    options = TaskOptions(
        prompt=invocation.prompt,
        folder=invocation.folder,
        resume=invocation.resume,
        no_session=invocation.no_session,
        config=configured(invocation, environ),
        environ=environ,
        user_folder=user_file(environ).parent,
        if_busy="refuse" if invocation.if_busy == "read" else invocation.if_busy,
        told=note,
    )
    return start_review(options, wanted(asked, invocation.words), severity(asked.fail_on), invocation)


def wanted(asked: ReviewOf, words: tuple[str, ...]) -> Wanted:
    paths = tuple(spell(word) for word in words)
    if asked.commit is not None:
        return Wanted("commit", asked.commit, paths)
    if asked.base is not None:
        return Wanted("range", asked.base, paths)
    return Wanted("staged" if asked.staged else "worktree", None, paths)


def severity(name: str | None) -> Severity | None:
    return next((each for each in SEVERITIES if each == name), None)


def start_review(options: TaskOptions, what: Wanted, fail_on: Severity | None, invocation: Invocation) -> int:
    """Format and receipt are as the invocation says."""
    out, err = standard_output(), standard_error()
    opened: list[Review] = []

    async def opening() -> Review:
        opened.append(await open_review(options, what, fail_on))
        return opened[0]

    view = ReviewView(
        out, err, look_of(sys.stderr, options.environ), look_of(sys.stdout, options.environ), invocation.output_format, opened
    )
    result = run_task(with_receipt(opening, invocation.receipt), options.folder, view, err, last=True)
    if out.problem:
        err.text(f"ferrule: the result could not be written to standard output: {out.problem}\n")
        return result.exit_code or 1
    return result.exit_code


class ReviewView:
    """Progress as for every task; the result is the findings and what was looked at."""

    def __init__(self, out: Pipe, err: Pipe, look: Look, out_look: Look, output_format: str, opened: list[Review]) -> None:
        self.out = out
        self.look = out_look
        self.format = output_format
        self.opened = opened
        self.inner: View = StreamView(out) if output_format == "stream-json" else PersonView(Pipe(None), err, look, json=False)

    @property
    def abandoned(self) -> bool:
        return self.inner.abandoned

    def begin(self, task: Opened, folder: str) -> None:
        self.inner.begin(task, folder)

    def event(self, event: TaskEvent) -> None:
        self.inner.event(event)

    def end(self, result: RunResult) -> None:
        found = self.opened[0].result
        if found is None:
            self.inner.end(result)
            return
        if self.format != "stream-json":
            self.inner.end(result)
        self.out.bytes(rendered(found, self.format, self.look))


def rendered(found: ReviewResult, output_format: str, look: Look) -> bytes:
    match output_format:
        case "json":
            return result_json(found)
        case "stream-json":
            return b'{"type":"result",' + result_json(found)[1:]
        case "sarif":
            from ferrule.review.sarif import sarif

            return msgspec.json.format(msgspec.json.encode(sarif(found))) + b"\n"
        case _ if found.run.outcome is Outcome.USAGE_ERROR:
            return b""
        case _:
            return findings_text(found, look).encode("utf-8", "replace")


def never_began(result: RunResult, output_format: str) -> bytes:
    """The result of a review that could not be opened, for who reads a format for programs."""
    return rendered(ReviewResult(result, "", (), Coverage((), None), ()), output_format, Look())


def result_json(found: ReviewResult) -> bytes:
    """The result of the run with what was reviewed, the findings and the coverage beside its fields."""
    fields: dict[str, Any] = msgspec.to_builtins(found.run)
    coverage = {**msgspec.to_builtins(found.coverage), "line": found.coverage.line}
    more = {"subject": found.title, "findings": msgspec.to_builtins(found.findings), "coverage": coverage}
    return msgspec.json.encode({**fields, **more}) + b"\n"
