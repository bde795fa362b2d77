"""Which model is asked: the flag or configuration, else the session's, else a key's vendor, else a server on this machine."""

from collections.abc import Mapping
from dataclasses import dataclass

from ferrule.providers.base import Endpoint, Provider
from ferrule.providers.catalog import LOCAL_SERVERS, default_model, endpoint, probe_local
from ferrule.types.errors import UsageError
from ferrule.types.records import ModelChosen

from .config.schema import Config


@dataclass(frozen=True)
class Chosen:
    """`remark` is for the person where the choice was not theirs; `found` on this machine by asking around;
    `provider` where the kind of task brings its own."""

    endpoint: Endpoint
    remark: str = ""
    found: bool = False
    provider: Provider | None = None


async def choose_endpoint(config: Config, environ: Mapping[str, str], last: ModelChosen | None) -> Chosen:
    """`last` is what the session used. Raises UsageError that says what was tried and the shortest ways on.

    Servers on this machine are asked only when nothing else says what to use, or when the session was begun with one of them.
    """
    name = config.model or (last.model if last else None)
    if config.model is None and last is not None and last.found:
        found = await probe_local()
        if found is not None and found.name == last.model:
            return Chosen(found)
    if name is not None:
        return Chosen(endpoint(name, environ, config.endpoints))
    name = default_model(environ)
    if name is not None:
        return Chosen(endpoint(name, environ, config.endpoints), f"no model is configured; the key that is set leads to {name}")
    found = await probe_local()
    if found is not None:
        return Chosen(found, f"no model is configured; using {found.model} of the server at {found.base_url}", True)
    raise UsageError(nothing_found())


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
