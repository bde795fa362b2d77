"""Everything that an attempt works with, resolved before it begins."""

from collections.abc import Mapping

from msgspec import Struct, field

from ferrule.context.secrets import Mask
from ferrule.context.shrink import Shrinking
from ferrule.policy.decide import Policy
from ferrule.process.protocol import Processes
from ferrule.providers.base import Provider
from ferrule.store.protocol import Blobs
from ferrule.tools.base import Place, Tool
from ferrule.types.request import Effort, ToolSchema

from .filters.chains import Chains
from .fitting import Fitting
from .hooks import NO_HOOKS, Hooks
from .lineup import Lineup
from .log import Log
from .maintenance import Chore


class Setup(Struct, frozen=True):
    """`system` holds the prompt sections in order; `optional` are those of them that a request may go without. `mask` replaces
    the secrets that must not appear in tool output; `blobs` are masked already. `tool_timeout` is what one tool call may take,
    in seconds; a terminal action's checks have their own limits. `preimages` take what files hold before tools write them, as it
    is; None where no undo is wanted.
    """

    lineup: Lineup
    tools: Mapping[str, Tool]
    schemas: tuple[ToolSchema, ...]
    system: tuple[str, ...]
    log: Log
    place: Place
    processes: Processes
    blobs: Blobs
    environment: tuple[tuple[str, str], ...]
    policy: Policy
    mask: Mask
    effort: Effort | None = None
    shrinking: Shrinking = field(default_factory=Shrinking)
    chains: Chains = field(default_factory=Chains)
    fitting: Fitting = field(default_factory=Fitting)
    chores: tuple[Chore, ...] = ()
    hooks: Hooks = NO_HOOKS
    tool_timeout: float = 900.0
    optional: tuple[str, ...] = ()
    preimages: Blobs | None = None

    @property
    def provider(self) -> Provider:
        """Who is asked; a run may move on to another one."""
        return self.lineup.provider
