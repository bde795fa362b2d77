"""What an answer is, told from its structure alone: no words of any language are looked for."""

from typing import Literal

from ferrule.types.messages import Assistant

TurnKind = Literal["calls", "answer", "announced", "reasoning_only", "empty"]

COLONS = (":", "：", "﹕", "꞉")
FENCE = "```"


def turn_kind(message: Assistant) -> TurnKind:
    """`calls`: there is a call, whether or not it can be run.

    `announced`: text that ends where work should begin: the provider says that it stopped for a call and there is none, the last
    character is a colon, or a block of code stays open. `reasoning_only`: thoughts (or signed data) and nothing else to see.
    An answer that never came is no message: its stream ended in `Failed`. One that reached its limit says so by `stop`.
    """
    if message.calls:
        return "calls"
    text = message.text.rstrip()
    if not text:
        return "reasoning_only" if message.parts else "empty"
    opens_work = message.stop == "calls" or text.endswith(COLONS) or text.count(FENCE) % 2 == 1
    return "announced" if opens_work and message.stop != "refusal" else "answer"
