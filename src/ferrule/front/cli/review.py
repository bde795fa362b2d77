"""`ferrule review`: review a local change, by a model or without one."""

import sys
from collections.abc import Mapping
from typing import Any

import msgspec

from ferrule.review.open import open_review
from ferrule.review.review import Review, ReviewResult
from ferrule.review.subject import Wanted
from ferrule.task.config.layers import user_file
from ferrule.task.open import TaskOptions
from ferrule.types.names import spell
from ferrule.types.result import RunResult, TaskEvent
from ferrule.types.review import SEVERITIES, Severity

from .arguments import Invocation, ReviewOf
from .headless import run_task
from .show.findings import findings_text
from .show.output import Pipe, standard_error, standard_output
from .show.terminal import Look, look_of
from .show.views import Opened, PersonView, StreamView, View
from .start import configured


def review(invocation: Invocation, environ: Mapping[str, str]) -> int:
    """Raises UsageError and what opening a task raises."""
    asked = invocation.review or ReviewOf()
    options = TaskOptions(
        prompt=invocation.prompt,
        folder=invocation.folder,
        resume=invocation.resume,
        no_session=invocation.no_session,
        config=configured(invocation, environ),
        environ=environ,
        user_folder=user_file(environ).parent,
    )
    return start_review(options, wanted(asked, invocation.words), severity(asked.fail_on), invocation.output_format)


def wanted(asked: ReviewOf, words: tuple[str, ...]) -> Wanted:
    paths = tuple(spell(word) for word in words)
    if asked.commit is not None:
        return Wanted("commit", asked.commit, paths)
    if asked.base is not None:
        return Wanted("range", asked.base, paths)
    return Wanted("staged" if asked.staged else "worktree", None, paths)


def severity(name: str | None) -> Severity | None:
    return next((each for each in SEVERITIES if each == name), None)


def start_review(options: TaskOptions, what: Wanted, fail_on: Severity | None, output_format: str) -> int:
    out, err = standard_output(), standard_error()
    opened: list[Review] = []

    async def opening() -> Review:
        opened.append(await open_review(options, what, fail_on))
        return opened[0]

    view = ReviewView(out, err, look_of(sys.stderr, options.environ), look_of(sys.stdout, options.environ), output_format, opened)
    result = run_task(opening, options.folder, view, err, last=True)
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
        if self.format == "stream-json":
            self.out.bytes(b'{"type":"result",' + result_json(found)[1:])
            return
        self.inner.end(result)
        self.out.bytes(self._rendered(found))

    def _rendered(self, found: ReviewResult) -> bytes:
        match self.format:
            case "json":
                return result_json(found)
            case "sarif":
                from ferrule.review.sarif import sarif

                return msgspec.json.format(msgspec.json.encode(sarif(found))) + b"\n"
            case _:
                return findings_text(found, self.look).encode("utf-8", "replace")


def result_json(found: ReviewResult) -> bytes:
    """The result of the run with what was reviewed, the findings and the coverage beside its fields."""
    fields: dict[str, Any] = msgspec.to_builtins(found.run)
    coverage = {**msgspec.to_builtins(found.coverage), "line": found.coverage.line}
    more = {"subject": found.title, "findings": msgspec.to_builtins(found.findings), "coverage": coverage}
    return msgspec.json.encode({**fields, **more}) + b"\n"
