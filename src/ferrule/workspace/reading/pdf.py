"""The text of a PDF, page by page."""

from pathlib import Path

from .child import Unshowable
from .documents import TEXT

NAMED = 20
"""Pages without text that are named."""


def extract(path: Path, number: int = 0) -> tuple[str, bytes]:
    from pypdf import PdfReader

    reader = PdfReader(path)
    if reader.is_encrypted and not reader.decrypt(""):
        raise Unshowable("it is protected by a password")
    pieces: list[str] = []
    empty: list[int] = []
    size = 0
    count = len(reader.pages)
    for page, content in enumerate(reader.pages, 1):
        text = content.extract_text().replace("\r\n", "\n").replace("\r", "\n").strip("\n")
        pieces += [f"# Page {page}", *([text] if text else [])]
        if not text.strip():
            empty.append(page)
        size += len(text)
        if size > TEXT:
            break
    facts = f"{count} page{'' if count == 1 else 's'}"
    if empty:
        named = ", ".join(map(str, empty[:NAMED])) + (", …" if len(empty) > NAMED else "")
        facts += f"; without text, perhaps scanned: page {named}"
    return facts, ("\n".join(pieces) + "\n").encode("utf-8", "backslashreplace")
