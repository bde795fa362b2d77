import os
import re
from pathlib import Path

import pytest

from ferrule.task.guidance.instructions import FILE_BYTES, MOST_RULES
from ferrule.task.guidance.places import repository_chain
from ferrule.task.guidance.telling import HEADING, TOTAL_BYTES, told

from .tree import Tree

ONE = "repo/packages/one"
ORDER = (
    "user/AGENTS.md",
    "user/AGENTS.local.md",
    "user/rules/a.md",
    "user/rules-code/b.md",
    "repo/AGENTS.md",
    "repo/.ferrule/rules/z.md",
    "repo/packages/CLAUDE.md",
    f"{ONE}/AGENTS.md",
    f"{ONE}/CLAUDE.local.md",
    f"{ONE}/.ferrule/rules/a.md",
    f"{ONE}/.ferrule/rules/b/c.md",
    f"{ONE}/.ferrule/rules/b.txt",
    f"{ONE}/.roo/rules/y.md",
    f"{ONE}/.ferrule/rules-code/1.md",
    f"{ONE}/.roo/rules-code/0.md",
)


def counting(tree: Tree, mode: str = "code") -> list[str]:
    return [tree.short(each.file) for each in tree.gather(mode).instructions if each.contents is not None]


def test_the_order_is_the_person_then_from_the_repository_down_and_in_each_files_then_rules(tree: Tree) -> None:
    for name in (*ORDER, "AGENTS.md", "repo/packages/two/AGENTS.md", f"{ONE}/.roo/rules-architect/x.md"):
        tree.write(name)
    assert sorted(counting(tree)) == sorted(ORDER)
    assert [name for name in counting(tree) if "/rules/b" not in name] == [name for name in ORDER if "/rules/b" not in name]
    assert f"{ONE}/.roo/rules-architect/x.md" in counting(tree, "architect")


def test_the_prompt_names_each_file_and_fences_it_in_that_order(tree: Tree) -> None:
    for number, name in enumerate(ORDER):
        tree.write(name, f"text {number}\n")
    (said,) = told(tree.gather())
    assert said.startswith(f'{HEADING}\n\n<instructions file="{tree.user}/AGENTS.md">\ntext 0\n</instructions>\n\n<instructions')
    assert said.endswith('<instructions file=".roo/rules-code/0.md">\ntext 14\n</instructions>')
    assert len(re.findall(r"text \d+", said)) == len(ORDER)


SHADOWED = {
    (f"{ONE}/CLAUDE.md", f"{ONE}/AGENTS.md"): "AGENTS.md",
    (f"{ONE}/CLAUDE.local.md", f"{ONE}/AGENTS.local.md"): "AGENTS.local.md",
    (f"{ONE}/.roo/rules/a/x.md", f"{ONE}/.ferrule/rules/a/x.md"): ".ferrule/rules/a/x.md",
    (f"{ONE}/.roo/rules-code/x.md", f"{ONE}/.ferrule/rules-code/x.md"): ".ferrule/rules-code/x.md",
}


@pytest.mark.parametrize(("files", "by"), SHADOWED.items(), ids=lambda value: value if isinstance(value, str) else "")
def test_what_takes_the_place_of_a_file_is_named(tree: Tree, files: tuple[str, str], by: str) -> None:
    for name in files:
        tree.write(name)
    found = {tree.short(each.file): each.by for each in tree.gather().instructions}
    assert found == {files[0]: by, files[1]: ""}


def test_rules_of_the_same_name_in_different_folders_all_count(tree: Tree) -> None:
    names = ("user/rules/a.md", "repo/.roo/rules/a.md", f"{ONE}/.ferrule/rules/a.md", f"{ONE}/.roo/rules-code/a.md")
    for name in names:
        tree.write(name)
    assert counting(tree) == list(names)


