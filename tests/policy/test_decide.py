import shlex
from pathlib import Path

import pytest
from msgspec.structs import replace

from ferrule.policy.decide import Decision, Policy, decide
from ferrule.policy.rules import parse_rule
from ferrule.types.tools import Action


@pytest.fixture
def policy(tmp_path: Path) -> Policy:
    root = tmp_path.resolve() / "root"
    for folder in ("src", ".git/hooks", "secrets"):
        (root / folder).mkdir(parents=True)
    (root.parent / "elsewhere").mkdir()
    (root / "src" / "a.py").write_text("x")
    (root / "out").symlink_to(root.parent / "elsewhere")
    return Policy(str(root), home=str(root.parent / "home"))


def reading(policy: Policy, path: str) -> Action:
    return Action("read", (str((Path(policy.root) / path).resolve()),))


def writing(policy: Policy, path: str) -> Action:
    return Action("write", (str((Path(policy.root) / path).resolve()),))


def running(command: str) -> Action:
    return Action("execute", command=command)


def with_rules(policy: Policy, allow: tuple[str, ...] = (), deny: tuple[str, ...] = (), approve: str = "ask") -> Policy:
    return replace(policy, allow=tuple(map(parse_rule, allow)), deny=tuple(map(parse_rule, deny)), approve=approve)


def with_flag(policy: Policy, flag: str) -> Policy:
    words = iter(shlex.split(flag))
    for name in words:
        value = next(words)
        if name == "--approve":
            policy = replace(policy, approve=value)
        elif name == "--add-dir":
            policy = replace(policy, extra=(*policy.extra, value))
        else:
            assert name == "--allow"
            policy = replace(policy, allow=(*policy.allow, parse_rule(value)))
    return policy


def test_no_action_is_allowed(policy: Policy) -> None:
    assert decide((), policy) == Decision("allow")


def test_reading_inside_is_allowed(policy: Policy) -> None:
    assert decide((reading(policy, "src/a.py"),), policy) == Decision("allow")
    assert decide((reading(policy, "."),), policy) == Decision("allow")


@pytest.mark.parametrize("approve", ["ask", "edits", "all"])
@pytest.mark.parametrize("kind", ["read", "write"])
def test_a_path_outside_asks_whatever_is_approved(policy: Policy, approve: str, kind: str) -> None:
    place = str(Path(policy.root).parent / "elsewhere")
    action = Action("read" if kind == "read" else "write", (place + "/x",))
    asked = decide((action,), with_rules(policy, approve=approve))
    assert asked.verdict == "ask"
    assert asked.reason == f"{place}/x lies outside the workspace."
    narrow = f"--allow write:{place}/x" if (kind, approve) == ("write", "ask") else f"--add-dir {place}"
    assert asked.flag == narrow


def test_a_folder_that_starts_with_the_name_of_the_workspace_is_outside(policy: Policy) -> None:
    assert decide((Action("read", (policy.root + "2/x",)),), policy).verdict == "ask"


def test_a_rule_lets_a_path_outside_through(policy: Policy) -> None:
    place = str(Path(policy.root).parent / "elsewhere" / "x")
    assert decide((Action("read", (place,)),), with_rules(policy, allow=(f"read:{place}",))) == Decision("allow")
    assert decide((Action("write", (place,)),), with_rules(policy, allow=(f"read:{place}",), approve="all")).verdict == "ask"
    assert decide((Action("write", (place,)),), with_rules(policy, allow=(f"write:{place}",))) == Decision("allow")


def test_writing_inside_needs_edits(policy: Policy) -> None:
    action = writing(policy, "src/a.py")
    reason = f"Writing {policy.root}/src/a.py needs approval."
    assert decide((action,), policy) == Decision("ask", reason, "--allow write:src/a.py")
    assert decide((action,), with_rules(policy, approve="edits")) == Decision("allow")
    assert decide((action,), with_rules(policy, approve="all")) == Decision("allow")
    assert decide((action,), with_rules(policy, allow=("write:src/**",))) == Decision("allow")


def test_edits_approves_no_command(policy: Policy) -> None:
    assert decide((running("npm test"),), with_rules(policy, approve="edits")).verdict == "ask"


def test_edits_approves_a_redirection_of_a_reading_command(policy: Policy) -> None:
    assert decide((running("cat src/a.py > src/b.py"),), with_rules(policy, approve="edits")) == Decision("allow")


