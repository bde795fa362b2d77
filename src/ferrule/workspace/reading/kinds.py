"""Which files are shown as something else than the text they hold, by their first bytes."""

from pathlib import Path
from typing import Literal

Kind = Literal["pdf", "docx", "xlsx", "ipynb", "image"]

SNIFFED = 1_024
NAMES: dict[Kind, str] = {"pdf": "PDF", "docx": "Word", "xlsx": "Excel", "ipynb": "Jupyter notebook", "image": "image"}

_PICTURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"II*\0", b"MM\0*")
_NAMED_PICTURES = {b"BM": ".bmp", b"\0\0\1\0": ".ico"}
"""Signatures so short that the name has to agree."""


def kind_of(path: Path, head: bytes) -> Kind | None:
    """None for text and for what nothing here can show. `head` holds SNIFFED bytes where the file is that long."""
    suffix = path.suffix.lower()
    if head.startswith(_PICTURES) or (head[:4] == b"RIFF" and head[8:12] == b"WEBP") or head[4:12] in (b"ftypavif", b"ftypavis"):
        return "image"
    if any(head.startswith(mark) and suffix == name for mark, name in _NAMED_PICTURES.items()):
        return "image"
    if b"%PDF-" in head and (head.startswith(b"%PDF-") or suffix == ".pdf"):
        return "pdf"
    if head.startswith(b"PK\3\4") and suffix in (".docx", ".docm"):
        return "docx"
    if head.startswith(b"PK\3\4") and suffix in (".xlsx", ".xlsm"):
        return "xlsx"
    return "ipynb" if suffix == ".ipynb" and head.lstrip()[:1] == b"{" else None
