import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ferrule.process.supervisor import Supervisor
from ferrule.store.blobs import TemporaryBlobs
from ferrule.task.guidance.skill_tool import SHOWN, skill_tool
from ferrule.task.guidance.slash_tool import slash_tool
from ferrule.task.guidance.typed import expanded
from ferrule.tools.base import Place, Tool, ToolContext
from ferrule.types.errors import Hidden, ToolError
from ferrule.types.tools import Action

from .tree import Tree

ONE = "repo/packages/one"


def run(tool: Tool, place: Place, **arguments: Any) -> str:
    blobs = TemporaryBlobs()
    context = ToolContext(place, Supervisor(), blobs, ())
    try:
        output = asyncio.run(tool.run(msgspec.convert(arguments, tool.params), context))  # type: ignore[arg-type]
    finally:
        blobs.close()
    (part,) = output.parts
    return str(getattr(part, "text", ""))


def actions(tool: Tool, place: Place, **arguments: Any) -> tuple[Action, ...]:
    return tool.actions(msgspec.convert(arguments, tool.params), place)


class Used:
    """Tools over what stands in a tree."""

    def __init__(self, tree: Tree) -> None:
        self.guidance = tree.gather()
        self.place = Place(tree.folder)

    def skill(self, **arguments: Any) -> str:
        return run(skill_tool(self.guidance), self.place, **arguments)

    def command(self, **arguments: Any) -> str:
        return run(slash_tool(self.guidance), self.place, **arguments)


def test_a_skill_gives_its_body_and_names_its_other_files(tree: Tree) -> None:
    tree.skill("user/skills/s", "Do this.")
    for name in ("reference.md", "scripts/run.py", ".hidden"):
        tree.write(f"user/skills/s/{name}", f"in {name}")
    used = Used(tree)
    folder = tree.user / "skills" / "s"
    assert used.skill(name="s") == (
        f'<skill name="s" file="{folder}/SKILL.md">\nDo this.\n</skill>\n\n'
        f"Its other files, in {folder}:\nreference.md\nscripts/run.py"
    )
    assert used.skill(name="s", file="scripts/run.py") == '<file path="scripts/run.py">\nin scripts/run.py\n</file>'


def test_the_body_is_the_one_that_stands_there_when_it_is_asked_for(tree: Tree) -> None:
    tree.skill("user/skills/s", "old")
    used = Used(tree)
    tree.skill("user/skills/s", "new")
    assert "\nnew\n" in used.skill(name="s")
    (tree.user / "skills" / "s" / "SKILL.md").unlink()
    with pytest.raises(ToolError, match=r"skills/s/SKILL\.md is a link that leads nowhere|does not exist"):
        used.skill(name="s")


@pytest.mark.parametrize("file", ["../other/SKILL.md", "/etc/passwd", "link", "a/../../other/SKILL.md", "~/x", "missing", "a\0b"])
def test_no_file_outside_of_a_skill_is_read(tree: Tree, file: str) -> None:
    tree.skill("user/skills/other", "SECRET")
    tree.skill("user/skills/s", "x")
    (tree.user / "skills" / "s" / "a").mkdir()
    (tree.user / "skills" / "s" / "link").symlink_to("../other/SKILL.md")
    with pytest.raises(ToolError, match=r"leads out of the skill s|has no file|is not a usable path"):
        Used(tree).skill(name="s", file=file)


def test_a_long_skill_is_paged_to_its_exact_text(tree: Tree) -> None:
    lines = [f"{number} {'x' * 70}" for number in range(2_000)]
    tree.skill("user/skills/s", "\n".join(lines))
    used, seen, first = Used(tree), list[str](), 1
    while True:
        page = used.skill(name="s", first_line=first).splitlines()[1:-1]
        if not page[-1].startswith("["):
            seen += page
            break
        assert sum(len(line) + 1 for line in page[:-1]) <= SHOWN
        seen += page[:-1]
        first = len(seen) + 1
        assert page[-1] == f"[cut after line {len(seen)} of 2000; go on with first_line={first}]"
    assert seen == lines
    with pytest.raises(ToolError, match="has only 2000 lines"):
        used.skill(name="s", first_line=2_001)


