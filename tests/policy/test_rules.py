import pytest

from ferrule.policy.rules import Rule, about, command_allowed, command_denied, parse_rule, path_allowed, path_denied
from ferrule.policy.shell import parse
from ferrule.types.errors import UsageError

ROOT = "/work/place"
HOME = "/home/u"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("read", Rule("read")),
        ("network", Rule("network")),
        ("ask", Rule("ask")),
        ("write:src/**", Rule("write", "src/**")),
        ("execute:pytest", Rule("execute", "pytest", ("pytest",))),
        ("execute:git status *", Rule("execute", "git status *", ("git", "status"), True)),
        ("execute: git status *", Rule("execute", "git status *", ("git", "status"), True)),
        ("execute:grep 'a b' *", Rule("execute", "grep 'a b' *", ("grep", "a b"), True)),
        ("execute:ls '*.py'", Rule("execute", "ls '*.py'", ("ls", "*.py"))),
        ("execute:*", Rule("execute")),
        ("network:example.com", Rule("network", "example.com")),
    ],
)
def test_a_rule_is_read(text: str, rule: Rule) -> None:
    assert parse_rule(text) == rule


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "names no kind"),
        ("git status", "names no kind"),
        ("exec:ls", "names no kind"),
        ("Read", "names no kind"),
        ("execute:", "no pattern after the colon"),
        ("write:  ", "no pattern after the colon"),
        ("execute:git * status", "`*` in the middle"),
        ("execute:npm run test:*", "`*` in the middle"),
        ("execute:echo 'a", "open quote"),
        ("ask:anything", "as a whole"),
        ("read:../x", "climbs"),
        ("write:src/../../x", "climbs"),
    ],
)
def test_a_bad_rule_says_what_is_right(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says.replace("*", r"\*")):
        parse_rule(text)


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("src/**", "/work/place/src", True),
        ("src/**", "/work/place/src/a/b.py", True),
        ("src/**", "/work/place/srcs/a", False),
        ("src/*", "/work/place/src/a", True),
        ("src/*", "/work/place/src/a/b", False),
        ("**/.env", "/work/place/.env", True),
        ("**/.env", "/work/place/a/b/.env", True),
        ("**/.env", "/work/place/a.env", False),
        ("src/**/*.py", "/work/place/src/a.py", True),
        ("src/**/*.py", "/work/place/src/x/y/a.py", True),
        ("./a?.py", "/work/place/ab.py", True),
        ("a[bc].py", "/work/place/ab.py", True),
        ("a[!bc].py", "/work/place/ab.py", False),
        ("a[!bc]b", "/work/place/a/b", False),
        ("a.py", "/work/place/axpy", False),
        ("/etc/**", "/etc/passwd", True),
        ("/etc/**", "/work/place/etc/passwd", False),
        ("~/notes/*", "/home/u/notes/a", True),
        ("**", "/work/place/a/b", True),
        ("**", "/work/other", False),
        ("/**", "/anything/at/all", True),
    ],
)
def test_a_path_pattern(pattern: str, path: str, matches: bool) -> None:
    assert path_allowed(parse_rule(f"write:{pattern}"), path, ROOT, HOME) is matches


@pytest.mark.parametrize(
    ("pattern", "path", "prefix", "match"),
    [
        ("secrets/**", "/work/place/secrets/a", False, "yes"),
        ("secrets/**", "/work/place", False, "maybe"),
        ("secrets/**", "/work", False, "maybe"),
        ("secrets/**", "/work/place/src", False, "no"),
        ("secrets/**", "/work/place/sec", True, "maybe"),
        ("secrets/**", "/work/place/src", True, "no"),
        ("secrets/a", "/work/place/secrets/", True, "maybe"),
        ("secrets/*.key", "/work/place/secrets/x", True, "maybe"),
    ],
)
def test_a_denied_path_may_hide_below_a_folder_or_a_file_name_pattern(pattern: str, path: str, prefix: bool, match: str) -> None:
    assert path_denied(parse_rule(f"read:{pattern}"), path, ROOT, HOME, prefix) == match


