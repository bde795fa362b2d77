"""What a server answers, as the parts of a tool's result: bounded, images passed on, everything else named."""

import base64
import binascii
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

from ferrule.store.protocol import Blobs
from ferrule.types.errors import StoreError
from ferrule.types.messages import Image, Text

if TYPE_CHECKING:
    import mcp_types

LONGEST = 50_000
"""Characters of text in one result; the rest is kept and can be read by pages."""
HEAD = 30_000
LARGEST_IMAGE = 20_000_000
"""Characters of base64; what a model takes is for the filters of its requests."""
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")

Parts = tuple[Text | Image, ...]


def parts_of(result: "mcp_types.CallToolResult", blobs: Blobs) -> Parts:
    """Structured content is said only where there is no other: servers repeat it as text."""
    parts = [part for block in result.content for part in _block(block)]
    if not parts and result.structured_content is not None:
        parts = [Text(msgspec.json.format(msgspec.json.encode(result.structured_content)).decode())]
    return bounded(parts, blobs)


def contents_of(contents: "Sequence[mcp_types.TextResourceContents | mcp_types.BlobResourceContents]", blobs: Blobs) -> Parts:
    return bounded([part for each in contents for part in _contents(each)], blobs)


def bounded(parts: Iterable[Text | Image], blobs: Blobs) -> Parts:
    """All text as one part, cut in its middle where it is long, then the images."""
    every = tuple(parts)
    text = "\n".join(part.text for part in every if isinstance(part, Text))
    images = tuple(part for part in every if isinstance(part, Image))
    return (*([Text(_cut(text, blobs))] if text or not images else []), *images)


def _cut(text: str, blobs: Blobs) -> str:
    """Surrogates, which JSON can spell and UTF-8 cannot, are replaced."""
    data = text.encode(errors="replace")
    text = data.decode()
    if len(text) <= LONGEST:
        return text
    try:
        writer = blobs.writer()
        writer.write(data)
        rest = f'read_mcp_result(result="{writer.finish()}") gives all of it by pages'
    except StoreError as problem:
        rest = f"it could not be kept: {problem}"
    left = len(text) - LONGEST
    return f"{text[:HEAD]}\n[… {left:,} of {len(text):,} characters left out; {rest} …]\n{text[HEAD - LONGEST :]}"


def _block(block: "mcp_types.ContentBlock") -> Iterable[Text | Image]:
    match block.type:
        case "text":
            yield Text(block.text)
        case "image":
            yield _image(block.data, block.mime_type)
        case "audio":
            yield Text(f"(audio, {block.mime_type}, {len(block.data) * 3 // 4:,} bytes, cannot be passed on)")
        case "resource":
            yield from _contents(block.resource)
        case "resource_link":
            about = f": {block.description}" if block.description else ""
            yield Text(f"(resource {block.uri}, {block.mime_type or 'type unknown'}{about})")


def _contents(contents: "mcp_types.TextResourceContents | mcp_types.BlobResourceContents") -> Iterable[Text | Image]:
    kind = contents.mime_type or "application/octet-stream"
    if (text := getattr(contents, "text", None)) is not None:
        yield Text(f"({contents.uri})\n{text}")
    elif kind in PICTURES:
        yield Text(f"({contents.uri})")
        yield _image(getattr(contents, "blob", ""), kind)
    else:
        yield Text(f"({contents.uri}, {kind}, {len(getattr(contents, 'blob', '')) * 3 // 4:,} bytes, cannot be shown)")


def _image(data: str, kind: str) -> Text | Image:
    if kind not in PICTURES or len(data) > LARGEST_IMAGE:
        return Text(f"(image, {kind}, {len(data) * 3 // 4:,} bytes, cannot be shown)")
    try:
        return Image(kind, base64.b64encode(base64.b64decode(data, validate=True)).decode())
    except binascii.Error:
        return Text(f"(image, {kind}, whose data is no base64)")


def text_of_prompt(result: "mcp_types.GetPromptResult") -> str:
    """Its text alone; images are named."""
    parts = [part for message in result.messages for part in _block(message.content)]
    return "\n".join(part.text if isinstance(part, Text) else f"(image, {part.media_type})" for part in parts)


def parts_of_prompt(result: "mcp_types.GetPromptResult", blobs: Blobs) -> Parts:
    parts: list[Text | Image] = []
    for message in result.messages:
        parts.append(Text(f"[{message.role}]"))
        parts += _block(message.content)
    return bounded(parts, blobs)
