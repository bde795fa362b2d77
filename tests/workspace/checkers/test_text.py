import random
import string

import pytest

from ferrule.workspace.checkers.base import CheckFinding
from ferrule.workspace.checkers.text.conflicts import conflicts
from ferrule.workspace.checkers.text.links import links
from ferrule.workspace.checkers.text.secrets import secrets
from ferrule.workspace.checkers.text.typos import typos

from .checking import changed, findings, places

ALNUM = string.ascii_letters + string.digits


def made(length: int, alphabet: str = ALNUM) -> str:
    """Random text, the same in every run; secrets are put together here so that no detector finds any in this file."""
    return "".join(random.Random(length).choices(alphabet, k=length))


SECRETS = {
    "aws-access-key": "AKIA" + made(16, string.ascii_uppercase + "234567"),
    "github-token": "ghp_" + made(36),
    "slack-token": "xoxb-" + made(12, string.digits) + "-" + made(13, string.digits) + "-" + made(24),
    "stripe-access-key": "sk_live_" + made(24),
    "pypi-token": "pypi-AgEIcHlwaS5vcmc" + made(90),
    "anthropic-key": "sk-ant-" + "api03-" + made(93) + "AA",
    "google-api-key": "AIza" + made(35),
    "github-fine-grained-token": "github_pat_" + made(82),
}


@pytest.mark.parametrize("rule", SECRETS)
@pytest.mark.parametrize("path", ["src/a.py", "tests/test_a.py", ".env", "README.md"])
def test_a_secret_is_found_and_not_shown(rule: str, path: str) -> None:
    value = SECRETS[rule]
    found = findings(changed(path, f"a = 1\nkey = '{value}'\n"), checker=secrets())
    assert [(each.rule, each.line, each.severity) for each in found] == [(rule, 2, "blocking")]
    assert all(value[offset : offset + 8] not in repr(found) for offset in range(len(value) - 7))


@pytest.mark.parametrize(
    "line",
    [
        "key = 'AKIAIOSFODNN7EXAMPLE'",
        "token = 'ghp_" + "x" * 36 + "'",
        "token = 'ghp_" + "ab" * 18 + "'",
        "password = os.environ['PASSWORD']",
        "sha = 'da39a3ee5e6b4b0d3255bfef95601890afd80709'",
        "url = 'postgres://user:password@db.internal/x'",
        "url = 'postgres://app:v9dkq2@localhost/x'",
        "url = 'https://app:${TOKEN}@forge.acme.com/x'",
        "if '-----BEGIN RSA PRIVATE KEY-----' in text:",
        f"token = '{SECRETS['github-token']}'  # pragma: allowlist secret",
    ],
)
def test_examples_and_variables_are_no_secrets(line: str) -> None:
    assert findings(changed("src/a.py", f"{line}\n"), checker=secrets()) == ()


def test_a_password_in_an_address_is_found() -> None:
    found = findings(changed("src/a.py", "url = 'postgres://app:v9dkq2XX@db.acme.com/x'\n"), checker=secrets())
    assert [(each.rule, each.severity) for each in found] == [("basic-auth-credentials", "should-fix")]


def test_a_private_key_is_found_but_not_among_tests() -> None:
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{made(64)}\n{made(64)}\n-----END RSA PRIVATE KEY-----\n"
    assert places(findings(changed("deploy/id_rsa", key), changed("tests/id_rsa", key), checker=secrets())) == [
        ("private-key", 1)
    ]


def test_a_secret_that_was_there_or_was_accepted_before_is_not_told() -> None:
    import hashlib
    import json

    value = SECRETS["github-token"]
    old = f"key = '{value}'\n"
    assert findings(changed("a.py", f"if x:\n    {old}", old), checker=secrets()) == ()
    baseline = json.dumps({"results": {"b.py": [{"hashed_secret": hashlib.sha1(value.encode()).hexdigest()}]}}).encode()
    assert findings(changed("b.py", old), checker=secrets(), base={".secrets.baseline": baseline}) == ()
    assert places(findings(changed("b.py", old), changed(".secrets.baseline", baseline), checker=secrets())) == [
        ("github-token", 1)
    ]


def test_a_secret_late_in_a_very_long_line_is_found_once() -> None:
    line = "var x=1;" * 5000 + f'k="{SECRETS["github-token"]}"' + ";y=2" * 5000
    assert places(findings(changed("a.js", line), checker=secrets())) == [("github-token", 1)]


CONFLICT = "a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> topic\nd\n"


