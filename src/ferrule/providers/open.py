"""From an endpoint to the provider that speaks its dialect. Each dialect is imported only when it is opened."""

from ferrule.types.errors import UsageError

from .base import Endpoint, Provider


def open_provider(endpoint: Endpoint) -> Provider:
    match endpoint.dialect:
        case "openai":
            from . import openai

            return openai.provider(endpoint)
        case "openai-responses":
            from . import openai_responses

            return openai_responses.provider(endpoint)
        case "anthropic":
            from . import anthropic

            return anthropic.provider(endpoint)
        case "google":
            from . import google

            return google.provider(endpoint)
        case "scripted":
            from .scripted.provider import ScriptedProvider

            return ScriptedProvider(endpoint)
        case "builtin":
            raise UsageError(f"{endpoint.name} reviews and does nothing else: use it with `ferrule review`.")