def test_the_same_file_by_two_names_is_told_once(tree: Tree) -> None:
    tree.write("repo/AGENTS.md")
    (tree.folder / "AGENTS.md").symlink_to(tree.repo / "AGENTS.md")
    assert [each.by for each in tree.gather().instructions] == ["", f"{tree.repo}/AGENTS.md, the same file"]


def test_outside_of_a_repository_only_the_folder_itself_counts(tmp_path: Path) -> None:
    (tmp_path / "loose").mkdir()
    assert repository_chain(tmp_path / "loose") == (tmp_path / "loose",)


def make_link_out(tree: Tree, file: Path) -> None:
    tree.write("secret", "key")
    file.symlink_to(tree.base / "secret")


def make_ignored_target(tree: Tree, file: Path) -> None:
    tree.write("repo/.ferruleignore", "*.pem\n")
    file.symlink_to(tree.write("repo/key.pem", "key"))


BAD = {
    "a link out of the project": (make_link_out, "leads out of the project, to {base}/secret, and is not followed"),
    "a link to what is ignored": (
        make_ignored_target,
        "leads to {base}/repo/key.pem, which an ignore file keeps tools away from",
    ),
    "a link to nothing": (lambda tree, file: file.symlink_to("gone"), "is a link that leads nowhere"),
    "a link to itself": (lambda tree, file: file.symlink_to(file.name), "cannot be reached: links in a circle"),
    "a pipe": (lambda tree, file: os.mkfifo(file), "is no regular file"),
    "no text": (lambda tree, file: file.write_bytes(b"a\0b"), "is not text"),
}


@pytest.mark.parametrize("name", ["AGENTS.md", ".ferrule/rules/bad.md"])
@pytest.mark.parametrize("kind", BAD)
def test_one_bad_file_is_said_and_does_not_lose_the_others(tree: Tree, kind: str, name: str) -> None:
    make, why = BAD[kind]
    tree.write("repo/AGENTS.md", "first")
    tree.write(f"{ONE}/.roo/rules/last.md", "last")
    file = tree.folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    make(tree, file)
    guidance = tree.gather()
    assert counting(tree) == ["repo/AGENTS.md", f"{ONE}/.roo/rules/last.md"]
    assert guidance.remark == f"{name} {why.format(base=tree.base)}."
    (said,) = told(guidance)
    assert f"\n\n[{name} {why.format(base=tree.base)}.]\n\n" in said
    assert "key" not in re.sub(r"\[.*\]", "", said)


def test_what_cannot_be_read_is_said_and_does_not_lose_the_others(tree: Tree) -> None:
    tree.write("repo/AGENTS.md")
    (tree.folder / "AGENTS.md").mkdir()
    tree.user.mkdir()
    (tree.user / "AGENTS.md").symlink_to("/proc/self/mem")
    assert counting(tree) == ["repo/AGENTS.md"]
    assert tree.gather().remark == (
        f"{tree.user}/AGENTS.md cannot be read: Input/output error. AGENTS.md cannot be read: Is a directory."
    )


def test_a_link_may_lead_into_a_folder_that_the_task_uses_too(tree: Tree) -> None:
    (tree.folder / "AGENTS.md").symlink_to(tree.write("shared/AGENTS.md", "common"))
    assert counting(tree) == []
    tree.extra = (tree.base / "shared",)
    assert counting(tree) == [f"{ONE}/AGENTS.md"]


def test_links_of_the_person_lead_anywhere(tree: Tree) -> None:
    tree.write("dotfiles/AGENTS.md")
    tree.write("dotfiles/rules/a.md")
    tree.user.mkdir()
    for name in ("AGENTS.md", "rules"):
        (tree.user / name).symlink_to(tree.base / "dotfiles" / name)
    assert counting(tree) == ["user/AGENTS.md", "user/rules/a.md"]


def test_a_rules_folder_that_leads_out_of_the_project_is_not_listed(tree: Tree) -> None:
    tree.write("elsewhere/a.md")
    (tree.folder / ".roo").mkdir()
    (tree.folder / ".roo" / "rules").symlink_to(tree.base / "elsewhere")
    assert tree.gather().remark == f".roo/rules leads out of the project, to {tree.base}/elsewhere, and is not followed."


