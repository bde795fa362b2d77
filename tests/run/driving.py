"""A real run of a real task: scripts play the models, waiting takes no time, and everything asked is kept."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from ferrule.attempt.ledger import Bound, Cause, Ledger
from ferrule.attempt.lineup import Candidate, Lineup
from ferrule.providers.base import Endpoint, Profile
from ferrule.providers.scripted.provider import ScriptedProvider
from ferrule.run.conclusion import Conclusion
from ferrule.run.run import Run
from ferrule.run.state import Reminding
from ferrule.task.config.schema import Config
from ferrule.task.open import TaskOptions, open_task
from ferrule.types.messages import Text, User
from ferrule.types.records import Record, UserSaid
from ferrule.types.request import Effort, Request
from ferrule.types.result import Limits, RecordAdded
from ferrule.types.stream import StreamEvent

Step = dict[str, Any]
PROMPT = User((Text("Do it."),))


def call(name: str, /, **arguments: Any) -> Step:
    return {"calls": [{"name": name, "arguments": arguments}]}


def ends(result: str = "Done.") -> Step:
    return call("attempt_completion", result=result)


def http(status: int, says: str | None = None, **more: Any) -> Step:
    return {"fault": {"kind": "http", "status": status, **({"says": says} if says else {}), **more}}


@dataclass
class Clock:
    """Time that passes only by waiting."""

    now: float = 1000.0
    waits: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    async def pause(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


@dataclass
class Heard:
    """A provider that keeps what it is asked."""

    provider: ScriptedProvider
    profile: Profile
    name: str
    asked: list[tuple[str, Request]]

    @property
    def endpoint(self) -> Endpoint:
        inner = self.provider.endpoint
        return Endpoint(inner.dialect, inner.model, inner.base_url, profile=self.profile)

    def stream(self, request: Request) -> AsyncIterator[StreamEvent]:
        self.asked.append((self.name, request))
        return self.provider.stream(request)

    async def close(self) -> None:
        await self.provider.close()


@dataclass
class Driven:
    conclusion: Conclusion
    records: tuple[Record, ...]
    asked: list[tuple[str, Request]]
    clock: Clock
    ledger: Ledger
    run: Run
    folder: Path

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.asked]

    @property
    def requests(self) -> list[Request]:
        return [request for _, request in self.asked]

    def entries(self, kind: type[Any]) -> list[Any]:
        return [record.entry for record in self.records if isinstance(record.entry, kind)]


def drive(
    base: Path,
    *scripts: Sequence[Step],
    keys: Mapping[int, int] | None = None,
    profile: Profile | None = None,
    limits: Limits | None = None,
    bounds: Mapping[Cause, Bound] | None = None,
    effort: Effort | None = None,
    reminders: int = 2,
    script: Mapping[str, Any] | None = None,
    optional: int | None = None,
) -> Driven:
    """Each script is a model, asked in this order. `keys`: a script (from 0) is a further key of the model of an earlier one.

    `optional`: which section of the system prompt may be left out.
    """
    files = []
    for number, steps in enumerate(scripts):
        file = base / f"{'abcdef'[number]}.json"
        file.write_text(json.dumps({"version": 1, "steps": list(steps), **(script or {})}))
        files.append(file)
    project = base / "project"
    project.mkdir(exist_ok=True)
    clock, asked = Clock(), []

    async def main() -> Driven:
        options = TaskOptions(
            prompt="Do it.",
            folder=project,
            config=Config(approve="all", model=f"scripted/{files[0]}"),
            environ={"PATH": os.environ["PATH"], "HOME": str(base)},
            user_folder=base / "user",
            no_session=True,
        )
        task = await open_task(options)
        candidates = []
        for number, file in enumerate(files):
            of = (keys or {}).get(number, number)
            provider = ScriptedProvider(Endpoint("scripted", str(file), str(file)))
            heard = Heard(provider, profile or Profile(), "abcdef"[number], asked)
            candidates.append(Candidate(heard, of + 1, 1 + sum(each.model == of + 1 for each in candidates)))
        system = task.setup.system
        setup = replace(
            task.setup,
            lineup=Lineup(candidates, clock),
            effort=effort,
            optional=() if optional is None else (system[optional],),
        )
        ledger = Ledger(limits or Limits(), clock, {"reminder": Bound(reminders, reminders), **(bounds or {})})
        run = Run(setup, ledger, Reminding("Go on.", "Say something."), pause=clock.pause, jitter=lambda: 0.5)
        try:
            await setup.log.add(UserSaid(PROMPT, "person"))
            conclusion = await run.drive()
            task.feed.end()
            records = [event.record async for event in task.events() if isinstance(event, RecordAdded)]
        finally:
            await task.close()
        return Driven(conclusion, tuple(records), asked, clock, ledger, run, project)

    return asyncio.run(main())
