"""`run_checks`: what linters, parsers and detectors say about the changed lines."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Annotated

from msgspec import Meta, Struct

from ferrule.tools.base import Place, Tool, ToolContext
from ferrule.types.errors import FerruleError, ToolError
from ferrule.types.names import spell
from ferrule.types.tools import Action, Effect, ToolOutput, ok
from ferrule.workspace.checkers.base import Report
from ferrule.workspace.checkers.subject import Subject

from .text import report_text


class RunChecks(Struct, frozen=True):
    base: Annotated[str | None, Meta(description="Commit to compare with; default: what the task compares with.")] = None
    paths: Annotated[tuple[str, ...], Meta(description="Only these files and folders; default: every changed file.")] = ()
    skip: Annotated[int, Meta(description="Findings to leave out at the beginning, where a report did not show all.")] = 0


Source = Callable[[RunChecks, ToolContext], AbstractAsyncContextManager[Subject]]
"""Gives what is to be checked, for as long as it is entered. Raises FerruleError where there is nothing to compare."""


def run_checks_tool(source: Source) -> Tool:
    last: list[tuple[Subject, Report]] = []

    async def checked(subject: Subject, context: ToolContext) -> Report:
        """Of the very subject that was checked last, its report again: the next findings of it are asked for."""
        from ferrule.workspace.checkers.catalog import checkers
        from ferrule.workspace.checkers.run import run_all

        if last and last[0][0] is subject:
            return last[0][1]
        report = await run_all(
            subject.files, checkers(), context.processes, context.environment, subject.base_file, subject.exists
        )
        last[:] = [(subject, report)]
        return report

    async def run(params: RunChecks, context: ToolContext) -> ToolOutput:
        try:
            async with source(params, context) as subject:
                report = await checked(subject, context)
        except ToolError:
            raise
        except FerruleError as problem:
            raise ToolError(str(problem)) from problem
        return ok(report_text(report, subject.notes, max(params.skip, 0)))

    return Tool(
        name="run_checks",
        description="Check the changed lines with linters and parsers: Python by ruff, syntax of other languages, JSON, YAML, "
        "TOML, INI, XML, workflows, conflict markers, secrets, debugger calls, typos, links, sizes, modes. It changes nothing. "
        "The last line says what was checked and what was not.",
        params=RunChecks,
        effect=Effect.READ,
        actions=_actions,
        run=run,
        sequential=True,
    )


def _actions(params: RunChecks, place: Place) -> tuple[Action, ...]:
    return (Action("read", (spell(str(place.root)), *(spell(str(place.resolve(path))) for path in params.paths))),)
