"""`ferrule replay ID`: a session's journal through the views of a live run."""

import asyncio
import sys
from collections.abc import Mapping

from ferrule.front.cli.arguments import Invocation
from ferrule.front.cli.show.output import standard_error, standard_output
from ferrule.front.cli.show.terminal import look_of
from ferrule.front.cli.show.views import PersonView, StreamView, View
from ferrule.task.sessions.replay import Begun, Concluded, Played, Stopped, replay
from ferrule.types.messages import Text
from ferrule.types.records import Answered, UserSaid
from ferrule.types.result import RecordAdded


def replay_session(invocation: Invocation, environ: Mapping[str, str]) -> int:
    """Raises UsageError for an unknown session, StoreError where its journal is damaged."""
    out, err = standard_output(), standard_error()
    view: View = StreamView(out)
    if invocation.output_format != "stream-json":
        view = PersonView(out, err, look_of(sys.stderr, environ), json=False)
    asyncio.run(_play(invocation, environ, view))
    if out.problem:
        err.text(f"ferrule: standard output cannot be written: {out.problem}\n")
        return 1
    return 0


async def _play(invocation: Invocation, environ: Mapping[str, str], view: View) -> None:
    try:
        async for played in replay(environ, invocation.words[0], invocation.until, invocation.speed):
            show(played, view)
            if view.abandoned:
                return
    finally:
        if isinstance(view, PersonView):
            view.progress.finish()


def show(played: Played, view: View) -> None:
    match played:
        case Begun() as begun:
            view.begin(begun, begun.folder)
        case Concluded(result=result):
            view.end(result)
        case Stopped(seq=seq, open=open):
            if open and isinstance(view, PersonView):
                view.remark(f"the replay ends at record {seq}; the run has no outcome up to there")
        case RecordAdded(record=record) as event:
            if isinstance(view, PersonView):
                match record.entry:
                    case UserSaid(origin="person", message=message):
                        view.remark("you: " + " ".join(part.text for part in message.parts if isinstance(part, Text)))
                    case Answered(text=text):
                        view.remark(f"you: {text}")
                    case _:
                        pass
            view.event(event)
        case event:
            view.event(event)
