"""Keys and tokens in added lines, by those detectors of detect-secrets that know a shape; none that guesses by randomness.

The detectors are used alone, without that package's settings (which are one for the whole process) and without its verification
(which asks the network). A finding shows the kind of secret and its first characters, never the value.
"""

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ferrule.types.review import Severity
from ferrule.workspace.checkers.base import Changed, Checker, CheckFinding, Missing, Said, Surroundings, each_file

if TYPE_CHECKING:
    from detect_secrets.plugins.base import BasePlugin

PIECE, OVERLAP = 5000, 600
"""Characters of a long line that are looked at together, and how far pieces overlap."""
FRAGMENT = 12
"""Characters of the shortest token."""
RANDOM = 3.0
"""Bits a character; what is repeated or counted up is an example."""
KEY_LINES = 200
"""Lines of the longest private key."""
EXAMPLES = re.compile(
    r"example|x{6,}|0{6,}|1234567|abcdef|dummy|placeholder|redacted|your[_-]|fake|sample|changeme|\.\.\.|\*{3}", re.IGNORECASE
)
LOCAL = re.compile(
    r"@(localhost|127\.|0\.0\.0\.0|\[?::1|[\w.-]*example\.|[\w-]+([:/\"'\s]|$)|[\w.-]*\.(test|invalid|local|internal)\b)"
)
ALLOWED = re.compile(r"pragma: ?allowlist secret|gitleaks:allow|betterleaks:allow")
TESTS = re.compile(
    r"(^|/)(tests?|testing|testdata|fixtures?|specs?|examples?|docs?)(/|$)|(^|/)(test_[^/]*|[^/]*_test\.[a-z]+|conftest\.py)$|\.(md|rst)$"
)
SHAPES: dict[str, re.Pattern[str]] = {
    "Anthropic key": re.compile(r"\bsk-ant-[a-z0-9]{3,12}-[\w-]{80,120}"),
    "Google API key": re.compile(r"\bAIza[\w-]{35}\b"),
    "GitHub fine-grained token": re.compile(r"\bgithub_pat_[A-Za-z0-9_]{80,90}\b"),
    "Hugging Face token": re.compile(r"\bhf_[A-Za-z]{34}\b"),
    "Groq key": re.compile(r"\bgsk_[A-Za-z0-9]{52}\b"),
    "xAI key": re.compile(r"\bxai-[A-Za-z0-9]{80}\b"),
}
"""Shapes of tokens that are younger than the detectors."""
WEAK = ("Private Key", "JSON Web Token", "Basic Auth Credentials")
"""Kinds that tests and documents show on purpose."""


def secrets() -> Checker:
    return Checker("secrets", lambda file: True, _run)


async def _run(files: tuple[Changed, ...], surroundings: Surroundings) -> Said:
    try:
        detectors, number = _detectors()
    except ImportError as problem:
        raise Missing(f"detect-secrets is not installed ({problem.name})") from problem
    known = _baseline(await surroundings.base_file(".secrets.baseline"))
    hide: list[str] = []
    said = await each_file(lambda file: _judge(file, detectors, known, hide))(files, surroundings)
    return Said(said.findings, f"detect-secrets {number}", hide=tuple(dict.fromkeys(hide)))


def _detectors() -> "tuple[tuple[BasePlugin, ...], str]":
    from detect_secrets.__version__ import VERSION
    from detect_secrets.plugins.aws import AWSKeyDetector
    from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
    from detect_secrets.plugins.basic_auth import BasicAuthDetector
    from detect_secrets.plugins.discord import DiscordBotTokenDetector
    from detect_secrets.plugins.github_token import GitHubTokenDetector
    from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
    from detect_secrets.plugins.jwt import JwtTokenDetector
    from detect_secrets.plugins.mailchimp import MailchimpDetector
    from detect_secrets.plugins.npm import NpmDetector
    from detect_secrets.plugins.openai import OpenAIDetector
    from detect_secrets.plugins.private_key import PrivateKeyDetector
    from detect_secrets.plugins.pypi_token import PypiTokenDetector
    from detect_secrets.plugins.sendgrid import SendGridDetector
    from detect_secrets.plugins.slack import SlackDetector
    from detect_secrets.plugins.square_oauth import SquareOAuthDetector
    from detect_secrets.plugins.stripe import StripeDetector
    from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector
    from detect_secrets.plugins.twilio import TwilioKeyDetector

    kinds = (
        *(AWSKeyDetector, AzureStorageKeyDetector, BasicAuthDetector, DiscordBotTokenDetector, GitHubTokenDetector),
        *(GitLabTokenDetector, JwtTokenDetector, MailchimpDetector, NpmDetector, OpenAIDetector, PrivateKeyDetector),
        *(PypiTokenDetector, SendGridDetector, SlackDetector, SquareOAuthDetector, StripeDetector, TelegramBotTokenDetector),
        TwilioKeyDetector,
    )
    return tuple(kind() for kind in kinds), VERSION


