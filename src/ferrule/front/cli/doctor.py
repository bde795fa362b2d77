"""`ferrule doctor`."""

import asyncio
import sys
from collections.abc import Mapping, Sequence

import msgspec

from ferrule.task.doctor import Fact, examine, filters_of

from .arguments import Invocation
from .show.output import deliver
from .show.terminal import GREEN, RED, YELLOW, Look, clean, look_of

MARKS = {"ok": ("✓", GREEN), "note": ("?", YELLOW), "failed": ("✗", RED)}


def doctor(invocation: Invocation, environ: Mapping[str, str]) -> int:
    """Exit code 1 if something is missing without which Ferrule cannot work. With `--filters` only about the calls of a model."""
    if invocation.filters is not None:
        facts = filters_of(invocation.filters, invocation.folder, environ)
    else:
        facts = asyncio.run(examine(invocation.folder, environ))
    code = 1 if any(fact.state == "failed" for fact in facts) else 0
    if invocation.output_format == "json":
        return deliver(msgspec.json.encode(facts) + b"\n", code)
    return deliver(report(facts, look_of(sys.stdout, environ)), code)


def report(facts: Sequence[Fact], look: Look) -> str:
    """Facts under their topics."""
    width = max(len(fact.name) for fact in facts)
    text = ""
    topic = ""
    for fact in facts:
        if fact.topic != topic:
            topic = fact.topic
            text += f"{topic}\n"
        mark, style = MARKS[fact.state]
        text += f"  {look.paint(look.symbol(mark), style)} {fact.name:<{width}}  {clean(fact.detail)}\n"
    return text
