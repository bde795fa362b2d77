import pytest

from ferrule.review.diff_tool import diff_tool
from ferrule.review.hiding import hiding, secrets_mask
from ferrule.workspace.checkers.base import Changed
from ferrule.workspace.diff.model import Diff, File, Hunk, Line

from .staged import added, called, said

TOKEN = "ghp_" + "R7tQz9LmX2vBn4KwYp8sDf6GhJ3cTa1Ue5Zi"
BODY = "MIIEpAIBAAKCAQEAxq3jv7Kp0dTzW8nYbLr5QmsV2hJc9EuXg4fPiRoN6aDkB1tM"


def masked(path: str, texts: list[str]) -> str:
    """What is left of a new file's lines."""
    content = "\n".join(texts).encode()
    mask = secrets_mask([added(path, texts)], [Changed(path, content, None, tuple(range(1, len(texts) + 1)))])
    return mask.text("\n".join(texts))


@pytest.mark.parametrize(
    ("path", "text", "left"),
    [
        ("a.py", f"key = '{TOKEN}'", "key = '[secret GitHub Token]'"),
        ("a.py", f"a('{TOKEN}', '{TOKEN}')", "a('[secret GitHub Token]', '[secret GitHub Token]')"),
        ("a.py", f"key = '{TOKEN}'  # pragma: allowlist secret", f"key = '{TOKEN}'  # pragma: allowlist secret"),
        ("tests/test_a.py", f"key = '{TOKEN}'", "key = '[secret GitHub Token]'"),
        ("a.py", "key = 'ghp_" + "x" * 36 + "'", "key = 'ghp_" + "x" * 36 + "'"),
        (
            "a.py",
            "url = 'https://bob:kT9vQ2xLw8@db.corp.io/x'",
            "url = 'https://bob:[secret Basic Auth Credentials]@db.corp.io/x'",
        ),
        ("a.py", "digest = 'd41d8cd98f00b204e9800998ecf8427e'", "digest = 'd41d8cd98f00b204e9800998ecf8427e'"),
    ],
)
def test_a_value_that_is_a_secret_by_its_shape_is_replaced_by_its_kind(path: str, text: str, left: str) -> None:
    assert masked(path, [text]) == left


def test_every_line_of_a_private_key_is_replaced() -> None:
    head, end = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"
    kind = "[secret Private Key]"
    assert masked("key.pem", [head, BODY, BODY[::-1], end, "x"]).split("\n") == [head, kind, kind, end, "x"]
    assert masked("a.py", [f'k = "{head}\\n{BODY}\\n{end}"']) == f'k = "{head}{kind}{end}"'


def test_lines_of_both_sides_and_those_around_them_are_looked_at() -> None:
    other = TOKEN[:-4] + "Qq7W"
    old = Line("deleted", 2, None, f"old = '{other}'")
    lines = (Line("context", 1, 1, f"key = '{TOKEN}'"), old, Line("added", None, 2, "x"))
    file = File("modified", "a.py", "a.py", 0o100644, 0o100644, "1" * 40, "2" * 40, (Hunk(0, 1, 2, 1, 2, "", lines),))
    contents = Changed("a.py", f"key = '{TOKEN}'\nx\n".encode(), f"key = '{TOKEN}'\nold = '{other}'\n".encode(), (2,))
    tool = hiding(diff_tool(Diff((file,))), secrets_mask([file], [contents]))
    assert said(called(tool, path="a.py")).splitlines()[2:] == [
        "1 1  key = '[secret GitHub Token]'",
        "2   -old = '[secret GitHub Token]'",
        "  2 +x",
    ]


def test_a_file_without_content_hides_nothing() -> None:
    assert secrets_mask([added("a.bin", [])], [Changed("a.bin", None, None, ())]).text(TOKEN) == TOKEN
