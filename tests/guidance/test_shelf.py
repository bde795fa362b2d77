import os

import pytest

from ferrule.task.guidance.shelf import MOST
from ferrule.task.guidance.telling import SHELF_CHARACTERS, told

from .tree import Tree

ONE = "repo/packages/one"
STRONGEST_FIRST = (
    f"{ONE}/.ferrule/skills-code",
    f"{ONE}/.ferrule/skills",
    f"{ONE}/.roo/skills-code",
    f"{ONE}/.roo/skills",
    f"{ONE}/.agents/skills-code",
    f"{ONE}/.agents/skills",
    "repo/packages/.ferrule/skills",
    "repo/.ferrule/skills",
    "repo/.agents/skills",
    "user/skills-code",
    "user/skills",
    "home/.roo/skills",
    "home/.agents/skills",
)


@pytest.mark.parametrize("strongest", range(len(STRONGEST_FIRST)))
def test_of_skills_with_one_name_the_strongest_counts_and_takes_the_place_of_the_others(tree: Tree, strongest: int) -> None:
    tree.trusted |= {tree.repo / "packages"}
    there = STRONGEST_FIRST[strongest:]
    for place in reversed(there):
        tree.skill(f"{place}/deploy", place)
    guidance = tree.gather()
    assert [tree.short(item.file) for item in guidance.items] == [f"{place}/deploy/SKILL.md" for place in there]
    first = guidance.named("skills")["deploy"]
    assert tree.short(first.file) == f"{there[0]}/deploy/SKILL.md"
    assert {item.by for item in guidance.items[1:]} <= {guidance.where.shown(first.file)}
    assert guidance.remark == ""


COMMANDS = (
    f"{ONE}/.ferrule/commands",
    f"{ONE}/.roo/commands",
    f"{ONE}/.agents/commands",
    "repo/.ferrule/commands",
    "repo/.roo/commands",
    "user/commands",
    "home/.roo/commands",
    "home/.agents/commands",
)


def test_of_commands_with_one_name_the_strongest_counts(tree: Tree) -> None:
    for place in COMMANDS:
        tree.write(f"{place}/go.md", place)
        tree.write(f"{place}/{place.replace('/', '-').replace('.', '')}.md", place)
    guidance = tree.gather()
    assert [tree.short(item.file) for item in guidance.items if item.name == "go"] == [f"{place}/go.md" for place in COMMANDS]
    assert tree.short(guidance.named("commands")["go"].file) == f"{COMMANDS[0]}/go.md"
    assert len(guidance.named("commands")) == len(COMMANDS) + 1


TRUST = {
    "nothing": ((), ["user/skills/u/SKILL.md"], "packages/one, repo"),
    "the project folder": ((ONE,), [f"{ONE}/.ferrule/skills/p/SKILL.md", "user/skills/u/SKILL.md"], "repo"),
    "the repository": (("repo",), ["repo/.roo/skills/r/SKILL.md", "user/skills/u/SKILL.md"], "packages/one"),
    "both": (("repo", ONE), [f"{ONE}/.ferrule/skills/p/SKILL.md", "repo/.roo/skills/r/SKILL.md", "user/skills/u/SKILL.md"], ""),
}


@pytest.mark.parametrize("what", TRUST)
def test_only_trusted_folders_bring_skills_and_what_was_not_read_is_said(tree: Tree, what: str) -> None:
    trusted, counting, unread = TRUST[what]
    tree.trusted = {tree.base / name for name in trusted}
    tree.skill(f"{ONE}/.ferrule/skills/p", "p")
    tree.skill("repo/.roo/skills/r", "r")
    tree.skill("user/skills/u", "u")
    tree.write(f"{ONE}/AGENTS.md", "read all the same")
    guidance = tree.gather()
    assert [tree.short(item.file) for item in guidance.items] == counting
    assert guidance.instructions[0].contents is not None
    projects = {"packages/one": (tree.folder, ".ferrule/skills"), "repo": (tree.repo, f"{tree.repo}/.roo/skills")}
    assert guidance.remark == " ".join(
        f"{shelf} is not read because {project} is not trusted (ferrule config trust {project})."
        for name, (project, shelf) in projects.items()
        if name in unread
    )


def test_nothing_in_a_folder_that_is_not_trusted_is_opened(tree: Tree) -> None:
    tree.trusted = set()
    (tree.folder / ".ferrule" / "skills" / "s").mkdir(parents=True)
    os.mkfifo(tree.folder / ".ferrule" / "skills" / "s" / "SKILL.md")
    (tree.folder / ".roo").mkdir()
    os.mkfifo(tree.folder / ".roo" / "commands")
    assert tree.gather().items == ()
    assert len(tree.gather().untrusted) == 2


def test_the_home_folder_as_a_project_is_the_persons_own(tree: Tree) -> None:
    tree.home = tree.folder
    tree.trusted = set()
    tree.skill(f"{ONE}/.agents/skills/s", "s")
    assert [item.whose for item in tree.gather().items] == ["person"]


