"""What a model is shown of the files that it reads, in the requests that a loopback server got."""

import base64
import io
import os
from pathlib import Path

import pytest
from openpyxl import Workbook
from PIL import Image

from tests.fakes.server import FakeServer

from .driving import Json, Project, call, completes, keys, step

PYTHON = "import os\n\n\nclass A:\n    def f(self):\n        return os\n\n    def g(self):\n        pass\n"


def reads(project: Project, *calls: Json, model: str = "openai/gpt-5.1") -> list[Json]:
    """The messages of the last request of a run that makes these calls and completes."""
    with FakeServer({"version": 1, "steps": [step(*calls), step(completes())]}) as server:
        ran = project.run("-p", "Look.", "--model", model, **keys(server.url))
        assert ran.code == 0, ran
        messages: list[Json] = [request for request in server.requests if request.method == "POST"][-1].body["messages"]
        return messages


def results(messages: list[Json]) -> list[str]:
    return [message["content"] for message in messages if message["role"] == "tool"]


def picture(path: Path) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (4_000, 1_000), "red").save(out, "PNG")
    path.write_bytes(out.getvalue())
    return out.getvalue()


def sent(messages: list[Json]) -> list[bytes]:
    parts = [part for message in messages if isinstance(message["content"], list) for part in message["content"]]
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    return [base64.b64decode(url.partition(",")[2]) for url in urls]


def test_a_block_and_several_files_are_read_in_one_turn(project: Project) -> None:
    project.write("a.py", PYTHON)
    project.write("b.txt", "b\n")
    block = call("read_file", path="a.py", mode="indentation", anchor_line=6, max_levels=1)
    both = call("read_file", files=[{"path": "b.txt"}, {"path": "missing"}])
    assert results(reads(project, block, both)) == [
        "File: a.py\nBlock around line 6, by syntax (Python): lines 5-6, of 9 in the file.\n"
        "1 | import os\n----\n4 | class A:\n5 |     def f(self):\n6 |         return os",
        "File: b.txt\n1 | b\n\n---\n\nFile: missing\nError: missing does not exist.",
    ]


def test_a_model_that_sees_is_shown_a_picture_and_another_a_note(project: Project) -> None:
    data = picture(project.folder / "a.png")
    said = "File: a.png\nImage: PNG, 4000 × 1000 pixels, shown as PNG of 1568 × 392"
    seen = reads(project, call("read_file", path="a.png"))
    assert results(seen) == [said]
    (shown,) = sent(seen)
    assert len(shown) < len(data)
    assert Image.open(io.BytesIO(shown)).size == (1_568, 392)

    config = project.home / ".config/ferrule/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[endpoints.blind]\ndialect = "openai"\nbase_url = "BASE"\nkey_env = "OPENAI_API_KEY"\nimages = false\n')
    with FakeServer({"version": 1, "steps": [step(call("read_file", path="a.png")), step(completes())]}) as server:
        config.write_text(config.read_text().replace("BASE", f"{server.url}/v1"))
        config.chmod(0o600)
        ran = project.run("-p", "Look.", "--model", "blind/m", **keys(server.url))
        assert ran.code == 0, ran
        messages = server.requests[-1].body["messages"]
    assert sent(messages) == []
    assert said in results(messages)[0]
    assert "an image (image/png) was left out: this model does not read images" in str(messages)


@pytest.mark.parametrize("special", ["pipe", "/dev/zero", "/dev/tty"])
def test_what_is_no_file_is_refused_and_the_run_goes_on(project: Project, special: str) -> None:
    os.mkfifo(project.folder / "pipe")
    with FakeServer({"version": 1, "steps": [step(call("read_file", path=special)), step(completes())]}) as server:
        ran = project.run("-p", "Look.", "--model", "openai/m", "--approve", "all", **keys(server.url))
    assert ran.code == 0, ran
    kinds = [entry["result"]["kind"] for entry in project.journal.entries("call_finished")]
    texts = [part["text"] for entry in project.journal.entries("call_finished") for part in entry["result"]["parts"]]
    assert kinds[0] in ("error", "denied")
    assert special != "pipe" or texts[0] == "Cannot read pipe: it is a named pipe, not a file."


@pytest.mark.parametrize("sandbox", ["off", "workspace", "strict"])
def test_a_document_comes_as_numbered_text_in_a_sandbox_too(project: Project, sandbox: str) -> None:
    outside = project.base / "outside.xlsx"
    for file in (project.folder / "a.xlsx", outside):
        book = Workbook()
        book.worksheets[0].append(["a", 1])
        book.save(str(file))
    calls = (call("read_file", path="a.xlsx"), call("read_file", path=str(outside)))
    steps = [step(*calls), step(completes())]
    with FakeServer({"version": 1, "steps": steps}) as server:
        flags = ("--model", "openai/gpt-5.1", "--sandbox", sandbox, "--allow", f"read:{outside}")
        ran = project.run("-p", "Look.", *flags, **keys(server.url))
        assert ran.code == 0, ran
        messages = server.requests[-1].body["messages"]
    text = "Document: Excel, 1 sheet\n1 | # Sheet: Sheet\n2 | 1\ta\t1"
    assert results(messages) == [f"File: a.xlsx\n{text}", f"File: {outside}\n{text}"]
