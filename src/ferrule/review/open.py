"""Opens a local review: the comparison, the tools over it, and whoever reviews."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

from msgspec.structs import replace

from ferrule.providers.base import Provider
from ferrule.providers.catalog import default_model
from ferrule.task.gates import Checks
from ferrule.task.kind import Kind, Opening, Prepared, TaskOptions
from ferrule.task.open import open_task
from ferrule.task.sections import environment
from ferrule.tools.base import Tool, ToolContext
from ferrule.tools.catalog import coding_tools
from ferrule.tools.checks.run_checks import RunChecks, run_checks_tool
from ferrule.types.errors import UsageError
from ferrule.types.records import ModelChosen
from ferrule.types.review import Severity
from ferrule.workspace.checkers.subject import Subject as Checked
from ferrule.workspace.git.repository import Git

from . import builtin
from .contract import REVIEW_LOCAL
from .diff_tool import diff_tool
from .hiding import hiding
from .prompting import kickoff, sections
from .review import Review
from .staging import abort_tool, comment_tool, submit_tool
from .subject import Subject, Wanted, compare, look


async def open_review(options: TaskOptions, wanted: Wanted, fail_on: Severity | None = None) -> Review:
    """`options.prompt` is a wish beside the kickoff, or feedback when a review goes on. Raises as `open_task` does."""
    found: list[Subject] = []

    async def prepare(opening: Opening) -> Prepared:
        git = Git(opening.processes, opening.place.root, git_environment(options.environ, opening.environment))
        opening.closers.append(_closing(git))
        subject = await _subject(git, opening, wanted)
        found.append(subject)
        instructions = await _instructions(git, subject)
        records = () if opening.conversation.reviewed else (subject.record,)
        begun = bool(opening.conversation.messages)
        prompt = options.prompt if begun else kickoff(subject, instructions, options.prompt)
        return Prepared(
            _tools(opening, git, subject, fail_on), sections(environment(opening.place.root, opening.began)), prompt, records
        )

    task = await open_task(options, Kind(REVIEW_LOCAL, prepare, _provider))
    return Review(task, found[0], fail_on)


GIT_SAYS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")
"""What git tells its hooks: `git commit -a` commits another index than the repository's."""


def git_environment(environ: Mapping[str, str], environment: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    return (*environment, *((name, environ[name]) for name in GIT_SAYS if name in environ))


def _closing(git: Git) -> Callable[[], Awaitable[None]]:
    async def close() -> None:
        git.close()

    return close


async def _subject(git: Git, opening: Opening, wanted: Wanted) -> Subject:
    """A review that goes on is of the same content, or is refused: its findings belong to that."""
    before = opening.conversation.reviewed
    if before is None:
        subject = await look(git, wanted)
        if not subject.comparison.diff.files:
            raise UsageError(
                f"There is nothing to review: no changes in {subject.title}. " + " ".join(subject.comparison.diff.notes)
            )
        return subject
    again = Wanted(before.kind, before.content if before.kind == "commit" else before.base, before.paths)
    if wanted not in (Wanted("worktree"), replace(again, ref=wanted.ref)):
        raise UsageError(
            "A review that goes on keeps its subject. Leave out what is to be reviewed, or start a new one without -c."
        )
    now = await compare(git, again)
    if (now.content_id, now.base) != (before.content, before.base):
        raise UsageError("The change under review is another one now. Start a new review without -c.")
    return await look(git, again)


def _provider(options: TaskOptions, last: ModelChosen | None) -> Provider | None:
    """The built-in reviewer when it is asked for, when it began the session, or when there is no model to ask."""
    named = options.config.model or (last.model if last else None) or default_model(options.environ)
    return builtin.BuiltinReviewer() if named in (None, builtin.NAME) else None


def _tools(opening: Opening, git: Git, subject: Subject, fail_on: Severity | None) -> tuple[Tool, ...]:
    @asynccontextmanager
    async def source(params: RunChecks, context: ToolContext) -> AsyncIterator[Checked]:
        if params.base is None and not params.paths:
            yield subject.checked
            return
        chosen = await look(git, _part(subject, params))
        yield chosen.checked

    conversation = opening.conversation
    checks = Checks(conversation, (), False, opening.options.config.verify_timeout, opening.hooks)
    every = (
        diff_tool(subject.comparison.diff),
        *coding_tools(),
        run_checks_tool(source),
        comment_tool(subject.comparison.diff, conversation),
        submit_tool(REVIEW_LOCAL, checks, fail_on),
        abort_tool(),
    )
    return tuple(hiding(tool, subject.mask) for tool in every if tool.name in REVIEW_LOCAL.tools)


def _part(subject: Subject, params: RunChecks) -> Wanted:
    """What a call of `run_checks` asks for: the subject's own end against another base, or a part of it."""
    wanted, head = subject.wanted, subject.comparison.head
    paths = params.paths or wanted.paths
    if params.base is not None and head is not None:
        return Wanted("range", params.base, paths, head)
    return Wanted(wanted.kind, params.base or wanted.ref, paths, head or wanted.head)


async def _instructions(git: Git, subject: Subject) -> dict[str, str]:
    """Of the repository as it was before the change: what is under review does not say how it is to be reviewed."""
    found = {}
    for name in ("AGENTS.md", ".ferrule/review.md"):
        content = await git.file_at(subject.comparison.base_tree, name, 32_000)
        if content:
            found[name] = content.decode("utf-8", "replace")
    return found