def test_a_deny_pattern_for_any_depth_may_match_below_any_folder(tmp_path: object) -> None:
    place = str(tmp_path)
    rule = parse_rule("read:**/.env")
    assert path_denied(rule, place, place, HOME) == "maybe"
    assert path_denied(rule, place + "/a.py", place, HOME) == "no"


@pytest.mark.parametrize(
    ("rule", "command", "allowed"),
    [
        ("pytest", "pytest", True),
        ("pytest", "pytest -q", False),
        ("pytest *", "pytest", True),
        ("pytest *", "pytest -q tests", True),
        ("pytest *", "pytest3", False),
        ("git status *", "git status -s", True),
        ("git status *", "git stash", False),
        ("git status *", "git -c x=y status", False),
        ("pytest *", "./pytest", False),
        ("pytest *", "/x/pytest", False),
        ("pytest *", "FOO=1 pytest", True),
        ("pytest *", "PATH=. pytest", False),
        ("pytest *", "LD_PRELOAD=x pytest", False),
        ("PATH=. pytest *", "PATH=. pytest -q", True),
        ("FOO=1 pytest", "FOO=2 pytest", False),
        ("FOO=1 pytest", "FOO=1 pytest", True),
        ("echo 'a b'", 'echo "a b"', True),
        ("ls '*.py'", "ls '*.py'", True),
        ("ls '*.py'", "ls *.py", False),
        ("echo a", "echo $x", False),
        ("echo *", "echo $x", True),
    ],
)
def test_an_allow_rule_for_commands(rule: str, command: str, allowed: bool) -> None:
    (part,) = parse(command, ROOT, HOME).parts
    assert command_allowed(parse_rule(f"execute:{rule}"), part) is allowed


@pytest.mark.parametrize(
    ("rule", "command", "match"),
    [
        ("rm *", "rm -rf x", "yes"),
        ("rm *", "/bin/rm x", "yes"),
        ("rm *", "rmdir x", "no"),
        ("rm -rf *", "rm $x", "maybe"),
        ("rm -rf *", 'rm "$x"', "maybe"),
        ("rm -rf *", "rm *", "maybe"),
        ("rm x", "rm x", "yes"),
        ("rm x", "rm x y", "no"),
        ("rm x", "rm x *", "maybe"),
        ("git push *", "git -C a --no-pager -c b=c push", "yes"),
        ("git push *", "git pull", "no"),
        ("git push *", "git $x", "maybe"),
        ("rm *", "echo rm x", "no"),
        ("rm *", "strace -f rm x", "yes"),
        ("rm *", "ssh host 'rm x'", "yes"),
        ("rm *", "git rm x", "no"),
    ],
)
def test_a_deny_rule_for_commands(rule: str, command: str, match: str) -> None:
    assert command_denied(parse_rule(f"execute:{rule}"), parse(command, ROOT, HOME).parts[0]) == match


@pytest.mark.parametrize(
    ("rule", "tool", "about_it"),
    [
        ("mcp", "files/read", True),
        ("mcp:files/read", "files/read", True),
        ("mcp:files/read", "files/read_all", False),
        ("mcp:files/*", "files/read", True),
        ("mcp:files/*", "files2/read", False),
        ("mcp:files/*", "file/s/read", False),
        ("mcp:files/read all", "files/read all", True),
    ],
)
def test_a_rule_for_tools_of_servers(rule: str, tool: str, about_it: bool) -> None:
    assert about(parse_rule(rule), tool) is about_it


@pytest.mark.parametrize("rule", ["mcp:files", "mcp:*/read", "mcp:files/", "mcp:/read", "mcp:files/re*", "mcp:fi les/read"])
def test_a_rule_for_servers_that_names_no_tool_is_refused(rule: str) -> None:
    with pytest.raises(UsageError, match=r"mcp:SERVER/TOOL|no pattern"):
        parse_rule(rule)
