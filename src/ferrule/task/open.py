"""Opens a task: a new one, or one that goes on in its session. Everything that can be wrong is said before anything runs."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ferrule.attempt.log import Log
from ferrule.attempt.masked import MaskedBlobs
from ferrule.attempt.setup import Setup
from ferrule.context.secrets import Mask
from ferrule.policy.decide import Policy
from ferrule.policy.rules import parse_rule
from ferrule.process.protocol import allowed_environment
from ferrule.process.supervisor import Supervisor
from ferrule.providers.base import Endpoint
from ferrule.providers.open import open_provider
from ferrule.store.blobs import TemporaryBlobs
from ferrule.store.folds import Conversation
from ferrule.store.journal import SqliteJournal, memory_journal
from ferrule.store.private import state_folder
from ferrule.store.protocol import Blobs, Journal
from ferrule.store.sessions import Sessions
from ferrule.tools.base import Place, Tool
from ferrule.tools.catalog import coding_tools
from ferrule.tools.schema import schema
from ferrule.types.errors import UsageError
from ferrule.types.names import spell
from ferrule.types.records import ModelChosen

from .completion import completion_tool
from .config.schema import Config
from .contracts import CODE, Contract
from .evidence import Evidence
from .gates import Checks
from .models import choose_endpoint
from .question import question_tool
from .sections import sections
from .task import Task
from .todos import todo_tool


@dataclass(frozen=True)
class TaskOptions:
    """`prompt` None means to go on as things stand. `resume` is a session id, its beginning, or `latest` (of this folder)."""

    prompt: str | None
    folder: Path
    config: Config
    environ: Mapping[str, str]
    user_folder: Path
    extra: tuple[Path, ...] = ()
    resume: str | None = None
    no_session: bool = False
    append_system_prompt: str = ""


Closers = list[Callable[[], Awaitable[None]]]


async def open_task(options: TaskOptions) -> Task:
    """Raises UsageError, LeaseHeld or StoreError; then nothing has been run and nothing stays open."""
    closers: Closers = []
    try:
        return await _open(options, closers)
    except BaseException:
        for closer in reversed(closers):
            await closer()
        raise


async def _open(options: TaskOptions, closers: Closers) -> Task:
    place = _place(options)
    chosen = await choose_endpoint(options.config, options.environ, None) if options.resume is None else None
    journal, blobs = _store(options, place.root, closers)
    conversation, evidence = Conversation(), Evidence()
    began, last = 0.0, 0
    async for record in journal.records():
        conversation.add(record)
        evidence.replay(record)
        began, last = began or record.time, record.seq
    log = Log(journal, conversation)
    chosen = chosen or await choose_endpoint(options.config, options.environ, conversation.model)
    endpoint = chosen.endpoint
    _check_cost_limit(options.config, endpoint)
    provider = open_provider(endpoint)
    closers.append(provider.close)
    processes = Supervisor()
    closers.append(processes.close)
    tools = _tools(CODE, conversation, options.config)
    mask = Mask(_secrets(options.environ))
    setup = Setup(
        provider=provider,
        tools={tool.name: tool for tool in tools},
        schemas=tuple(schema(tool) for tool in tools),
        system=sections(place.root, options.user_folder, began, _appended(options)),
        log=log,
        place=place,
        processes=processes,
        blobs=MaskedBlobs(blobs, mask),
        environment=allowed_environment(options.environ, options.config.env.passed),
        policy=_policy(options.config, place),
        mask=mask,
        effort=options.config.effort,
    )
    asked = ModelChosen(endpoint.asked or endpoint.name, endpoint.base_url, chosen.found)
    if conversation.model != asked:
        await log.add(asked)
    return Task(
        session_id=None if options.no_session else journal.session,
        task_id=f"{journal.session}/{log.branch}",
        folder=place.root,
        setup=setup,
        contract=CODE,
        limits=options.config.limits,
        passed_variables=options.config.env.passed,
        prompt=options.prompt,
        remark=chosen.remark,
        opened=last if options.resume else 0,
        evidence=evidence,
        closers=closers,
    )


def _place(options: TaskOptions) -> Place:
    folders = []
    for folder in (options.folder, *options.extra):
        if not folder.is_dir():
            raise UsageError(f"{folder} is not a folder.")
        folders.append(folder.resolve())
    return Place(folders[0], tuple(folders[1:]))


def _store(options: TaskOptions, folder: Path, closers: Closers) -> tuple[Journal, Blobs]:
    if not options.no_session:
        sessions = Sessions(state_folder(options.environ))
        journal: Journal = _session(sessions, options, folder)
        closers.append(journal.close)
        if point := options.environ.get("FERRULE_FAULT_POINT"):
            from ferrule.store.stopping import StoppingJournal

            journal = StoppingJournal(journal, point)
        return journal, sessions.blobs
    if options.resume is not None:
        raise UsageError("--no-session keeps nothing, so there is nothing to continue. Leave one of the two flags out.")
    journal = memory_journal(spell(str(folder)), CODE.kind)
    closers.append(journal.close)
    blobs = TemporaryBlobs()

    async def close_blobs() -> None:
        blobs.close()

    closers.append(close_blobs)
    return journal, blobs


def _session(sessions: Sessions, options: TaskOptions, folder: Path) -> SqliteJournal:
    match options.resume:
        case None:
            if options.config.retention_days is not None:
                sessions.prune(options.config.retention_days)
            return sessions.create(spell(str(folder)), CODE.kind)
        case "latest":
            latest = sessions.latest(spell(str(folder)))
            if latest is None:
                raise UsageError(
                    f"{folder} has no session to continue. Start one with -p PROMPT; see `ferrule sessions list --all`."
                )
            return sessions.open(latest.id)
        case name:
            return sessions.open(name)


def _tools(contract: Contract, conversation: Conversation, config: Config) -> tuple[Tool, ...]:
    checks = Checks(conversation, config.verify, config.gates.require_todos_done, config.verify_timeout)
    every = (*coding_tools(), todo_tool(), question_tool(), completion_tool(contract, checks))
    return tuple(tool for tool in every if tool.name in contract.tools)


def _policy(config: Config, place: Place) -> Policy:
    return Policy(
        approve=config.approve,
        allow=tuple(parse_rule(rule) for rule in config.allow),
        deny=tuple(parse_rule(rule) for rule in config.deny),
        root=str(place.root),
        extra=tuple(str(folder) for folder in place.extra),
        home=str(Path.home()),
    )


def _appended(options: TaskOptions) -> str:
    return "\n\n".join(text for text in (options.config.prompt.append, options.append_system_prompt) if text)


SECRET_WORDS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL")


def _secrets(environ: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Name and value of every variable that looks like a secret, long enough to be masked without harm."""
    return tuple(
        (name, value) for name, value in environ.items() if len(value) >= 8 and any(word in name.upper() for word in SECRET_WORDS)
    )


def _check_cost_limit(config: Config, endpoint: Endpoint) -> None:
    if config.limits.cost is not None and endpoint.profile.price is None:
        raise UsageError(
            f"--max-cost needs a price, and none is known for {endpoint.name}. "
            "Name the endpoint in config.toml with its price, or use --max-tokens."
        )
