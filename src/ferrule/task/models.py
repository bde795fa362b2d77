"""Which model is asked: the flag or configuration, else the session's, else a key's vendor, else a server on this machine."""

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from ferrule.attempt.lineup import Candidate, Lineup
from ferrule.providers.base import Endpoint, Provider
from ferrule.providers.catalog import LOCAL_SERVERS, default_model, endpoints, probe_local
from ferrule.providers.open import open_provider
from ferrule.types.errors import UsageError
from ferrule.types.records import ModelChosen

from .config.schema import Config


class Chosen(Struct, frozen=True):
    """`models` in the order in which they are asked, each as one endpoint a key. `remark` is for the person where the choice was
    not theirs; `found` on this machine by asking around; `provider` where the kind of task brings its own."""

    models: tuple[tuple[Endpoint, ...], ...]
    remark: str = ""
    found: bool = False
    provider: Provider | None = None

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        return tuple(endpoint for keys in self.models for endpoint in keys)

    def lineup(self) -> Lineup:
        """Everybody who can be asked, opened. Raises UsageError where one cannot be."""
        if self.provider is not None:
            return Lineup([Candidate(self.provider)])
        return Lineup(
            [
                Candidate(open_provider(endpoint), model, key)
                for model, keys in enumerate(self.models, 1)
                for key, endpoint in enumerate(keys, 1)
            ]
        )


async def choose_endpoint(config: Config, environ: Mapping[str, str], last: ModelChosen | None) -> Chosen:
    """`last` is what the session used. Raises UsageError that says what was tried and the shortest ways on.

    Servers on this machine are asked only when nothing else says what to use, or when the session was begun with one of them.
    """
    if config.model is not None:
        return Chosen(tuple(_keys(name, config, environ) for name in names(config.model)))
    if last is not None:
        found = await probe_local() if last.found else None
        if found is not None and found.name == last.model:
            return Chosen(((_timed(found, config),),))
        return Chosen((_keys(last.model, config, environ),))
    name = default_model(environ)
    if name is not None:
        return Chosen((_keys(name, config, environ),), f"no model is configured; the key that is set leads to {name}")
    found = await probe_local()
    if found is not None:
        remark = f"no model is configured; using {found.model} of the server at {found.base_url}"
        return Chosen(((_timed(found, config),),), remark, True)
    raise UsageError(nothing_found())


def names(models: str) -> tuple[str, ...]:
    """The models of `A,B`, each once."""
    return tuple(dict.fromkeys(name.strip() for name in models.split(",")))


def _keys(name: str, config: Config, environ: Mapping[str, str]) -> tuple[Endpoint, ...]:
    return tuple(_timed(each, config) for each in endpoints(name, environ, config.endpoints))


def _timed(endpoint: Endpoint, config: Config) -> Endpoint:
    """With the configured time-outs, where the endpoint has none of its own."""
    profile, timeouts = endpoint.profile, config.timeouts
    timed = replace(
        profile,
        first_event_timeout=timeouts.first_event if profile.first_event_timeout is None else profile.first_event_timeout,
        idle_timeout=timeouts.idle if profile.idle_timeout is None else profile.idle_timeout,
        total_timeout=timeouts.total if profile.total_timeout is None else profile.total_timeout,
    )
    return replace(endpoint, profile=timed)


def nothing_found() -> str:
    tried = ", ".join(f"{server} on port {port}" for server, port in LOCAL_SERVERS)
    return (
        "no model is configured.\n"
        "Tried: --model, FERRULE_MODEL, config.toml, OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY, "
        f"and servers on this machine ({tried}).\n"
        "Ways on:\n"
        "  export ANTHROPIC_API_KEY=…      (or OPENAI_API_KEY, GEMINI_API_KEY)\n"
        "  start a local server, such as `ollama serve` with a model pulled\n"
        "  ferrule demo                    (no model needed: a script plays it)"
    )
