"""What the documents of the repository say, beside what the product does."""

import re
import tomllib
from pathlib import Path

import pytest

from ferrule import __version__
from ferrule.front.cli.arguments import understand
from ferrule.front.cli.flags import BY_NAME
from ferrule.task.config.keys import dotted, plain_keys
from ferrule.types.outcome import EXIT_CODES

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
CONFIGURATION = (ROOT / "docs" / "configuration.md").read_text()


def section(text: str, title: str) -> str:
    return text.split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_the_readme_says_in_five_lines_what_it_is_for() -> None:
    first = README.split("\n\n")[1]
    assert first.startswith("Ferrule is")
    assert len(first.splitlines()) <= 5


def test_the_readme_has_the_two_commands_and_a_task_with_a_key() -> None:
    assert re.findall(r"^make (\w+)", section(README, "Two commands"), re.MULTILINE) == ["run", "test"]
    task = section(README, "A first task")
    assert "API_KEY=" in task
    assert "gates" in section(README, "How a task ends")
    assert section(README, "What it refuses to do").strip().startswith("- ")


def test_the_readme_lists_every_outcome_with_its_exit_code() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \|", README, re.MULTILINE)
    assert [(name, int(code)) for name, code in rows] == [(str(outcome), code) for outcome, code in EXIT_CODES.items()]


@pytest.mark.parametrize(
    "document",
    [
        "README.md",
        "docs/configuration.md",
        "docs/scripted.md",
        "docs/review.md",
        "docs/receipts.md",
        "docs/guidance.md",
        "CHANGELOG.md",
    ],
)
def test_every_flag_that_a_document_names_exists_and_every_link_leads_somewhere(document: str) -> None:
    text = (ROOT / document).read_text()
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) <= {*BY_NAME, "--port", "--record", "--all-files"}
    links = re.findall(r"\]\(([^)#:]+)\)", text)
    assert [link for link in links if not (ROOT / document).parent.joinpath(link).exists()] == []


def test_every_command_line_of_the_documents_is_understood() -> None:
    import shlex

    documents = README + (ROOT / "docs" / "review.md").read_text() + (ROOT / "docs" / "receipts.md").read_text()
    lines = re.findall(r"(?:^|\| )(?:\.venv/bin/)?ferrule ((?:-|review|receipt).*)$", documents, re.MULTILINE)
    understood = [understand(shlex.split(line, comments=True)) for line in lines]
    commands = [invocation.command for invocation in understood if invocation.headless or invocation.command != "run"]
    assert len(commands) == len(lines)
    assert (commands.count("run") >= 3, commands.count("review") >= 6, commands.count("receipt") >= 1) == (True, True, True)


def test_every_setting_is_documented() -> None:
    table = section(CONFIGURATION, "Settings")
    documented = {name for row in table.splitlines() for name in re.findall(r"`([a-z_.]+)`", row.partition(" |")[0])}
    assert {dotted(key) for key, _, _ in plain_keys()} <= documented


def test_the_guide_for_those_who_work_here_is_short_and_complete() -> None:
    guide = (ROOT / "AGENTS.md").read_text()
    assert len(guide.splitlines()) <= 120
    assert re.findall(r"^## (.*)$", guide, re.MULTILINE)[:4] == ["Map", "Commands", "Style", "Tests"]
    packages = {path.name for path in (ROOT / "src" / "ferrule").iterdir() if (path / "__init__.py").exists()}
    assert set(re.findall(r"^\| `(\w+)/` \|", guide, re.MULTILINE)) == packages


def test_the_changelog_begins_with_this_version_and_the_licence_is_there() -> None:
    assert (ROOT / "CHANGELOG.md").read_text().split("\n## ")[1].splitlines()[0].startswith(__version__)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["license"] == "Apache-2.0"
    assert "Apache License" in (ROOT / "LICENSE").read_text()