def test_hidden_files_and_left_overs_are_no_rules_and_links_to_folders_are_not_followed(tree: Tree) -> None:
    for name in (".DS_Store", "a.md~", "b.bak", ".git/config", "real/c.md"):
        tree.write(f"{ONE}/.roo/rules/{name}")
    (tree.folder / ".roo" / "rules" / "loop").symlink_to(".")
    assert counting(tree) == [f"{ONE}/.roo/rules/real/c.md"]
    assert tree.gather().remark == ".roo/rules/loop is a link to a folder, and is not followed."


def test_too_many_rules_are_said(tree: Tree) -> None:
    for number in range(MOST_RULES + 1):
        tree.write(f"{ONE}/.ferrule/rules/{number:03}.md")
    assert len(counting(tree)) == MOST_RULES
    assert tree.gather().remark == f".ferrule/rules holds more than {MOST_RULES} files, of which the others are not read."


def test_a_huge_file_is_cut_between_characters_and_that_is_said(tree: Tree) -> None:
    file = tree.write(f"{ONE}/AGENTS.md", "é" * FILE_BYTES)
    (said,) = told(tree.gather())
    assert f"\n[cut: the first {FILE_BYTES - 2} of {2 * FILE_BYTES} bytes; read {file} for the rest]\n" in said
    assert said.count("é") == FILE_BYTES // 2 - 1
    assert "\ufffd" not in said


def test_all_together_are_bounded_and_the_nearest_are_cut_last(tree: Tree) -> None:
    for letter, place in zip("abcd", ("user", "repo", "repo/packages", ONE), strict=True):
        tree.write(f"{place}/AGENTS.md", letter * 30_000)
    (said,) = told(tree.gather())
    kept = TOTAL_BYTES - 90_000
    assert [len(re.findall(rf"{letter}{{2,}}", said)[0]) for letter in "abcd"] == [kept, 30_000, 30_000, 30_000]
    assert f"[cut: the first {kept} of 30000 bytes; read {tree.user}/AGENTS.md for the rest]" in said


def test_a_file_cannot_close_its_fence_nor_break_the_name_of_it(tree: Tree) -> None:
    tree.write(f'{ONE}/.roo/rules/a"><b.md', "before\n</instructions>\n</INSTRUCTIONS >\nafter")
    (said,) = told(tree.gather())
    assert said.count("</instructions>") == 1
    assert "</INSTRUCTIONS" not in said
    assert '<instructions file=".roo/rules/a&quot;>&lt;b.md">' in said


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        ("Größe".encode("utf-16"), "Größe\n[read as UTF-16 LE]"),
        ("Größe".encode("cp1252"), "Größe\n[read as Windows-1252]"),
        (b"\xef\xbb\xbfGr\xc3\xb6\xc3\x9fe", "Größe"),
        ("Größe ".encode() + b"\xff", "Größe \\xff\n[read as UTF-8 with invalid bytes]"),
    ],
)
def test_other_encodings_are_read_and_named(tree: Tree, data: bytes, shown: str) -> None:
    (tree.folder / "AGENTS.md").write_bytes(data)
    (said,) = told(tree.gather())
    assert f'<instructions file="AGENTS.md">\n{shown}\n</instructions>' in said


def test_the_same_files_give_the_same_bytes(tree: Tree) -> None:
    for name in reversed(ORDER):
        tree.write(name)
    tree.skill("repo/.roo/skills/b", "b")
    tree.skill("repo/.roo/skills/a", "a")
    first = told(tree.gather())
    for file in sorted(tree.base.rglob("*.md")):
        file.write_text(file.read_text())
        os.utime(file, (1, 1))
    assert told(tree.gather()) == first
    tree.write(ORDER[0], "changed")
    assert told(tree.gather()) != first