def test_an_allowed_command_may_not_open_more_files_than_is_allowed(policy: Policy) -> None:
    allowed = with_rules(policy, allow=("execute:make *",))
    assert decide((running("make test"),), allowed) == Decision("allow")
    assert decide((running("make > src/a.py"),), allowed) == Decision(
        "ask", "Writing src/a.py needs approval.", "--allow write:src/a.py"
    )
    assert decide((running("make -C /etc"),), allowed).verdict == "ask"


@pytest.mark.parametrize("path", [".git/hooks/pre-commit", ".git/config", ".ferrule/config.toml", "src/.git/config"])
def test_what_decides_about_git_and_ferrule_asks_even_with_all(policy: Policy, path: str) -> None:
    action = writing(policy, path)
    for approve in ("edits", "all"):
        asked = decide((action,), with_rules(policy, approve=approve))
        assert asked.verdict == "ask"
        assert decide((action,), with_flag(with_rules(policy, approve=approve), asked.flag)) == Decision("allow")
    assert decide((action,), with_rules(policy, allow=("write",), approve="all")).verdict == "ask"
    assert decide((action,), with_rules(policy, allow=("write:**",), approve="all")).verdict == "ask"
    assert decide((reading(policy, path),), policy) == Decision("allow")


def test_deny_beats_allow(policy: Policy) -> None:
    both = with_rules(policy, allow=("write", "execute"), deny=("write:src/**", "execute:rm *"), approve="all")
    path = f"{policy.root}/src/a.py"
    assert decide((writing(policy, "src/a.py"),), both) == Decision("deny", f"The rule `write:src/**` denies {path}.")
    assert decide((running("ls && rm x"),), both) == Decision("deny", "The rule `execute:rm *` denies `rm x`.")
    assert decide((writing(policy, "b.py"),), both) == Decision("allow")


def test_a_denied_path_is_denied_to_commands_too(policy: Policy) -> None:
    denied = with_rules(policy, deny=("read:secrets/**", "write:src/**"), approve="all")
    assert decide((running("cat secrets/a"),), denied).verdict == "deny"
    assert decide((running("cat < secrets/a"),), denied).verdict == "deny"
    assert decide((running("echo x > src/a.py"),), denied).verdict == "deny"
    assert decide((running("cp b src/a.py"),), denied).verdict == "deny"
    assert decide((running("cat src/a.py"),), denied) == Decision("allow")
    assert decide((running("cat sec*/a"),), denied).verdict == "ask"
    assert decide((running("grep -r x ."),), denied).verdict == "ask"
    assert decide((reading(policy, "."),), denied).verdict == "ask"
    assert decide((running("cd secrets && cat a"),), denied).verdict == "deny"


@pytest.mark.parametrize("kind", ["read", "write", "execute", "network", "ask"])
def test_a_whole_kind_can_be_denied(policy: Policy, kind: str) -> None:
    actions = {"read": reading(policy, "a"), "write": writing(policy, "a"), "execute": running("ls")}
    action = actions.get(kind) or Action("network" if kind == "network" else "ask", command="example.com")
    assert decide((action,), with_rules(policy, deny=(kind,), approve="all")).verdict == "deny"


def test_questions_are_allowed_and_the_network_asks(policy: Policy) -> None:
    network = Action("network", command="example.com")
    assert decide((Action("ask"),), policy) == Decision("allow")
    assert decide((network,), policy) == Decision("ask", "Reaching example.com needs approval.", "--allow network:example.com")
    assert decide((network,), with_rules(policy, approve="all")) == Decision("allow")
    assert decide((network,), with_rules(policy, allow=("network:example.com",))) == Decision("allow")
    assert decide((network,), with_rules(policy, allow=("network:example.org",))).verdict == "ask"


def test_the_strictest_of_several_actions_wins(policy: Policy) -> None:
    several = (reading(policy, "a"), writing(policy, "b"), running("rm x"))
    assert decide(several, policy).verdict == "ask"
    assert decide(several, with_rules(policy, deny=("execute:rm *",))).verdict == "deny"
    assert decide(several, with_rules(policy, approve="all")) == Decision("allow")


def test_allowing_execute_allows_even_what_is_not_understood_unless_something_is_denied(policy: Policy) -> None:
    for command in ("$CMD x", "rm -rf / ((", "cat /etc/passwd", "f() { ls; }; f", "ls | xargs rm"):
        assert decide((running(command),), with_rules(policy, allow=("execute",))) == Decision("allow")
        asked = decide((running(command),), with_rules(policy, allow=("execute",), deny=("execute:git push *",)))
        assert asked.flag == ""
        assert asked.verdict == ("allow" if command in ("cat /etc/passwd", "ls | xargs rm") else "ask")


