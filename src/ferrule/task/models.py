"""Which model is asked: the flag or configuration, else the session's, else a key's vendor, else a server on this machine."""

from collections.abc import Mapping

from ferrule.providers.base import Endpoint
from ferrule.providers.catalog import LOCAL_SERVERS, default_model, endpoint, probe_local
from ferrule.types.errors import UsageError

from .config.schema import Config


async def choose_endpoint(config: Config, environ: Mapping[str, str], session_model: str | None) -> Endpoint:
    """Raises UsageError that says what was tried and the shortest ways on."""
    name = config.model or session_model or default_model(environ)
    if name is not None:
        return endpoint(name, environ, config.endpoints)
    found = await probe_local()
    if found is not None:
        return found
    tried = ", ".join(f"{server} on port {port}" for server, port in LOCAL_SERVERS)
    raise UsageError(
        "no model is configured.\n"
        "Tried: --model, FERRULE_MODEL, config.toml, OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY, "
        f"and servers on this machine ({tried}).\n"
        "Ways on:\n"
        "  export ANTHROPIC_API_KEY=…      (or OPENAI_API_KEY, GEMINI_API_KEY)\n"
        "  start a local server, such as `ollama serve` with a model pulled\n"
        "  ferrule demo                    (no model needed: a script plays it)"
    )