def _baseline(content: bytes | None) -> frozenset[str]:
    """Hashes of what the project has looked at and accepted before this change, as detect-secrets keeps them."""
    try:
        results: Any = json.loads(content or b"{}").get("results", {})
        return frozenset(each["hashed_secret"] for found in results.values() for each in found)
    except (ValueError, AttributeError, KeyError, TypeError):
        return frozenset()


def _judge(file: Changed, detectors: "tuple[BasePlugin, ...]", known: frozenset[str], hide: list[str]) -> list[CheckFinding]:
    """What was found; the values themselves are added to `hide`."""
    found: list[CheckFinding] = []
    old = (file.old or b"").decode("utf-8-sig", "replace")
    for number, text in file.added_lines:
        if ALLOWED.search(text):
            continue
        for kind, value in dict.fromkeys(_values(text, detectors)):
            hashed = hashlib.sha1(value.encode(errors="replace"), usedforsecurity=False).hexdigest()
            if hashed in known or not _likely(kind, value, text, file) or (value in old and kind != "Private Key"):
                continue
            if kind != "Private Key":
                hide.append(value)
            severity: Severity = "should-fix" if kind in WEAK else "blocking"
            said = f"This looks like a secret ({kind}{_masked(kind, value)}). Remove it, and replace it where it is in use."
            found.append(CheckFinding(file.path, number, number, "secrets", kind.lower().replace(" ", "-"), severity, said))
    return found


def values(files: Iterable[Changed]) -> dict[str, str]:
    """The kind of secret by its value, of every one in the `lines` of the files, for who hides them: what the checker reports,
    and more, since what was there before is as secret. Of a private key each line is one. Empty where detect-secrets is missing.
    """
    try:
        detectors, _ = _detectors()
    except ImportError:
        return {}
    found: dict[str, str] = {}
    for file in files:
        for number, text in file.added_lines:
            if ALLOWED.search(text):
                continue
            for kind, value in _values(text, detectors):
                if _likely(kind, value, text, file):
                    found |= dict.fromkeys(_key_lines(file, number) if kind == "Private Key" else (value,), kind)
    return found


def _key_lines(file: Changed, number: int) -> Iterator[str]:
    """The lines of a private key behind its header; of one that is written on one line, what stands between the marks."""
    if match := re.search(r"PRIVATE KEY-----(.+?)-----END", file.text_lines[number - 1]):
        yield match[1]
        return
    for text in file.text_lines[number : number + KEY_LINES]:
        if "-----END" in text:
            return
        yield from re.findall(r"[A-Za-z0-9+/=]{16,}", text)


def _values(text: str, detectors: "tuple[BasePlugin, ...]") -> Iterator[tuple[str, str]]:
    for start in range(0, max(1, len(text) - OVERLAP), PIECE - OVERLAP):
        piece = text[start : start + PIECE]
        for detector in detectors:
            for value in detector.analyze_string(piece):
                yield detector.secret_type, _whole(detector, piece, value)
        for kind, shape in SHAPES.items():
            for match in shape.finditer(piece):
                yield kind, match[0]


def _whole(detector: "BasePlugin", piece: str, part: str) -> str:
    """The whole token, where a detector's pattern has a group that holds its beginning alone."""
    if len(part) >= FRAGMENT or detector.secret_type == "Basic Auth Credentials":
        return part
    matches = (match for pattern in getattr(detector, "denylist", ()) for match in pattern.finditer(piece))
    return next((match[0] for match in matches if part in match.groups()), part)


def _likely(kind: str, value: str, text: str, file: Changed) -> bool:
    if kind in WEAK and TESTS.search(file.path.lower()):
        return False
    if kind == "Private Key":
        return _holds_key(file, text)
    if EXAMPLES.search(value):
        return False
    if kind == "Basic Auth Credentials":
        placeholder = re.search(
            r"[<>{}$%\[\]]|^(pass(word|wd)?|pwd|secret|user(name)?|token|key|admin|root|postgres)$", value, re.IGNORECASE
        )
        return placeholder is None and not LOCAL.search(text[text.find(value) + len(value) :])
    return _entropy(value) >= RANDOM


def _holds_key(file: Changed, text: str) -> bool:
    """Whether what looks like base64 follows the header: the header alone stands in every program that reads keys."""
    at = next((index for index, line in enumerate(file.text_lines) if line == text), 0)
    below = " ".join(file.text_lines[at : at + 4]).replace("\\n", " ")
    return re.search(r"PRIVATE KEY[^-]*-----[\s\"'+,]*[A-Za-z0-9+/=]{40,}", below) is not None


def _entropy(value: str) -> float:
    return -sum(count / len(value) * math.log2(count / len(value)) for count in Counter(value).values()) if value else 0.0


def _masked(kind: str, value: str) -> str:
    return "" if kind == "Private Key" else f", `{value[: min(4, len(value) // 4)]}…`"
