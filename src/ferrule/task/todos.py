"""`update_todo_list`: the plan as a Markdown checklist, replaced as a whole."""

import re
from typing import Annotated, Literal

from msgspec import Meta, Struct

from ferrule.tools.base import Tool, ToolContext, no_actions
from ferrule.types.errors import ToolError
from ferrule.types.messages import Text
from ferrule.types.tools import Effect, Todo, ToolOutput

LINE = re.compile(r"\s*(?:[-*+]\s+)?\[(?P<box>[ xX~-])\]\s+(?P<text>.*\S)\s*")
STATUS: dict[str, Literal["pending", "in_progress", "completed"]] = {
    " ": "pending",
    "x": "completed",
    "X": "completed",
    "-": "in_progress",
    "~": "in_progress",
}


class TodoList(Struct, frozen=True):
    todos: Annotated[str, Meta(description="One item a line: `[ ] open`, `[-] in progress`, `[x] done`.")]


def parse_todos(text: str) -> tuple[Todo, ...]:
    """Every line that is not blank must be an item. Raises ToolError naming the first that isn't; nothing is dropped."""
    todos = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        match = LINE.fullmatch(line)
        if match is None:
            raise ToolError(
                f"Line {number} of `todos` is not an item: {line.strip()[:80]!r}. "
                "Write each line as `[ ] text`, `[-] text` or `[x] text`. The list is unchanged."
            )
        todos.append(Todo(match["text"], STATUS[match["box"]]))
    if not todos:
        raise ToolError("`todos` holds no item. The list is unchanged. Write at least one line such as `[ ] text`.")
    return tuple(todos)


def todo_tool() -> Tool:
    async def run(params: TodoList, context: ToolContext) -> ToolOutput:
        todos = parse_todos(params.todos)
        done = sum(todo.status == "completed" for todo in todos)
        return ToolOutput("ok", (Text(f"The list has {len(todos)} items, {done} done."),), todos=todos)

    return Tool(
        name="update_todo_list",
        description="Replace the todo list of this task. Use it for work of several steps, and keep it true.",
        params=TodoList,
        effect=Effect.IDEMPOTENT,
        actions=no_actions,
        run=run,
    )
