"""The kind `code`: change something in the project folder and complete."""

from ferrule.tools.base import Tool
from ferrule.tools.catalog import coding_tools

from .completion import completion_tool
from .contracts import CODE
from .gates import Checks
from .holding.code import code_tool
from .holding.finding import Finding
from .kind import Kind, Opening, Prepared
from .question import question_tool
from .sections import environment, sections
from .todos import todo_tool


def _tools(opening: Opening, finding: Finding) -> tuple[Tool, ...]:
    config = opening.options.config
    checks = Checks(opening.conversation, config.verify, config.gates.require_todos_done, config.verify_timeout, opening.hooks)
    every = (
        *coding_tools(finding.finder),
        code_tool(opening, finding),
        todo_tool(),
        question_tool(),
        completion_tool(CODE, checks),
    )
    return tuple(tool for tool in every if tool.name in CODE.tools)


def _sections(opening: Opening) -> tuple[str, ...]:
    options = opening.options
    appended = "\n\n".join(text for text in (options.config.prompt.append, options.append_system_prompt) if text)
    return sections(opening.place.root, options.user_folder, opening.began, appended)


async def _prepare(opening: Opening) -> Prepared:
    optional = (environment(opening.place.root, opening.began),)
    finding = Finding(opening.place, opening.processes, opening.environment, opening.closers)
    return Prepared(_tools(opening, finding), _sections(opening), opening.options.prompt, optional=optional, finding=finding)


CODING = Kind(CODE, _prepare)
