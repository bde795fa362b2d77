"""From an endpoint to the provider that speaks its dialect. Each dialect is imported only when it is opened."""

from ferrule.types.errors import UsageError

from .base import Endpoint, Provider
from .hosts import is_local

IDLE_SECONDS = 120.0


def idle_default(endpoint: Endpoint) -> float | None:
    """Local servers may read a long prompt in silence for minutes, so that there is no limit for them."""
    return None if is_local(endpoint.base_url) else IDLE_SECONDS


def open_provider(endpoint: Endpoint, idle_timeout: float | None = None) -> Provider:
    """`idle_timeout` in seconds: None is the default of the endpoint, 0 is no limit."""
    idle = idle_default(endpoint) if idle_timeout is None else idle_timeout or None
    match endpoint.dialect:
        case "openai":
            from . import openai

            return openai.provider(endpoint, idle)
        case "openai-responses":
            from . import openai_responses

            return openai_responses.provider(endpoint, idle)
        case "anthropic":
            from . import anthropic

            return anthropic.provider(endpoint, idle)
        case "google":
            from . import google

            return google.provider(endpoint, idle)
        case "scripted":
            from .scripted.provider import ScriptedProvider

            return ScriptedProvider(endpoint)
        case "builtin":
            raise UsageError(f"{endpoint.name} reviews and does nothing else: use it with `ferrule review`.")
