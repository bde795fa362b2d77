"""`ferrule sessions compact ID [--focus TEXT]`: a session's conversation in a shorter form, for what is asked next."""

import asyncio
from collections.abc import Mapping

import msgspec

from ferrule.task.sessions.compact import Compacted, NotCompacted, compact_session
from ferrule.types.errors import Interrupted
from ferrule.types.outcome import Outcome

from .arguments import Invocation
from .show.output import deliver, standard_error
from .show.terminal import clean
from .start import configured


def compact(invocation: Invocation, environ: Mapping[str, str]) -> int:
    """The exit code is not 0 where nothing was shortened. Raises UsageError, LeaseHeld, StoreError, Interrupted."""
    working = compact_session(
        environ, invocation.words[0], invocation.focus, lambda folder: configured(invocation._replace(folder=folder), environ)
    )
    try:
        session, result = asyncio.run(working)
    except KeyboardInterrupt as error:
        raise Interrupted("interrupted; the session is as it was") from error
    json = invocation.output_format == "json"
    match result:
        case Compacted(shrunk=shrunk):
            told = f"session {session}: about {shrunk.before:,} tokens a request before, {shrunk.after:,} from here on\n"
            return deliver(_json(session, result) if json else told)
        case NotCompacted(why=why, fault=fault):
            standard_error().text(f"ferrule: session {session} is as it was: {clean(why)}\n")
            code = (Outcome.FAILED if fault is None else fault.outcome).exit_code
            return deliver(_json(session, result), code) if json else code


def _json(session: str, result: Compacted | NotCompacted) -> bytes:
    match result:
        case Compacted(shrunk=shrunk):
            told = {"compacted": True, "before": shrunk.before, "after": shrunk.after, "usage": shrunk.usage, "why": None}
        case NotCompacted(why=why, usage=usage):
            told = {"compacted": False, "before": None, "after": None, "usage": usage, "why": why}
    return msgspec.json.encode({"session": session, **told}) + b"\n"