@pytest.mark.parametrize(
    "content, found",
    [
        (CONFLICT, [("conflict-marker", 2)]),
        (CONFLICT.replace("=======", "||||||| base\nz\n======="), [("conflict-marker", 2)]),
        (CONFLICT.replace("\n", "\r\n"), [("conflict-marker", 2)]),
        ("Title\n=======\ntext\n", []),
        ("<<<<<<< HEAD is how it begins\n", []),
        (CONFLICT.replace("HEAD", "SEARCH").replace("topic", "REPLACE"), []),
        (CONFLICT.replace("\n", "\n    "), []),
    ],
)
def test_whole_conflicts_are_found(content: str, found: list[tuple[str, int]]) -> None:
    assert places(findings(changed("a.txt", content), checker=conflicts())) == found


def test_a_conflict_that_was_there_before_is_not_told() -> None:
    assert findings(changed("a.txt", CONFLICT + "e\n", CONFLICT), checker=conflicts()) == ()


def test_a_typo_tells_what_would_be_right() -> None:
    assert findings(changed("a.md", "You recieve it.\n"), checker=typos()) == (
        CheckFinding("a.md", 1, 1, "typos", "typo", "nit", "`recieve` should be `receive`.", "You receive it."),
    )


@pytest.mark.parametrize(
    "path, content",
    [
        ("a.md", "See https://host/recieve and recieve@host.\n"),
        ("a.py", "WORDS = ['recieve']\n"),
        ("a.csv", "recieve\n"),
        ("AUTHORS", "Ms Recieve\n"),
        ("a.py", "recieve = 1\nrecieve()\nrecieve(2)\n"),
        ("a.js", "x" * 500 + " recieve\n"),
    ],
)
def test_addresses_data_and_names_are_no_typos(path: str, content: str) -> None:
    assert findings(changed(path, content), checker=typos()) == ()


def test_a_word_that_the_project_already_used_is_no_typo() -> None:
    old = "def recieve(): ...\n"
    assert findings(changed("a.py", old + "# recieve more\n", old), checker=typos()) == ()


@pytest.mark.parametrize("name", ["typos.toml", "_typos.toml", ".typos.toml", "pyproject.toml"])
def test_words_of_the_base_count_and_those_of_the_change_do_not(name: str) -> None:
    table = b"tool.typos.default" if name == "pyproject.toml" else b"default"
    config = b"[" + table + b'.extend-words]\nrecieve = "recieve"\n'
    assert findings(changed("a.md", "You recieve it.\n"), checker=typos(), base={name: config}) == ()
    assert places(findings(changed("a.md", "You recieve it.\n"), changed(name, config), checker=typos())) == [("typo", 1)]


def test_an_ignore_file_in_the_change_hides_nothing() -> None:
    assert places(findings(changed("a.md", "You recieve it.\n"), changed(".ignore", "*\n"), checker=typos())) == [("typo", 1)]


def test_a_line_that_is_not_utf8_has_no_suggestion() -> None:
    found = findings(changed("a.txt", b"caf\xe9 recieve it\n"), checker=typos())
    assert [each.suggestion for each in found] in ([], [None])


TREE = ("docs", "docs/a.md", "docs/ü b.md", "img/x.png", "README.md", "LICENSE")


@pytest.mark.parametrize(
    "content, found",
    [
        ("[a](a.md) [b](./a.md#part) [c](../README.md) ![d](../img/x.png) [e](../docs) [f](../docs/)\n", []),
        ("[a](%C3%BC%20b.md) [b](<ü b.md>)\n", []),
        ("[a](https://x.org/y) [b](mailto:a@b.c) [c](#here) [d](/root) [e](//x.org) [f]({{ url }}) [g](../../issues)\n", []),
        ("`[a](gone.md)`\n\n    [b](gone.md)\n\n```\n[c](gone.md)\n```\n", []),
        ("[a](a.html)\n", []),
        ("[a](label)\n", []),
        ("text\n\nmore\n[a](gone.md)\n", [("broken-link", 4)]),
        ("![a](../img/y.png)\n", [("broken-link", 1)]),
        ("| a | b |\n|---|---|\n| [x](gone.md) | y |\n", [("broken-link", 3)]),
    ],
)
def test_relative_links_must_lead_to_a_file(content: str, found: list[tuple[str, int]]) -> None:
    assert places(findings(changed("docs/new.md", content), checker=links(), tree=TREE)) == found


def test_a_broken_link_in_a_line_that_did_not_change_is_not_told() -> None:
    assert findings(changed("a.md", "[a](gone.md)\nnew\n", "[a](gone.md)\nold\n"), checker=links(), tree=TREE) == ()
