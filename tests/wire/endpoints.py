"""The endpoints that requests are spelled for: models of the catalog with their quirks, and servers of which nothing is known."""

from ferrule.providers.base import Dialect, Endpoint, Profile
from ferrule.providers.catalog import profile

MODELS: tuple[tuple[Dialect, str], ...] = (
    ("openai", "gpt-4.1"),
    ("openai", "gpt-5.1"),
    ("openai", "gpt-6-sol"),
    ("openai", "gpt-6.2-sol"),
    ("openai-responses", "gpt-4.1"),
    ("openai-responses", "gpt-5.1"),
    ("openai-responses", "gpt-6.2-sol"),
    ("anthropic", "claude-sonnet-5-5"),
    ("anthropic", "claude-opus-4-5"),
    ("google", "gemini-3.8-flash"),
    ("google", "gemini-2.5-pro"),
)
DIALECTS: tuple[Dialect, ...] = ("openai", "openai-responses", "anthropic", "google")
BLIND = Profile(window=32_000, max_output=4_096, images=False, reasoning=False)


def endpoint(dialect: Dialect, model: str, known: Profile, base_url: str = "http://127.0.0.1:1") -> Endpoint:
    return Endpoint(dialect, model, base_url, "key", (), known)


ENDPOINTS: dict[str, Endpoint] = {
    **{f"{dialect}/{model}": endpoint(dialect, model, profile(dialect, model)) for dialect, model in MODELS},
    **{f"{dialect}/unknown": endpoint(dialect, "unknown", Profile()) for dialect in DIALECTS},
    **{f"{dialect}/blind": endpoint(dialect, "blind", BLIND) for dialect in DIALECTS},
}
SCHEMA = endpoint("openai", "small", Profile(window=32_000, tools="schema"))
