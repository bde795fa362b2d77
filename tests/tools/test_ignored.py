"""No tool touches what an ignore file means, however it is spelled; no result names it."""

import asyncio
import json
import os
import subprocess
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ferrule.policy.decide import Policy, decide
from ferrule.process.protocol import allowed_environment
from ferrule.process.supervisor import Supervisor
from ferrule.tools.base import Place, Tool, ToolContext
from ferrule.tools.catalog import coding_tools
from ferrule.tools.checks.run_checks import run_checks_tool
from ferrule.tools.schema import parse, schema
from ferrule.types.errors import Hidden, ToolError
from ferrule.types.tools import Action

from .bench import Bench

SECRET = "squeamish"
PATCH = "*** Begin Patch\n*** Update File: {path}\n@@\n-squeamish\n+x\n*** End Patch\n"
NAMING: dict[str, Any] = {
    "read_file": lambda path: {"path": path},
    "list_files": lambda path: {"path": path},
    "find_files": lambda path: {"query": "x", "path": path},
    "search_files": lambda path: {"path": path, "regex": "."},
    "list_code_definitions": lambda path: {"path": path},
    "codebase_search": lambda path: {"query": "x", "path": path},
    "write_to_file": lambda path: {"path": path, "content": "x"},
    "apply_diff": lambda path: {"path": path, "diff": "<<<<<<< SEARCH\nsqueamish\n=======\nx\n>>>>>>> REPLACE\n"},
    "apply_patch": lambda path: {"patch": PATCH.format(path=path)},
    "edit": lambda path: {"file_path": path, "old_string": "squeamish", "new_string": "x"},
    "execute_command": lambda path: {"command": "pwd", "cwd": path},
    "run_checks": lambda path: {"paths": [path]},
}
"""Arguments of each tool that takes a path, with one of them."""
WITHOUT = {"read_command_output", "stop_command"}


def no_source(params: Any, context: ToolContext) -> Any:
    raise AssertionError