def test_the_folder_that_a_command_starts_in_counts(policy: Policy) -> None:
    inside = Action("execute", (policy.root + "/src",), "cat ../src/a.py")
    outside = Action("execute", (str(Path(policy.root).parent / "elsewhere"),), "ls")
    assert decide((inside,), policy) == Decision("allow")
    assert decide((outside,), with_rules(policy, approve="all")).verdict == "ask"


@pytest.mark.parametrize(
    ("command", "reason", "flag"),
    [
        ("npm test", "Running `npm test` needs approval.", "--allow 'execute:npm test'"),
        ("ls && npm test", "Running `npm test` needs approval.", "--allow 'execute:npm test'"),
        ("timeout 5 npm test", "Running `timeout 5 npm test` needs approval.", "--allow 'execute:npm test'"),
        ("make && make install", "Running `make` needs approval.", "--approve all"),
        ("PATH=. make", "Running `PATH=. make` needs approval.", "--allow 'execute:PATH=. make'"),
        ("echo 'it''s' > x.txt", "Writing x.txt needs approval.", "--allow write:x.txt"),
        ("$CMD", "The command is not fully understood: it is not certain which command `$CMD` is.", "--allow execute"),
    ],
)
def test_an_ask_names_the_part_and_the_narrowest_flag(policy: Policy, command: str, reason: str, flag: str) -> None:
    assert decide((running(command),), policy) == Decision("ask", reason, flag)


@pytest.mark.parametrize(
    "command",
    [
        "npm test",
        "cat /etc/passwd",
        "cat ../elsewhere/x > y",
        "cp src/a.py ../elsewhere/a && make",
        "python3 -c 'print(1)'",
        "rm -rf out/x",
        "git commit -m 'a; b' && git status",
        "for f in src/*; do sed -i s/a/b/ $f; done",
        "echo a > .git/hooks/x",
        "ls | xargs rm",
        "a b '*' \"c d\"",
        "FOO=1 make -j '4'",
        "rm -rf .",
        "rm -rf /",
        "cat > 'a[1].txt'",
    ],
)
@pytest.mark.parametrize("approve", ["ask", "edits", "all"])
def test_the_flag_of_an_ask_allows_it(policy: Policy, command: str, approve: str) -> None:
    base = with_rules(policy, approve=approve)
    asked = decide((running(command),), base)
    if asked.verdict == "ask":
        assert asked.flag
        assert decide((running(command),), with_flag(base, asked.flag)) == Decision("allow")
    else:
        assert asked == Decision("allow")
        assert approve != "ask"


def test_where_nothing_is_written_no_rule_and_no_approval_allows_it(policy: Policy) -> None:
    held = replace(with_rules(policy, allow=("write", "write:src/**"), approve="all"), read_only=True)
    denied = decide((writing(held, "src/a.py"),), held)
    assert (denied.verdict, denied.flag, "sandbox.access" in denied.reason) == ("deny", "", True)
    assert decide((reading(held, "src/a.py"),), held) == Decision("allow")


def test_a_tool_of_a_server_is_asked_and_the_named_flag_allows_it(policy: Policy) -> None:
    call = (Action("mcp", command="files/write"),)
    decision = decide(call, policy)
    assert decision == Decision("ask", "Calling files/write needs approval.", "--allow mcp:files/write")
    assert decide(call, with_flag(policy, decision.flag)) == Decision("allow")
    assert decide(call, replace(policy, approve="edits")).verdict == "ask"
    assert decide(call, replace(policy, approve="all")) == Decision("allow")
    assert decide(call, with_rules(policy, allow=("mcp",), deny=("mcp:files/*",))).verdict == "deny"


@pytest.mark.parametrize(
    ("tool", "flag"), [("read all", "--allow 'mcp:s/read all'"), ("a/b", "--allow mcp:s/a/b"), ("a*", "--approve all")]
)
def test_any_name_of_a_tool_can_be_judged(policy: Policy, tool: str, flag: str) -> None:
    decision = decide((Action("mcp", command=f"s/{tool}"),), policy)
    assert (decision.verdict, decision.flag) == ("ask", flag)
    assert decide((Action("mcp", command=f"s/{tool}"),), with_flag(policy, flag)) == Decision("allow")
