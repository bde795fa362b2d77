"""The one schema of all settings. The same dotted keys name them in files, in the environment and in `config show`."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

from ferrule.providers.base import IdStyle, ReasoningBack, SchemaStyle
from ferrule.run.hooks.hook import Hook
from ferrule.types.request import Effort
from ferrule.types.result import Limits
from ferrule.types.usage import Price

Approve = Literal["ask", "edits", "all"]
Diagnostics = Literal["off", "checks", "servers"]
SandboxMode = Literal["off", "workspace", "strict"]


class EndpointConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """A named server: `model = "NAME/MODEL"` asks it. The key itself is never here, only the name of its variable.

    None is *unknown*, not a guess; `window` and `max_output` in tokens. Time-outs in seconds, 0 is no limit; None is that of
    `timeouts`. From `promote` on they are those of `Profile`, for the filters of its model calls.
    """

    dialect: Literal["openai", "openai-responses", "anthropic", "google"]
    base_url: str
    key_env: str | None = None
    headers: Mapping[str, str] = {}
    window: int | None = None
    max_output: int | None = None
    price: Price | None = None
    images: bool | None = None
    reasoning: bool | None = None
    cache_marks: bool | None = None
    tools: Literal["native", "schema"] = "native"
    quirks: tuple[str, ...] = ()
    first_event_timeout: float | None = None
    idle_timeout: float | None = None
    total_timeout: float | None = None
    promote: bool | None = None
    html_entities: bool | None = None
    ids: IdStyle | None = None
    reasoning_back: ReasoningBack | None = None
    schemas: SchemaStyle | None = None
    image_bytes: int | None = None
    image_edge: int | None = None
    image_count: int | None = None


class Gates(Struct, frozen=True, forbid_unknown_fields=True):
    """What a completion must pass besides the verification commands."""

    require_todos_done: bool = True


class Environment(Struct, frozen=True, forbid_unknown_fields=True):
    """`env.pass`: names of variables that child processes may see beyond the harmless ones."""

    passed: tuple[str, ...] = field(default=(), name="pass")


class Sandbox(Struct, frozen=True, forbid_unknown_fields=True):
    """What confines the commands of tools and gates. `show`: further folders and files that `strict` lets them read."""

    mode: SandboxMode = "off"
    network: bool = False
    access: Literal["read-write", "read-only"] = "read-write"
    show: tuple[str, ...] = ()


class Ignore(Struct, frozen=True, forbid_unknown_fields=True):
    """`ignore.show`: listings name what `.ferruleignore` and `.rooignore` keep tools away from, with a lock."""

    show: bool = False


class Prompt(Struct, frozen=True, forbid_unknown_fields=True):
    """`prompt.append`: text added to the end of the system prompt."""

    append: str = ""


class Search(Struct, frozen=True, forbid_unknown_fields=True):
    """`codebase_search` finds by words; with the URL and the model of a server that speaks OpenAI's embeddings dialect, also by
    meaning: pieces of the code are sent there."""

    embeddings_url: str | None = None
    embeddings_model: str | None = None
    embeddings_key_env: str | None = None


class Mcp(Struct, frozen=True, forbid_unknown_fields=True):
    """`mcp.tools`: how many tools of servers a prompt lists; more are found by `search_tools` and called by `call_tool`."""

    tools: int = 40


class Timeouts(Struct, frozen=True, forbid_unknown_fields=True):
    """Seconds. `tool`: what one tool call may take, whatever limit of its own it has. `command`: when a command is ended that
    was not started for the background, also if it went there since (None: never). Of a model call, 0 is no limit:
    `first_event` from the request to the first event of the answer, `idle` from one piece of it to the next (None: 120, none for
    servers near by), `total` for the whole answer."""

    tool: float = 900.0
    command: float | None = None
    first_event: float | None = None
    idle: float | None = None
    total: float | None = None


class Config(Struct, frozen=True, forbid_unknown_fields=True):
    """All settings of one task. `verify_timeout` in seconds; `retention_days` None keeps sessions until they are removed.

    `diagnostics`: who looks for new problems in a file after an edit: language servers where they are installed (else the
    checkers), the checkers alone, or nobody.
    """

    model: str | None = None
    effort: Effort | None = None
    approve: Approve = "ask"
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    verify: tuple[str, ...] = ()
    verify_timeout: float = 300.0
    retention_days: int | None = None
    diagnostics: Diagnostics = "servers"
    limits: Limits = Limits()
    timeouts: Timeouts = Timeouts()
    gates: Gates = Gates()
    hooks: tuple[Hook, ...] = ()
    env: Environment = Environment()
    sandbox: Sandbox = Sandbox()
    ignore: Ignore = Ignore()
    prompt: Prompt = Prompt()
    search: Search = Search()
    mcp: Mcp = Mcp()
    endpoints: Mapping[str, EndpointConfig] = {}
