"""The kind `code`: change something in the project folder and complete."""

from ferrule.tools.base import Tool
from ferrule.tools.catalog import coding_tools

from .completion import completion_tool
from .contracts import CODE
from .gates import Checks
from .guidance.guide import Guided, guide
from .holding.code import code_tool
from .holding.finding import Finding
from .kind import Kind, Opening, Prepared
from .question import question_tool
from .sections import environment, sections
from .todos import todo_tool


def _tools(opening: Opening, finding: Finding, guided: Guided) -> tuple[Tool, ...]:
    config = opening.options.config
    checks = Checks(opening.conversation, config.verify, config.gates.require_todos_done, config.verify_timeout, opening.hooks)
    every = (
        *coding_tools(finding.finder),
        code_tool(opening, finding),
        todo_tool(),
        question_tool(),
        *guided.tools,
        completion_tool(CODE, checks),
    )
    return tuple(tool for tool in every if tool.name in CODE.tools)


def _sections(opening: Opening, guided: Guided) -> tuple[str, ...]:
    options = opening.options
    appended = "\n\n".join(text for text in (options.config.prompt.append, options.append_system_prompt) if text)
    return sections(opening.place.root, opening.began, guided.sections, appended)


async def _prepare(opening: Opening) -> Prepared:
    optional = (environment(opening.place.root, opening.began),)
    guided = guide(opening)
    finding = Finding(opening.place, opening.processes, opening.environment, opening.closers)
    return Prepared(
        tools=_tools(opening, finding, guided),
        sections=_sections(opening, guided),
        prompt=guided.prompt,
        optional=optional,
        finding=finding,
        remark=guided.remark,
    )


CODING = Kind(CODE, _prepare)
