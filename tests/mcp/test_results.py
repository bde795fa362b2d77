import base64
from pathlib import Path
from typing import Any

import pytest
from mcp_types import CallToolResult, ReadResourceResult

from ferrule.store.blobs import FileBlobs
from ferrule.tools.mcp.results import HEAD, LONGEST, contents_of, parts_of
from ferrule.types.messages import Image, Text

PIXEL = base64.b64encode(b"pixel").decode()


def result(*content: dict[str, Any], **more: Any) -> CallToolResult:
    return CallToolResult.model_validate({"content": list(content), **more})


@pytest.mark.parametrize(
    ("block", "part"),
    [
        ({"type": "text", "text": "a"}, Text("a")),
        ({"type": "image", "data": PIXEL, "mimeType": "image/png"}, Image("image/png", PIXEL)),
        ({"type": "image", "data": PIXEL, "mimeType": "image/tiff"}, Text("(image, image/tiff, 6 bytes, cannot be shown)")),
        ({"type": "image", "data": "%%", "mimeType": "image/png"}, Text("(image, image/png, whose data is no base64)")),
        ({"type": "audio", "data": PIXEL, "mimeType": "audio/wav"}, Text("(audio, audio/wav, 6 bytes, cannot be passed on)")),
        (
            {"type": "resource_link", "uri": "x://y", "name": "y", "description": "why"},
            Text("(resource x://y, type unknown: why)"),
        ),
        ({"type": "resource", "resource": {"uri": "x://y", "text": "z"}}, Text("(x://y)\nz")),
        (
            {"type": "resource", "resource": {"uri": "x://y", "blob": PIXEL, "mimeType": "application/zip"}},
            Text("(x://y, application/zip, 6 bytes, cannot be shown)"),
        ),
    ],
)
def test_each_kind_of_content_is_passed_on_or_named(tmp_path: Path, block: dict[str, Any], part: Text | Image) -> None:
    assert parts_of(result(block), FileBlobs(tmp_path)) == (part,)


def test_text_comes_first_as_one_part_and_images_after_it(tmp_path: Path) -> None:
    image = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
    given = result({"type": "text", "text": "a"}, image, {"type": "text", "text": "b"})
    assert parts_of(given, FileBlobs(tmp_path)) == (Text("a\nb"), Image("image/png", PIXEL))


def test_structured_content_is_said_where_there_is_nothing_else(tmp_path: Path) -> None:
    assert parts_of(result(structuredContent={"a": 1}), FileBlobs(tmp_path)) == (Text('{\n  "a": 1\n}'),)
    both = result({"type": "text", "text": "one"}, structuredContent={"a": 1})
    assert parts_of(both, FileBlobs(tmp_path)) == (Text("one"),)


def test_an_image_in_a_resource_is_an_image(tmp_path: Path) -> None:
    read = ReadResourceResult.model_validate({"contents": [{"uri": "x://y", "blob": PIXEL, "mimeType": "image/png"}]})
    assert contents_of(read.contents, FileBlobs(tmp_path)) == (Text("(x://y)"), Image("image/png", PIXEL))


@pytest.mark.parametrize("size", [LONGEST, LONGEST + 1])
def test_text_is_cut_only_past_the_limit_and_kept_whole(tmp_path: Path, size: int) -> None:
    blobs = FileBlobs(tmp_path)
    text = "".join(chr(0x61 + at % 25) for at in range(size))
    (part,) = parts_of(result({"type": "text", "text": text}), blobs)
    assert isinstance(part, Text)
    if size == LONGEST:
        assert part.text == text
        return
    digest = part.text.split('result="')[1].split('"')[0]
    assert blobs.read(digest) == text.encode()
    assert part.text.startswith(text[:HEAD] + "\n[… 1 of 50,001 characters left out; read_mcp_result(")
    assert part.text.endswith(text[HEAD - LONGEST :])


def test_half_a_surrogate_does_no_harm(tmp_path: Path) -> None:
    assert parts_of(result({"type": "text", "text": "a\ud800b"}), FileBlobs(tmp_path)) == (Text("a?b"),)
