"""Opens a task: a new one, or one that goes on in its session. Everything that can be wrong is said before anything runs."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from ferrule.attempt.hooks import NO_HOOKS, Hooks
from ferrule.attempt.log import Log
from ferrule.attempt.masked import MaskedBlobs
from ferrule.attempt.setup import Setup
from ferrule.context.secrets import Mask
from ferrule.policy.decide import Policy
from ferrule.policy.rules import parse_rule
from ferrule.process.hiding import hide
from ferrule.process.protocol import Processes, allowed_environment
from ferrule.process.supervisor import Supervisor
from ferrule.providers.base import Endpoint
from ferrule.store.folds import Conversation
from ferrule.tools.base import Place
from ferrule.tools.schema import schema
from ferrule.types.errors import UsageError
from ferrule.types.names import spell
from ferrule.types.records import Entry, ModelChosen, SessionOpened

from .closing import close_all
from .coding import CODING
from .config.schema import Config
from .holding.confining import Confinement, confine
from .holding.owned import OwnedProcesses
from .holding.session import Closers, Session, open_session
from .kind import Kind, Opening, Prepared, TaskOptions
from .models import Chosen, choose_endpoint
from .receipts.evidence import Evidence
from .task import Task

__all__ = ("TaskOptions", "open_task")


async def open_task(options: TaskOptions, kind: Kind = CODING) -> Task:
    """Raises UsageError, LeaseHeld or StoreError; then nothing was run, nothing stays open, and no session was begun."""
    closers: Closers = []
    try:
        return await _open(options, kind, closers)
    except BaseException as error:
        await close_all(closers, error)
        raise


async def _open(options: TaskOptions, kind: Kind, closers: Closers) -> Task:
    place = _place(options)
    chosen = await _choose(options, kind, None) if options.resume is None else None
    session = await open_session(options, place.root, kind.contract.kind)
    closers.append(session.close)
    log, evidence = Log(session.journal, Conversation()), Evidence()
    began, last = 0.0, 0
    async for record in session.journal.records():
        if isinstance(record.entry, SessionOpened):
            _check_session(record.entry, session.journal.session, place.root, kind)
        log.conversation.add(record)
        evidence.replay(record)
        began, last = began or record.time, record.seq
    if log.conversation.undoing:
        id = session.journal.session
        raise UsageError(f"An undo of session {id} was broken off. Let it come to its end first: ferrule undo {id}")
    chosen = chosen or await _choose(options, kind, log.conversation.model)
    processes = OwnedProcesses(Supervisor(), session.journal)
    closers.append(processes.close)
    confinement = await confine(options.config.sandbox, place, processes)
    closers.append(confinement.processes.close)
    environment = allowed_environment(options.environ, options.config.env.passed)
    mask = _mask(options.environ, chosen.endpoints, kind.secrets(options))
    hooks = _hooks(options.config, log, place, processes, environment, mask)
    prepared = await kind.prepare(Opening(options, place, log, processes, environment, began, closers, hooks, mask))
    setup = _setup(options, place, log, confinement, environment, prepared, chosen, session, mask, hooks)
    closers += [candidate.provider.close for candidate in setup.lineup.candidates]
    session.begun = True
    await log.add(*_first_records(log, chosen, prepared))
    return Task(
        session_id=None if options.no_session else session.journal.session,
        task_id=f"{session.journal.session}/{log.branch}",
        folder=place.root,
        setup=setup,
        contract=kind.contract,
        limits=options.config.limits,
        passed_variables=options.config.env.passed,
        prompt=prepared.prompt,
        finding=prepared.finding,
        jobs=prepared.jobs,
        sandbox=confinement.kind,
        remark=" ".join(remark for remark in (chosen.remark, confinement.remark, prepared.remark) if remark),
        opened=last if options.resume else 0,
        evidence=evidence,
        closers=closers,
    )


def _setup(
    options: TaskOptions,
    place: Place,
    log: Log,
    confinement: Confinement,
    environment: tuple[tuple[str, str], ...],
    prepared: Prepared,
    chosen: Chosen,
    session: Session,
    mask: Mask,
    hooks: Hooks,
) -> Setup:
    return Setup(
        lineup=chosen.lineup(),
        tools={tool.name: tool for tool in prepared.tools},
        schemas=tuple(schema(tool) for tool in prepared.tools),
        system=(*prepared.sections, *([confinement.section] if confinement.section else [])),
        optional=prepared.optional,
        log=log,
        place=place,
        processes=confinement.processes,
        blobs=MaskedBlobs(session.blobs, mask),
        preimages=session.preimages,
        chores=session.chores,
        environment=environment,
        policy=_policy(options.config, place, prepared.allow),
        mask=mask,
        effort=options.config.effort,
        hooks=hooks,
        tool_timeout=options.config.timeouts.tool,
    )


def _hooks(
    config: Config, log: Log, place: Place, processes: Processes, environment: tuple[tuple[str, str], ...], mask: Mask
) -> Hooks:
    if not config.hooks:
        return NO_HOOKS
    from ferrule.run.hooks.runner import HookRunner

    return HookRunner(config.hooks, log, place, processes, environment, mask)


async def _choose(options: TaskOptions, kind: Kind, last: ModelChosen | None) -> Chosen:
    provider = kind.provider(options, last)
    if provider is not None:
        return Chosen(((provider.endpoint,),), provider=provider)
    chosen = await choose_endpoint(options.config, options.environ, last)
    for endpoint in chosen.endpoints:
        _check_cost_limit(options.config, endpoint)
    return chosen


def _first_records(log: Log, chosen: Chosen, prepared: Prepared) -> tuple[Entry, ...]:
    endpoint = chosen.endpoints[0]
    asked = ModelChosen(endpoint.asked or endpoint.name, endpoint.base_url, chosen.found)
    return prepared.records if log.conversation.model == asked else (asked, *prepared.records)


def _check_session(opened: SessionOpened, id: str, folder: Path, kind: Kind) -> None:
    """A session is bound to its folder and its contract."""
    if opened.folder != spell(str(folder)):
        raise UsageError(f"Session {id} belongs to {opened.folder}. Go on there: add -C {opened.folder}")
    if opened.contract != kind.contract.kind:
        raise UsageError(f"Session {id} is a task of the kind {opened.contract}, not {kind.contract.kind}.")


def _place(options: TaskOptions) -> Place:
    folders = []
    for folder in (options.folder, *options.extra):
        if not folder.is_dir():
            raise UsageError(f"{folder} is not a folder.")
        folders.append(folder.resolve())
    return Place(folders[0], tuple(folders[1:]), options.config.ignore.show)


def _policy(config: Config, place: Place, allow: tuple[str, ...]) -> Policy:
    return Policy(
        approve=config.approve,
        allow=tuple(parse_rule(rule) for rule in (*config.allow, *allow)),
        deny=tuple(parse_rule(rule) for rule in config.deny),
        root=str(place.root),
        extra=tuple(str(folder) for folder in place.extra),
        home=str(Path.home()),
        read_only=config.sandbox.mode != "off" and config.sandbox.access == "read-only",
        ignores=place.guard,
    )


SECRET_WORDS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL")


def _mask(environ: Mapping[str, str], endpoints: Sequence[Endpoint], more: tuple[tuple[str, str], ...]) -> Mask:
    """Of all known secrets, which the commands that follow cannot read in our own environment either."""
    secrets = (*_secrets(environ, endpoints), *more)
    hide([value for _, value in secrets])
    return Mask(secrets)


def _secrets(environ: Mapping[str, str], endpoints: Sequence[Endpoint]) -> tuple[tuple[str, str], ...]:
    """Name and value of every variable that looks like a secret, and what the endpoints are asked with, wherever it came from."""
    found = {value: name for name, value in environ.items() if any(word in name.upper() for word in SECRET_WORDS)}
    for endpoint in endpoints:
        for name, value in (("key of the model", endpoint.key), *(("header of the model", text) for _, text in endpoint.headers)):
            if value:
                found.setdefault(value, name)
    return tuple((name, value) for value, name in found.items())


def _check_cost_limit(config: Config, endpoint: Endpoint) -> None:
    if config.limits.cost is not None and endpoint.profile.price is None:
        raise UsageError(
            f"--max-cost needs a price, and none is known for {endpoint.name}. "
            "Name the endpoint in config.toml with its price, or use --max-tokens."
        )
