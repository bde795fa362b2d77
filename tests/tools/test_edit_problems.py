"""What the editing tools add about new problems."""

import asyncio
import json
from collections.abc import Iterator

import pytest

from ferrule.tools.catalog import coding_tools
from ferrule.tools.edit.editing import Editing
from ferrule.tools.edit.looking import Looking

from .bench import Bench, said

PROBLEM = "New problems:\na.py:1: error: Undefined name `os` [ruff F821]"
OLD = "import os\nos.sep\n"


@pytest.fixture
def looked(bench: Bench) -> Iterator[Bench]:
    looking = Looking("checks", bench.place, ())
    bench.tools = {tool.name: tool for tool in coding_tools(editing=Editing(look=looking.look))}
    (bench.root / "a.py").write_text(OLD)
    yield bench
    asyncio.run(looking.close())


def test_edit(looked: Bench) -> None:
    text = looked.text("edit", file_path="a.py", old_string="import os\n", new_string="")
    assert text == f"Edited a.py at line 1. There is no need to read it again.\n\n{PROBLEM}"


def test_apply_diff(looked: Bench) -> None:
    diff = "<<<<<<< SEARCH\nimport os\n=======\n>>>>>>> REPLACE\n"
    text = looked.text("apply_diff", path="a.py", diff=diff)
    assert text == f"Edited a.py; there is no need to read it again.\nBlock 1 replaced line 1.\n\n{PROBLEM}"


def test_apply_diff_of_which_a_part_was_applied(looked: Bench) -> None:
    diff = "<<<<<<< SEARCH\nimport os\n=======\n>>>>>>> REPLACE\n<<<<<<< SEARCH\nzzz\n=======\n>>>>>>> REPLACE\n"
    output = looked.call("apply_diff", path="a.py", diff=diff)
    assert (output.kind, len(output.changes)) == ("error", 1)
    assert said(output).endswith(f"Nothing in the file resembles it; read the file again.\n\n{PROBLEM}")


def test_write_to_file(looked: Bench) -> None:
    told = json.loads(looked.text("write_to_file", path="a.py", content="os.sep\n"))
    assert told == {
        "path": "a.py",
        "operation": "modified",
        "bytes": 7,
        "notice": "The file is as you wrote it; there is no need to read it again.",
        "problems": PROBLEM,
    }


def test_apply_patch_of_several_files(looked: Bench) -> None:
    patch = "*** Update File: a.py\n@@\n-import os\n*** Add File: b.json\n+{\n*** Add File: c.py\n+x = 1\n"
    text = looked.text("apply_patch", patch=patch)
    assert text.startswith(
        "Applied the patch; there is no need to read the files again.\nUpdated a.py: hunk 1 at line 1.\nAdded b.json, 1 line.\n"
        f"Added c.py, 1 line.\n\n{PROBLEM}\nb.json:"
    )
    assert "c.py:" not in text


def test_an_edit_that_breaks_nothing_is_told_as_before(looked: Bench) -> None:
    text = looked.text("edit", file_path="a.py", old_string="sep", new_string="linesep")
    assert text == "Edited a.py at line 2. There is no need to read it again."
