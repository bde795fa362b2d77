"""`ask_followup_question`: the call stays open until somebody answers."""

from typing import Annotated

from msgspec import Meta, Struct

from ferrule.tools.base import Tool, ToolContext, no_actions
from ferrule.types.errors import ToolError
from ferrule.types.tools import Effect, Option, Question, ToolOutput


class Suggestion(Struct, frozen=True):
    text: Annotated[str, Meta(description="A complete answer that can be chosen as it stands.")]
    mode: Annotated[str | None, Meta(description="Mode to switch to with this answer.")] = None


class Asking(Struct, frozen=True):
    question: Annotated[str, Meta(description="One clear question with what is needed to answer it.")]
    follow_up: Annotated[tuple[Suggestion, ...], Meta(description="1 to 4 suggested answers.", min_length=1, max_length=4)]


def question_tool() -> Tool:
    async def run(params: Asking, context: ToolContext) -> ToolOutput:
        if not params.question.strip():
            raise ToolError("`question` is empty.")
        if not 1 <= len(params.follow_up) <= 4:
            raise ToolError(f"`follow_up` takes 1 to 4 suggestions, got {len(params.follow_up)}.")
        if any(not suggestion.text.strip() for suggestion in params.follow_up):
            raise ToolError("Each suggestion in `follow_up` needs a `text`.")
        options = tuple(Option(suggestion.text, suggestion.mode) for suggestion in params.follow_up)
        return ToolOutput("ok", (), waits=Question(params.question, options))

    return Tool(
        name="ask_followup_question",
        description=(
            "Ask the person something that only they can decide, with 1 to 4 suggested answers. "
            "First use the other tools to find out by yourself."
        ),
        params=Asking,
        effect=Effect.IDEMPOTENT,
        actions=no_actions,
        run=run,
        terminal=True,
    )
