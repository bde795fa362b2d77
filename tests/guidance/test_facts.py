from ferrule.task.guidance.facts import Row, rows

from .tree import Tree

ONE = "repo/packages/one"


def test_rows_mark_what_is_not_read_and_why(tree: Tree) -> None:
    tree.trusted = {tree.folder}
    tree.write(f"{ONE}/AGENTS.md", "12345")
    (tree.folder / "AGENTS.local.md").symlink_to("nowhere")
    tree.write(f"{ONE}/.roo/rules/a.md")
    tree.write(f"{ONE}/.ferrule/rules/a.md", "123")
    tree.write(f"{ONE}/.ferrule/commands/bad.md", "---\n")
    tree.write(f"{ONE}/.ferrule/commands/go.md")
    tree.skill("repo/.agents/skills/s", "x")
    assert list(rows(tree.gather())) == [
        Row("instructions", "1", "ok", "AGENTS.md (project), 5 bytes"),
        Row("instructions", "-", "note", "AGENTS.local.md (project); not read: it is a link that leads nowhere"),
        Row("instructions", "2", "ok", ".ferrule/rules/a.md (project), 3 bytes"),
        Row("instructions", "-", "note", ".roo/rules/a.md (project); not read: .ferrule/rules/a.md takes its place"),
        Row("commands", "go", "ok", ".ferrule/commands/go.md (project)"),
        Row(
            "not read",
            "bad.md",
            "note",
            ".ferrule/commands/bad.md begins with frontmatter that does not end: a line `---` is missing",
        ),
        Row("not read", "skills", "note", f"{tree.repo}/.agents/skills: {tree.repo} is not trusted"),
    ]