def test_an_unknown_skill_or_command_names_those_that_there_are(tree: Tree) -> None:
    tree.skill("user/skills/s", "x")
    tree.write("user/commands/go.md")
    with pytest.raises(ToolError, match=r"There is no skill t. There are: s\."):
        Used(tree).skill(name="t")
    with pytest.raises(ToolError, match=r"There is no command \.\./\.\./x. There are: go\."):
        Used(tree).command(command="../../x")


def test_policy_is_asked_about_what_lies_in_the_workspace_only(tree: Tree) -> None:
    inside = tree.skill(f"{ONE}/.ferrule/skills/p", "x")
    tree.skill("user/skills/u", "x")
    tool, place = skill_tool(tree.gather()), Place(tree.folder)
    assert actions(tool, place, name="p") == (Action("read", (str(inside),)),)
    assert (actions(tool, place, name="u"), actions(tool, place, name="none")) == ((), ())


def test_what_an_ignore_file_means_is_kept_from_the_tools_too(tree: Tree) -> None:
    tree.skill(f"{ONE}/.ferrule/skills/p", "x")
    tree.write(f"{ONE}/.ferrule/commands/go.md", "x")
    guidance = tree.gather()
    tree.write("repo/.ferruleignore", "SKILL.md\ngo.md\n")
    for tool, arguments in ((skill_tool(guidance), {"name": "p"}), (slash_tool(guidance), {"command": "go"})):
        with pytest.raises(Hidden):
            actions(tool, Place(tree.folder), **arguments)


def test_a_command_is_given_with_its_arguments_put_in_and_what_its_author_wants(tree: Tree) -> None:
    tree.write(f"{ONE}/.ferrule/commands/fix.md", "---\nmode: architect\nmodel: a/b\n---\nFix $1.\n")
    said = '<command name="fix" file=".ferrule/commands/fix.md" mode="architect" model="a/b">\nFix "12.\n</command>'
    for name in ("fix", "/fix", " fix "):
        assert Used(tree).command(command=name, args='"12 13') == said


def test_a_command_comes_before_a_skill_of_its_name_and_a_skill_is_a_command_too(tree: Tree) -> None:
    tree.skill("user/skills/both", "of the skill")
    tree.skill("user/skills/only", "of the skill: $1")
    tree.write("user/commands/both.md", "of the command")
    used = Used(tree)
    assert "of the command" in used.command(command="both")
    assert "of the skill: x" in used.command(command="only", args="x")


TYPED = {
    "/fix 12 now": ("/fix 12 now\n\n{fix}Fix 12 of 12 now.\n</command>", ""),
    "  /fix": ("  /fix\n\n{fix}Fix  of .\n</command>", ""),
    "/fix\n12": ("/fix\n12\n\n{fix}Fix 12 of 12.\n</command>", ""),
    "/fixx 12": ("/fixx 12", "There is no command /fixx, so the prompt is taken as it stands. Did you mean /fix?"),
    "/usr/bin/fix is broken": ("/usr/bin/fix is broken", ""),
    "say /fix 12": ("say /fix 12", ""),
    "/ fix": ("/ fix", ""),
    "//fix": ("//fix", ""),
}


@pytest.mark.parametrize("prompt", TYPED)
def test_what_is_typed_is_expanded_where_it_is_a_command(tree: Tree, prompt: str) -> None:
    tree.write(f"{ONE}/.ferrule/commands/fix.md", "Fix $1 of $ARGUMENTS.")
    text, remark = TYPED[prompt]
    opening = '<command name="fix" file=".ferrule/commands/fix.md">\n'
    assert expanded(prompt, tree.gather()) == (text.replace("{fix}", opening), remark)


def test_a_command_cannot_close_its_own_fence(tree: Tree) -> None:
    tree.write("user/commands/go.md", "a\n</command>\nb $1")
    assert Used(tree).command(command="go", args="</Command>").count("</command>") == 1


def test_the_folder_of_the_user_is_shown_as_it_is(tree: Tree) -> None:
    tree.write("user/commands/go.md", "x")
    assert f'file="{Path(tree.user)}/commands/go.md"' in Used(tree).command(command="go")
