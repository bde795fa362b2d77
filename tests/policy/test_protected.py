"""What is written only with an approval of its own."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from ferrule.policy.decide import Approve, Decision, Policy, decide
from ferrule.policy.rules import parse_rule
from ferrule.types.tools import Action

FILES = """
.git/config
.git/hooks/pre-commit
.ferrule/config.toml
.FERRULE/config.toml
.ferruleignore
src/.ferruleignore
.rooignore
.roo/rules/a.md
.roomodes
.roorules-code
.clinerules
.agents/skills/a/SKILL.md
.claude/settings.json
.mcp.json
AGENTS.md
agents.MD
src/AGENTS.md
AGENTS.local.md
CLAUDE.md
CLAUDE.local.md
.github/workflows/ci.yml
.github/actions/a/action.yml
.gitlab-ci.yml
.circleci/config.yml
.ci/run
.travis.yml
Jenkinsfile
azure-pipelines.yml
.vscode/settings.json
.idea/workspace.xml
project.code-workspace
.editorconfig
.devcontainer/devcontainer.json
"""
OPEN = """
README.md
.github/ISSUE_TEMPLATE/a.md
.gitignore
.gitattributes
docs/agents.txt
src/git/config
workflows/ci.yml
my.AGENTS.md
"""


@pytest.fixture
def policy(tmp_path: Path) -> Policy:
    root = tmp_path.resolve() / "project"
    for name in (
        ".git/config",
        ".github/workflows/ci.yml",
        "AGENTS.md",
        "src/a.py",
        "lib/CLAUDE.md",
        "notes.md",
        ".vscode/a.json",
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x\n")
    return Policy(root=str(root), home=str(tmp_path / "home"), approve="all", allow=tuple(map(parse_rule, ("write", "write:**"))))


def writing(policy: Policy, path: str) -> Decision:
    return decide((Action("write", (f"{policy.root}/{path}",)),), policy)


def running(policy: Policy, command: str) -> Decision:
    return decide((Action("execute", (policy.root,), command),), policy)


def with_flag(policy: Policy, flag: str) -> Policy:
    """The flags as the command line takes them."""
    rules = flag.replace("'", "").split("--allow ")[1:]
    return replace(policy, allow=(*policy.allow, *(parse_rule(rule.strip()) for rule in rules)))


@pytest.mark.parametrize("path", FILES.split())
@pytest.mark.parametrize("approve", ["edits", "all"])
def test_a_protected_file_is_asked_for_whatever_is_approved_and_its_flag_allows_it(
    policy: Policy, path: str, approve: Approve
) -> None:
    policy = replace(policy, approve=approve)
    asked = writing(policy, path)
    assert asked.verdict == "ask"
    assert asked.reason.startswith(f"{policy.root}/{path} decides ")
    assert asked.flag.startswith("--allow ")
    assert writing(with_flag(policy, asked.flag), path) == Decision("allow")
    assert writing(with_flag(policy, asked.flag), "src/../.git/other" if path[:4] != ".git" else "AGENTS.md").verdict == "ask"


@pytest.mark.parametrize("path", FILES.split())
def test_a_protected_file_may_be_read(policy: Policy, path: str) -> None:
    assert decide((Action("read", (f"{policy.root}/{path}",)),), policy) == Decision("allow")


@pytest.mark.parametrize("path", OPEN.split())
def test_other_files_are_written_as_approved(policy: Policy, path: str) -> None:
    assert writing(policy, path) == Decision("allow")


def test_the_reason_and_the_flag_are_exact(policy: Policy) -> None:
    assert writing(policy, "AGENTS.md") == Decision(
        "ask", f"{policy.root}/AGENTS.md decides how agents work here.", "--allow write:AGENTS.md"
    )
    assert writing(policy, ".github/workflows/new.yml") == Decision(
        "ask", f"{policy.root}/.github/workflows/new.yml decides what runs in CI.", "--allow 'write:.github/workflows/**'"
    )


@pytest.mark.parametrize("rule", ["write:AGENTS.md", "write:**/AGENTS.md", "write:AGENTS.md/**"])
def test_a_rule_that_spells_the_name_out_allows_it(policy: Policy, rule: str) -> None:
    assert writing(replace(policy, allow=(parse_rule(rule),)), "AGENTS.md") == Decision("allow")


@pytest.mark.parametrize("rule", ["write", "write:**", "write:*", "write:*.md", "write:**/*.md", "write:CLAUDE.md"])
def test_a_rule_that_happens_to_match_does_not(policy: Policy, rule: str) -> None:
    assert writing(replace(policy, allow=(parse_rule(rule),)), "AGENTS.md").verdict == "ask"


def test_with_nothing_approved_the_flag_allows_both_at_once(policy: Policy) -> None:
    bare = replace(policy, approve="ask", allow=())
    asked = writing(bare, "AGENTS.md")
    assert asked.verdict == "ask"
    assert writing(with_flag(bare, asked.flag), "AGENTS.md") == Decision("allow")


def test_what_a_protected_name_links_to_is_protected(policy: Policy) -> None:
    root = Path(policy.root)
    (root / "CLAUDE.md").symlink_to("notes.md")
    asked = writing(policy, "notes.md")
    assert asked.verdict == "ask"
    assert writing(with_flag(policy, asked.flag), "notes.md") == Decision("allow")


@pytest.mark.parametrize(
    "command",
    [
        "echo x > AGENTS.md",
        "echo x >> ./AGENTS.md",
        "echo x > src/../.github/workflows/ci.yml",
        "cat notes.md | tee AGENTS.md",
        "tee -a .vscode/settings.json < notes.md",
        "sed -i s/a/b/ AGENTS.md",
        "sed -i s/a/b/ *.md",
        "sed -i s/a/b/ A*",
        "sed -i s/a/b/ */CLAUDE.md",
        "perl -pi -e s/a/b/ AGENTS.md",
        "cp notes.md AGENTS.md",
        "cp notes.md lib/CLAUDE.md",
        "cp lib/CLAUDE.md .",
        "cp -t . lib/CLAUDE.md",
        "mv notes.md AGENTS.md",
        "mv AGENTS.md notes.md",
        "ln -sf notes.md AGENTS.md",
        "rm AGENTS.md",
        "rm -rf .github",
        "rm -rf .github/workflows",
        "rm -rf lib",
        "rm -r .",
        "install -m644 notes.md AGENTS.md",
        "dd if=notes.md of=AGENTS.md",
        "truncate -s0 AGENTS.md",
        "chmod +x .vscode/a.json",
        "cd .github/workflows && touch new.yml && echo x > new.yml",
        "cd .github; rm workflows/ci.yml",
        "python3 format.py AGENTS.md",
        "prettier --write AGENTS.md",
        "git config user.name x",
        "git config --add core.hooksPath x",
        "git config set core.hooksPath x",
        "git config --unset user.name",
        "git -c a.b=c config core.fsmonitor x",
        "git checkout -- AGENTS.md",
        "git restore AGENTS.md",
        "git rm AGENTS.md",
        "git diff --output=AGENTS.md",
        "bash -c 'echo x > AGENTS.md'",
        "find . -name x -exec tee AGENTS.md ';'",
        "touch .git/hooks/pre-commit",
    ],
)
def test_a_command_that_writes_it_is_asked_whatever_is_approved(policy: Policy, command: str) -> None:
    asked = running(policy, command)
    assert asked.verdict == "ask"
    assert asked.flag.startswith("--allow ")
    assert running(with_flag(policy, asked.flag), command) == Decision("allow")


@pytest.mark.parametrize(
    "command",
    [
        "cat AGENTS.md",
        "cat < AGENTS.md",
        "grep -n x AGENTS.md .github/workflows/*.yml",
        "wc -l *.md",
        "cat *",
        "cp AGENTS.md copy.txt",
        "cp .vscode/a.json copied.json",
        "git add AGENTS.md",
        "git add -A",
        "git commit -m 'change AGENTS.md'",
        "git commit -am x -- AGENTS.md",
        "git diff AGENTS.md",
        "git log -p -- .github/workflows",
        "git status",
        "git push",
        "git config user.name",
        "git config --get user.name",
        "git config --list",
        "git config get user.name",
        "echo AGENTS.md",
        "sed -i s/a/b/ n*.md",
        "rm -rf src",
        "echo x > notes.md",
        "mkdir -p .github/ISSUE_TEMPLATE",
    ],
)
def test_a_command_that_does_not_is_run_as_approved(policy: Policy, command: str) -> None:
    assert running(policy, command) == Decision("allow")


def test_a_command_that_changes_the_persons_own_git_settings_is_asked(policy: Policy) -> None:
    bare = replace(policy, allow=())
    asked = running(bare, "git config --global core.editor x")
    assert (asked.verdict, asked.reason) == ("ask", "git config lies outside the workspace.")
    assert running(bare, "git config --global core.editor") == Decision("allow")