TOOLS = {tool.name: tool for tool in (*coding_tools(), run_checks_tool(no_source))}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = (tmp_path / "work").resolve()
    for name in ("hidden/deep/x", "src/k.pem", "k.pem", "clés/é.txt", "src/a.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"{SECRET}\n")
    (root / ".ferruleignore").write_text("hidden/\n*.pem\nclés\n")
    (root / "file").symlink_to("hidden/deep/x")
    (root / "folder").symlink_to("hidden")
    (root / "hidden/out").symlink_to("../src/a.py")
    (tmp_path / "via").symlink_to(root)
    return root


def test_every_tool_that_takes_a_path_is_looked_at() -> None:
    assert set(TOOLS) - WITHOUT <= set(NAMING)
    for name in WITHOUT:
        assert "path" not in schema(TOOLS[name]).parameters


IGNORED = ("hidden", "hidden/deep", "hidden/deep/x", "hidden/new", "k.pem", "src/k.pem", "new.pem", "clés/é.txt", "clés", "file")
LINKED = ("folder", "folder/deep/x", "folder/new", "hidden/out", "via/k.pem")


@st.composite
def spellings(draw: st.DrawFn) -> str:
    """A path in one of the many ways in which it may be written; ROOT stands for the project's own."""
    path = draw(st.sampled_from((*IGNORED, *LINKED)))
    if path.startswith("via/"):
        path = f"../{path}"
    parts = []
    for part in path.split("/"):
        parts += draw(
            st.sampled_from(([], [], ["."], [""], ["src", ".."], ["not-there", ".."]))
            if not parts or part != ".."
            else st.just([])
        )
        parts.append(part)
    if parts[0] == "":
        parts = parts[1:]
    path = "/".join(parts) + draw(st.sampled_from(("", "", "/", "/.", "//")))
    path = unicodedata.normalize(draw(st.sampled_from(("NFC", "NFD"))), path)
    return draw(st.sampled_from(("", "", "./", "ROOT/", "ROOT/../work/", "~/"))) + path


@pytest.mark.parametrize("name", sorted(TOOLS.keys() & NAMING.keys()))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(spelled=spellings())
def test_a_tool_refuses_an_ignored_path_however_it_is_spelled(
    root: Path, monkeypatch: pytest.MonkeyPatch, name: str, spelled: str
) -> None:
    monkeypatch.setenv("HOME", str(root))
    tool, path = TOOLS[name], spelled.replace("ROOT", str(root))
    params = parse(tool, json.dumps(NAMING[name](path)))
    assert not isinstance(params, str), params
    before = {each: each.read_bytes() for each in root.rglob("*") if each.is_file()}
    with pytest.raises(Hidden, match=r"ignored by \.ferruleignore, line \d: `(hidden/|\*\.pem|clés)`\."):
        tool.actions(params, Place(root))
    if name != "run_checks":
        with pytest.raises(ToolError, match=r"ignored by|must name a file"):
            asyncio.run(tool.run(params, context(root)))
    assert {each: each.read_bytes() for each in root.rglob("*") if each.is_file()} == before


def context(root: Path) -> ToolContext:
    environment = tuple(allowed_environment(os.environ, ()))
    return ToolContext(Place(root), Supervisor(), None, environment)  # type: ignore[arg-type]  # refused before a blob is needed


def test_policy_denies_what_a_tool_that_does_not_ask_its_place_would_touch(root: Path) -> None:
    place = Place(root)
    policy = Policy(root=str(root), approve="all", ignores=place.guard)
    for path in ("k.pem", "file", "hidden/out", "hidden/caf\ufffdE9"):
        assert decide((Action("write", (f"{root}/{path}",)),), policy).verdict == "deny"
    assert decide((Action("write", (f"{root}/src/a.py",)),), policy).verdict == "allow"


@pytest.fixture
def project(bench: Bench) -> Bench:
    """`shown.py` beside a secret in `hidden.pem`, another in `sub`, and a link to it."""
    (bench.root / "sub").mkdir()
    for name in ("shown.py", "hidden.pem", "sub/hidden.pem", "sub/shown.txt"):
        (bench.root / name).write_text(f"{SECRET} = 1\n")
    (bench.root / "link").symlink_to("hidden.pem")
    (bench.root / ".ferruleignore").write_text("*.pem\n")
    return bench


def test_no_listing_no_search_and_no_suggestion_names_it(project: Bench) -> None:
    assert project.text("list_files", path=".", recursive=True) == ".ferruleignore\nshown.py\nsub/\nsub/shown.txt"
    found = project.text("search_files", path=".", regex=SECRET)
    assert found == f"Found 2 matches in 2 files.\n\n# shown.py\n1 | {SECRET} = 1\n\n# sub/shown.txt\n1 | {SECRET} = 1"
    assert "pem" not in project.text("find_files", glob="*")
    assert "pem" not in project.text("find_files", query="hidden")
    assert project.refusal("read_file", path="hidden.pe") == "hidden.pe does not exist."
    assert project.refusal("read_file", path="hidden/pem") == "hidden/pem does not exist."


def test_a_search_counts_only_what_it_may_show(project: Bench) -> None:
    (project.root / "a.pem").write_text(f"{SECRET}\n" * 1_000)
    assert project.text("search_files", path=".", regex=SECRET).startswith("Found 2 matches in 2 files.")
    assert project.text("search_files", path=".", regex=SECRET, file_pattern="*.pem") == "No matches in files like `*.pem`."


def test_a_listing_may_show_what_is_locked(project: Bench) -> None:
    place = Place(project.root, show_ignored=True)
    tool: Tool = project.tools["list_files"]
    params = parse(tool, json.dumps({"path": ".", "recursive": True}))
    output = asyncio.run(tool.run(params, ToolContext(place, Supervisor(), project.blobs, ())))
    (text,) = (part.text for part in output.parts if hasattr(part, "text"))
    assert text.splitlines() == [
        ".ferruleignore",
        "\N{LOCK} hidden.pem",
        "\N{LOCK} link",
        "shown.py",
        "sub/",
        "\N{LOCK} sub/hidden.pem",
        "sub/shown.txt",
    ]


def test_a_changed_ignore_file_counts_for_the_very_next_call(project: Bench) -> None:
    assert project.call("read_file", path="shown.py").kind == "ok"
    subprocess.run(["bash", "-c", "echo shown.py > .rooignore"], cwd=project.root, check=True)
    assert project.refusal("read_file", path="shown.py") == "shown.py is ignored by .rooignore, line 1: `shown.py`."
    assert "shown.py" not in project.text("list_files", path=".")
    assert "shown.py" not in project.text("search_files", path=".", regex=SECRET)
    assert "shown.py" not in project.text("find_files", glob="*")
    (project.root / ".rooignore").unlink()
    assert project.call("read_file", path="shown.py").kind == "ok"


def test_a_broken_ignore_file_closes_everything_below_it_and_says_so(project: Bench) -> None:
    (project.root / ".rooignore").write_text("[z-a]\n")
    refusal = project.refusal("read_file", path="shown.py")
    assert refusal.startswith("shown.py is taken for ignored: .rooignore cannot be understood (line 1: ")
    assert project.text("list_files", path=".") == "./ holds nothing that is not ignored."
    assert project.text("search_files", path=".", regex=SECRET) == "No matches."


def test_one_ignored_file_of_several_is_refused(project: Bench) -> None:
    refusal = project.refusal("read_file", files=[{"path": "shown.py"}, {"path": "hidden.pem"}])
    assert refusal == "hidden.pem is ignored by .ferruleignore, line 1: `*.pem`."