BROKEN = {
    "no end": ("---\nname: bad\n", "begins with frontmatter that does not end: a line `---` is missing"),
    "no YAML": ("---\nname: bad\ndescription: [a\n- b\n---\n", "has frontmatter that is no YAML in line 4: "),
    "a list": ("---\n- a\n- b\n---\n", "has frontmatter that is no table of `name: value`"),
    "no description": ("---\nname: bad\n---\nx", "has no description in its frontmatter"),
    "no frontmatter": ("Just text.", "has no description in its frontmatter"),
    "another name": ("---\nname: good\ndescription: d\n---\n", 'calls itself "good", but stands in a folder of another name'),
    "a table": ("---\ndescription: {a: b}\n---\n", "has no description in its frontmatter"),
    "too deep": (f"---\ndescription: {'[' * 5_000}\n---\n", "has frontmatter that is "),
    "an unknown tag": ("---\n!!python/object/apply:os.system [x]\n---\n", "has frontmatter that is no table"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_skill_is_said_and_does_not_lose_the_others(tree: Tree, kind: str) -> None:
    text, why = BROKEN[kind]
    tree.write(f"{ONE}/.ferrule/skills/bad/SKILL.md", text)
    tree.skill(f"{ONE}/.ferrule/skills/a-good", "a")
    tree.skill(f"{ONE}/.ferrule/skills/z-good", "z")
    guidance = tree.gather()
    assert [*guidance.named("skills")] == ["a-good", "z-good"]
    ((path, said),) = guidance.troubles
    assert (tree.short(path), said[: len(why)]) == (f"{ONE}/.ferrule/skills/bad/SKILL.md", why)


@pytest.mark.parametrize("name", ["Upper", "two--dashes", "-a", "under_score", "a" * 65])
def test_a_skill_is_named_as_others_can_name_it(tree: Tree, name: str) -> None:
    tree.skill(f"{ONE}/.ferrule/skills/{name}", "x")
    assert [each.why for each in tree.gather().troubles] == [
        "is not named with small letters, digits and single dashes, 64 at most"
    ]


@pytest.mark.parametrize("made", ["skills", "skills/s", "skills/s/SKILL.md"])
def test_a_link_out_of_the_project_brings_no_skill(tree: Tree, made: str) -> None:
    tree.skill("elsewhere/skills/s", "x")
    link = tree.folder / ".roo" / made
    link.parent.mkdir(parents=True)
    link.symlink_to(tree.base / "elsewhere" / made)
    guidance = tree.gather()
    assert guidance.items == ()
    assert f"leads out of the project, to {tree.base}/elsewhere/{made}" in guidance.remark


FIELDS = {
    "description: What it does\nargument-hint: '[a] [b]'\nmode: code\nmodel: openai/x": (
        "What it does",
        "[a] [b]",
        "code",
        "openai/x",
    ),
    "description: Use it when: always\nargument-hint: [a] [b]": ("Use it when: always", "[a] [b]", "", ""),
    "argument-hint: [file]": ("", "[file]", "", ""),
    "description: >\n  two\n  lines\nmode: no": ("two lines", "", "no", ""),
    "description: 12\nother: [1, {a: b}]": ("12", "", "", ""),
    "": ("", "", "", ""),
}


@pytest.mark.parametrize("fields", FIELDS)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_the_frontmatter_of_a_command_is_text(tree: Tree, fields: str, ending: str) -> None:
    text = f"---\n{fields}\n---\nBody\n".replace("\n", ending)
    (tree.folder / ".ferrule" / "commands").mkdir(parents=True)
    (tree.folder / ".ferrule" / "commands" / "go.md").write_bytes(text.encode())
    item = tree.gather().named("commands")["go"]
    assert (item.description, item.hint, item.mode, item.model) == FIELDS[fields]


@pytest.mark.parametrize(
    ("wanted", "modes"), [("modeSlugs: [code, ask]", "code ask"), ("mode: ask", "ask"), ("", "code ask other")]
)
def test_a_skill_for_other_modes_is_not_there(tree: Tree, wanted: str, modes: str) -> None:
    tree.write(f"{ONE}/.roo/skills/s/SKILL.md", f"---\ndescription: d\n{wanted}\n---\n")
    assert [mode for mode in ("code", "ask", "other") if tree.gather(mode).items] == (
        modes if wanted else "code ask other"
    ).split()


def test_names_and_descriptions_stand_in_the_prompt_and_bodies_do_not(tree: Tree) -> None:
    tree.skill(f"{ONE}/.agents/skills/b", "SECRET BODY", "About b.")
    tree.skill("user/skills/a", "SECRET BODY", "About\n  a.")
    tree.write(f"{ONE}/.ferrule/commands/fix.md", "---\ndescription: Fix it\nargument-hint: '[issue]'\n---\nSECRET BODY")
    skills, commands = told(tree.gather())
    assert skills.endswith("\n\n- a: About a.\n- b: About b.")
    assert commands.endswith("\n\n- fix [issue]: Fix it")
    assert "SECRET" not in skills + commands


def test_a_shelf_in_the_prompt_is_bounded_and_still_names_the_rest(tree: Tree) -> None:
    for number in range(30):
        tree.skill(f"user/skills/s{number:02}", "x", "d" * 2_000)
    (section,) = told(tree.gather())
    shown = section.count("\n- s")
    assert 10 < shown < 30
    assert f"[{30 - shown} more skills, not described here: s{shown:02}, " in section
    assert len(section) < SHELF_CHARACTERS + 1_000


def test_too_many_are_said(tree: Tree) -> None:
    for number in range(MOST + 3):
        tree.write(f"user/commands/c{number}.md")
    assert tree.gather().remark == f"{tree.user}/commands holds {MOST + 3} commands, of which the first {MOST} are read."


def test_what_cannot_be_typed_is_no_command(tree: Tree) -> None:
    tree.write("user/commands/two words.md")
    tree.write("user/commands/notes.txt")
    guidance = tree.gather()
    assert (guidance.items, len(guidance.troubles)) == ((), 1)
