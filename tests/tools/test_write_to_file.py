import hashlib
import json
import os
import tracemalloc

import pytest

from ferrule.types.tools import Action, FileChange
from ferrule.workspace.writing import WHOLE

from .bench import Bench

NOTICE = "The file is as you wrote it; there is no need to read it again."


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize(
    "content",
    [
        "",
        "no final line feed",
        "```python\nx\n```",
        "&lt;a&gt; &amp; $1 $& \\g<0>",
        "trailing  \t\n\n\n",
        "a\r\nb\nc\r",
        "1 | numbered\n2 | lines\n",
        "\ufeffmark\n",
        "é\u2028😀\0\x0c",
    ],
)
def test_content_is_never_altered(bench: Bench, content: str) -> None:
    data = content.encode()
    output = bench.call("write_to_file", path="a/b/c.txt", content=content)
    assert (bench.root / "a/b/c.txt").read_bytes() == data
    assert output.changes == (FileChange("a/b/c.txt", None, digest(data)),)
    assert json.loads(output.parts[0].text) == {  # type: ignore[union-attr]  # this tool returns text
        "path": "a/b/c.txt",
        "operation": "created",
        "bytes": len(data),
        "notice": NOTICE,
    }


def test_a_file_that_exists_is_replaced_and_keeps_its_mode(bench: Bench) -> None:
    file = bench.root / "run.sh"
    file.write_text("old\n")
    file.chmod(0o755)
    output = bench.call("write_to_file", path="run.sh", content="new\n")
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("new\n", 0o755)
    assert output.changes == (FileChange("run.sh", digest(b"old\n"), digest(b"new\n")),)
    assert json.loads(output.parts[0].text)["operation"] == "modified"  # type: ignore[union-attr]  # this tool returns text


def test_the_same_content_is_not_written_again(bench: Bench) -> None:
    file = bench.root / "a"
    file.write_text("same")
    before = file.stat()
    output = bench.call("write_to_file", path="a", content="same")
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert output.changes == (FileChange("a", digest(b"same"), digest(b"same")),)
    assert json.loads(output.parts[0].text)["operation"] == "unchanged"  # type: ignore[union-attr]  # this tool returns text


def test_a_huge_file_is_replaced_without_being_held(bench: Bench) -> None:
    file = bench.root / "huge"
    with file.open("wb") as out:
        out.truncate(WHOLE + 1)
    tracemalloc.start()
    try:
        output = bench.call("write_to_file", path="huge", content="small")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    before = hashlib.sha256(bytes(WHOLE + 1)).hexdigest()
    assert output.changes == (FileChange("huge", before, digest(b"small")),)
    assert peak < 4_000_000


def test_links_are_followed_and_kept(bench: Bench) -> None:
    (bench.root / "real").write_text("old")
    (bench.root / "link").symlink_to("real")
    (bench.root / "dangling").symlink_to("later")
    bench.text("write_to_file", path="link", content="new")
    bench.text("write_to_file", path="dangling", content="made")
    assert (os.readlink(bench.root / "link"), (bench.root / "real").read_text()) == ("real", "new")
    assert (os.readlink(bench.root / "dangling"), (bench.root / "later").read_text()) == ("later", "made")


@pytest.mark.parametrize(
    ("old", "content", "new", "note"),
    [
        (b"\xef\xbb\xbfa\n", "b\n", b"\xef\xbb\xbfb\n", "The encoding was kept: UTF-8 with BOM."),
        (b"\xef\xbb\xbfa\n", "\ufeffb\n", b"\xef\xbb\xbfb\n", "The encoding was kept: UTF-8 with BOM."),
        (b"\xff\xfea\0", "é", b"\xff\xfe\xe9\0", "The encoding was kept: UTF-16 LE."),
        (b"caf\xe9", "th\xe9", b"th\xe9", "The encoding was kept: Windows-1252."),
        (
            b"caf\xe9",
            "→",
            "→".encode(),
            "The encoding changed from Windows-1252, which cannot spell the new content, to UTF-8.",
        ),
        (b"a\r\nb\r\n", "a\nb\n", b"a\nb\n", "The line endings changed from CRLF to LF."),
        (b"\0binary", "text", b"text", ""),
    ],
)
def test_a_special_encoding_is_kept_where_it_can_be(bench: Bench, old: bytes, content: str, new: bytes, note: str) -> None:
    (bench.root / "a").write_bytes(old)
    told = json.loads(bench.text("write_to_file", path="a", content=content))
    assert (bench.root / "a").read_bytes() == new
    assert told["notice"] == f"{note} {NOTICE}".strip()


@pytest.mark.parametrize(
    ("path", "refusal"),
    [
        ("", "`path` must name a file, got ''."),
        ("new/", "`path` must name a file, got 'new/'."),
        ("folder", "Cannot write folder: it is a directory."),
        ("pipe", "Cannot write pipe: it is not a regular file."),
        ("file/below", "Cannot write file/below: file is not a folder."),
        ("protected", "Cannot write protected: it is write-protected (mode 444); nothing was written."),
        ("/proc/no/such", "Cannot write /proc/no/such"),
    ],
)
def test_what_cannot_be_written_is_said(bench: Bench, path: str, refusal: str) -> None:
    (bench.root / "folder").mkdir()
    (bench.root / "file").touch()
    (bench.root / "protected").touch(0o444)
    os.mkfifo(bench.root / "pipe")
    assert bench.refusal("write_to_file", path=path, content="x").startswith(refusal)


def test_half_a_surrogate_pair_is_refused(bench: Bench) -> None:
    tool = bench.tools["write_to_file"]
    output = bench.call("write_to_file", path="a", content="\ud83d")
    assert output.kind == "error"
    assert not (bench.root / "a").exists()
    assert tool.params.__struct_fields__ == ("path", "content")


def test_the_action_names_the_file_that_will_be_written(bench: Bench) -> None:
    (bench.root / "link").symlink_to("/elsewhere/file")
    assert bench.actions("write_to_file", path="link", content="") == (Action("write", ("/elsewhere/file",)),)
    assert bench.actions("write_to_file", path="a/../b", content="") == (Action("write", (str(bench.root / "b"),)),)
