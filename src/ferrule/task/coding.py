"""The kind `code`: change something in the project folder and complete."""

from ferrule.tools.base import Tool
from ferrule.tools.catalog import coding_tools
from ferrule.tools.command.jobs import Jobs
from ferrule.tools.edit.editing import Editing
from ferrule.tools.edit.looking import Looking

from .completion import completion_tool
from .contracts import CODE
from .gates import Checks
from .guidance.guide import Guided, guide
from .holding.code import code_tool
from .holding.finding import Finding
from .holding.left import lost
from .kind import Kind, Opening, Prepared
from .mcp.opening import bring, secrets
from .question import question_tool
from .sections import environment, sections
from .todos import todo_tool


def _tools(opening: Opening, finding: Finding, jobs: Jobs, guided: Guided) -> tuple[Tool, ...]:
    config = opening.options.config
    checks = Checks(
        conversation=opening.conversation,
        verify=config.verify,
        require_todos_done=config.gates.require_todos_done,
        timeout=config.verify_timeout,
        hooks=opening.hooks,
        running=lambda: jobs.background,
    )
    every = (
        *coding_tools(finding.finder, jobs, _editing(opening)),
        code_tool(opening, finding),
        todo_tool(),
        question_tool(),
        *guided.tools,
        completion_tool(CODE, checks),
    )
    return tuple(tool for tool in every if tool.name in CODE.tools)


def _editing(opening: Opening) -> Editing:
    looking = Looking(opening.options.config.diagnostics, opening.place, opening.environment)
    opening.closers.append(looking.close)
    return Editing(look=looking.look)


def _sections(opening: Opening, guided: Guided) -> tuple[str, ...]:
    options = opening.options
    appended = "\n\n".join(text for text in (options.config.prompt.append, options.append_system_prompt) if text)
    return sections(opening.place.root, opening.began, guided.sections, appended)


async def _prepare(opening: Opening) -> Prepared:
    optional = (environment(opening.place.root, opening.began),)
    guided = guide(opening)
    finding = Finding(opening.place, opening.processes, opening.environment, opening.closers)
    jobs = Jobs(opening.log.add, opening.conversation.processes, opening.options.config.timeouts.command)
    opening.closers.append(jobs.close)
    brought = await bring(opening)
    return Prepared(
        tools=(*_tools(opening, finding, jobs, guided), *brought.tools),
        sections=_sections(opening, guided),
        prompt=guided.prompt if brought.prompt is None else brought.prompt,
        remark=" ".join(text for text in (guided.remark, brought.remark) if text),
        allow=brought.allow,
        records=(*lost(opening.conversation), *brought.records),
        optional=optional,
        finding=finding,
        jobs=jobs,
    )


CODING = Kind(CODE, _prepare, secrets=secrets)
