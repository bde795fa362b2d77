import json
import os
from pathlib import Path

import pytest

from ferrule.task.init.manifests import commands
from ferrule.task.init.writing import write_instructions
from ferrule.types.errors import UsageError

MANIFESTS = {
    "make": (
        {"Makefile": "build test: dep\n\tx\nlint::\n.PHONY: run\nrun := 1\nfmt ::= 2\nother:\n"},
        "make build, make lint, make test",
    ),
    "the first of three": ({"Makefile": "test:\n", "GNUmakefile": "build:\n"}, "make build"),
    "just": ({"justfile": "test arg='x':\n  y\nbuild := 'x'\n@lint:\n"}, "just lint, just test"),
    "npm": (
        {"package.json": json.dumps({"scripts": {"test": "", "build": "", "test:unit": ""}})},
        "npm run build, npm run test",
    ),
    "pnpm": ({"package.json": '{"scripts": {"dev": "x"}}', "pnpm-lock.yaml": ""}, "pnpm run dev"),
    "python": ({"pyproject.toml": '[dependency-groups]\ndev = ["pytest>=8", "ruff"]\n'}, "ruff check, pytest"),
    "only a plugin": ({"pyproject.toml": '[project]\ndependencies = ["pytest-cov", "mypy_extensions"]\n'}, ""),
    "uv": ({"pyproject.toml": "[tool.mypy]\nstrict = true\n", "uv.lock": ""}, "uv run mypy ."),
    "rust": ({"Cargo.toml": "[package]\n"}, "cargo build, cargo clippy, cargo fmt --check, cargo test"),
    "go": ({"go.mod": "module x\n"}, "go build ./..., go vet ./..., go test ./..."),
    "several": ({"Makefile": "test:\n", "go.mod": "module x\n"}, "make test, go build ./..., go vet ./..., go test ./..."),
    "broken": ({"package.json": "{", "pyproject.toml": "[", "composer.json": "[]"}, ""),
    "odd": ({"package.json": '{"scripts": ["test"]}', "pyproject.toml": 'tool = "x"'}, ""),
    "none": ({}, ""),
}


@pytest.mark.parametrize("kind", MANIFESTS)
def test_the_commands_are_those_that_the_manifests_name(kind: str) -> None:
    files, expected = MANIFESTS[kind]
    assert ", ".join(told.command for told in commands(files.get)) == expected


def project(folder: Path) -> Path:
    for name in ("src/a.py", "src/b.py", "web/c.ts", "docs/d.md", ".github/e.yml", "Makefile", "node_modules/x.js"):
        file = folder / "name" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("test:\n")
    (folder / "name" / ".gitignore").write_text("node_modules/\n")
    return folder / "name"


def test_the_file_tells_languages_commands_and_layout_without_what_is_ignored(tmp_path: Path) -> None:
    folder = project(tmp_path)
    assert write_instructions(folder).told == "2 languages, 1 command"
    assert (folder / "AGENTS.md").read_text() == (
        "# name\n\nWritten in Python (2 files) and TypeScript (1 file).\n\n"
        "## Commands\n\n- `make test` (Makefile)\n\n"
        "## Layout\n\n- `docs/`: 1 file\n- `src/`: 2 files, mostly Python\n- `web/`: 1 file, mostly TypeScript\n\n"
        "## Conventions\n\nSay here what nobody can see from outside: style, what must not be touched, how to commit.\n"
    )


def test_the_same_project_gives_the_same_text(tmp_path: Path) -> None:
    folder = project(tmp_path)
    write_instructions(folder)
    first = (folder / "AGENTS.md").read_bytes()
    write_instructions(folder, force=True)
    assert (folder / "AGENTS.md").read_bytes() == first


@pytest.mark.parametrize("make", [Path.touch, Path.mkdir, lambda path: path.symlink_to("nowhere"), os.mkfifo])
def test_whatever_is_there_stays_without_force(tmp_path: Path, make: object) -> None:
    assert callable(make)
    make(tmp_path / "AGENTS.md")
    before = (tmp_path / "AGENTS.md").lstat()
    with pytest.raises(UsageError, match=r"AGENTS\.md is there already and stays as it is"):
        write_instructions(tmp_path)
    assert (tmp_path / "AGENTS.md").lstat().st_ino == before.st_ino


def test_force_writes_no_folder_over(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").mkdir()
    with pytest.raises(UsageError, match=r"AGENTS\.md cannot be written: it is a directory"):
        write_instructions(tmp_path, force=True)


def test_an_empty_project_gets_a_file_that_says_what_is_missing(tmp_path: Path) -> None:
    assert write_instructions(tmp_path).told == "0 languages, 0 commands"
    assert "No manifest names any." in (tmp_path / "AGENTS.md").read_text()


def test_a_file_that_will_be_passed_over_is_named(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text("x")
    assert write_instructions(tmp_path).notes == ("CLAUDE.md is not read beside AGENTS.md; move what it says into it.",)


def test_a_manifest_that_leads_out_of_the_project_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("test:\n")
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "Makefile").symlink_to("../Makefile")
    assert write_instructions(tmp_path / "project").told == "0 languages, 0 commands"
