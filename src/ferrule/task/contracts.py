"""What may end a task of a kind, which gates must hold, and how it is reminded: data (design section 6)."""

from msgspec import Struct


class Contract(Struct, frozen=True):
    """`gates` in order; the first that fails answers the terminal action. After `refusals` of them the task is unverified."""

    kind: str
    ends_by: tuple[str, ...]
    tools: tuple[str, ...]
    gates: tuple[str, ...]
    reminders: int
    refusals: int
    reminder: str
    empty_reminder: str


CODE = Contract(
    kind="code",
    ends_by=("attempt_completion",),
    tools=(
        "read_file",
        "list_files",
        "find_files",
        "search_files",
        "codebase_search",
        "list_code_definitions",
        "write_to_file",
        "apply_diff",
        "edit",
        "apply_patch",
        "execute_command",
        "read_command_output",
        "stop_command",
        "update_todo_list",
        "ask_followup_question",
        "skill",
        "run_slash_command",
        "attempt_completion",
    ),
    gates=("failed_tool", "open_todos", "running_processes", "verify", "hooks"),
    reminders=2,
    refusals=5,
    reminder=(
        "[Automatic reminder] You stopped without calling a tool, so the task is still open. If the work is done, call "
        "attempt_completion with the result. If something is missing, go on with the next tool call. "
        "If only a person can decide, call ask_followup_question."
    ),
    empty_reminder=(
        "[Automatic reminder] Your last answer was empty. Go on with the next tool call, or end the task with attempt_completion."
    ),
)

CONTRACTS: dict[str, Contract] = {CODE.kind: CODE}
