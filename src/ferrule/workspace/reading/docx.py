"""The text of a Word document: headings, paragraphs, lists and tables in their order, then what stands beside the text."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from docx.document import Document
    from docx.table import Table
    from docx.text.paragraph import Paragraph


def extract(path: Path, number: int = 0) -> tuple[str, bytes]:
    import docx

    document = docx.Document(str(path))
    lines = [line for block in document.iter_inner_content() for line in _block(block)]
    beside = list(_beside(document))
    facts = f"{len(document.paragraphs)} paragraphs, {len(document.tables)} tables; text boxes and footnotes are left out"
    return facts, ("\n".join([*lines, *beside]) + "\n").encode("utf-8", "backslashreplace")


def _block(block: "Paragraph | Table") -> Iterator[str]:
    from docx.table import Table

    if isinstance(block, Table):
        for row in block.rows:
            yield "| " + " | ".join(_inline(cell.text) for cell in row.cells) + " |"
        return
    style = (block.style.name if block.style is not None else None) or ""
    heading = re.match(r"Heading ([1-9])", style)
    mark = "#" * int(heading[1]) + " " if heading else "# " if style == "Title" else "- " if style.startswith("List") else ""
    yield from (mark + block.text).split("\n")


def _beside(document: "Document") -> Iterator[str]:
    """Headers and footers, each text once, and comments."""
    said: dict[str, None] = {}
    for section in document.sections:
        for what, part in (("Header", section.header), ("Footer", section.footer)):
            text = _inline("\n".join(paragraph.text for paragraph in part.paragraphs if paragraph.text))
            if text:
                said[f"[{what}] {text}"] = None
    yield from said
    for comment in document.comments:
        yield f"[Comment by {comment.author}] {_inline(comment.text)}"


def _inline(text: str) -> str:
    return " ⏎ ".join(text.split("\n"))
