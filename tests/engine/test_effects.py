"""What is run again after a crash is decided by what a tool declares, never by its name."""

import asyncio
from pathlib import Path

import pytest

from ferrule.attempt.log import Log
from ferrule.attempt.recover import recover
from ferrule.review.staging import abort_tool
from ferrule.store.folds import Conversation, Started
from ferrule.store.journal import memory_journal
from ferrule.task.completion import completion_tool
from ferrule.task.contracts import CODE
from ferrule.task.gates import Checks
from ferrule.task.question import question_tool
from ferrule.task.receipts.evidence import Evidence
from ferrule.task.todos import todo_tool
from ferrule.tools.catalog import coding_tools
from ferrule.types.messages import Assistant, ToolCall
from ferrule.types.records import AssistantSaid, CallStarted
from ferrule.types.tools import Effect
from ferrule.types.usage import NOTHING

from .calling import Desk, tool


def test_every_tool_declares_what_repeating_it_would_do() -> None:
    checks = Checks(Conversation(), (), False, 1.0)
    every = (*coding_tools(), todo_tool(), question_tool(), completion_tool(CODE, checks), abort_tool())
    assert {each.name: each.effect.value for each in every} == {
        "read_file": "read",
        "list_files": "read",
        "find_files": "read",
        "search_files": "read",
        "list_code_definitions": "read",
        "write_to_file": "idempotent",
        "apply_diff": "mutating",
        "edit": "mutating",
        "apply_patch": "mutating",
        "execute_command": "mutating",
        "read_command_output": "read",
        "stop_command": "idempotent",
        "update_todo_list": "idempotent",
        "ask_followup_question": "idempotent",
        "attempt_completion": "idempotent",
        "abort_task": "idempotent",
    }


@pytest.mark.parametrize(
    ("effect", "still_open"),
    [(Effect.READ, True), (Effect.IDEMPOTENT, True), (Effect.MUTATING, False), (Effect.EXTERNAL, False)],
)
def test_only_what_does_no_harm_may_run_again(tmp_path: Path, effect: Effect, still_open: bool) -> None:
    """The name says the opposite of the effect."""

    async def crashed() -> tuple[bool, list[str], int]:
        journal = memory_journal(str(tmp_path), "code")
        log, evidence = Log(journal, Conversation()), Evidence()
        log.listeners.append(evidence.hear)
        call = ToolCall("call_1", "read_delete_everything", "{}")
        await log.add(AssistantSaid(Assistant((call,), "calls", "scripted/x"), NOTHING, 0.0))
        await log.add(CallStarted("call_1", call.name, effect))
        await recover(Desk(tmp_path, (tool(call.name, effect),)).setup(log), spoken=False)
        states = [isinstance(each.state, Started) for each in log.conversation.open_calls]
        kinds = [result.kind for result in log.conversation.last_results]
        await journal.close()
        return states == [True], kinds, len(evidence.unwatched)

    assert asyncio.run(crashed()) == (still_open, [] if still_open else ["unknown"], 0 if still_open else 1)
