"""The cells of a Jupyter notebook with what they printed."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

OUTPUT = 100
"""Lines shown of the output of one cell."""


def extract(path: Path, number: int = 0) -> tuple[str, bytes]:
    import nbformat

    book = nbformat.read(str(path), as_version=4)  # type: ignore[no-untyped-call]  # the package has no types
    lines = [line for index, cell in enumerate(book.cells, 1) for line in _cell(index, cell)]
    language = book.metadata.get("kernelspec", {}).get("language") or book.metadata.get("language_info", {}).get("name") or "?"
    count = len(book.cells)
    facts = f"{count} cell{'' if count == 1 else 's'}, language {language}"
    return facts, ("\n".join(lines) + "\n").encode("utf-8", "backslashreplace")


def _cell(index: int, cell: Mapping[str, Any]) -> Iterator[str]:
    ran = cell.get("execution_count")
    yield f"# Cell {index}: {cell['cell_type']}" + (f" [{ran}]" if ran is not None else "")
    yield from cell["source"].split("\n")
    printed = [line for output in cell.get("outputs", ()) for line in _output(output)]
    if printed:
        yield f"# Output of cell {index}"
        yield from printed[:OUTPUT]
        if len(printed) > OUTPUT:
            yield f"({OUTPUT} of {len(printed)} lines of output are shown.)"


def _output(output: Mapping[str, Any]) -> list[str]:
    match output["output_type"]:
        case "stream":
            return _lines(output["text"])
        case "error":
            return [f"{output['ename']}: {output['evalue']}"]
    data: Mapping[str, Any] = output.get("data", {})
    pictures = [f"({media} is left out)" for media in data if media.startswith("image/")]
    return [*_lines(data.get("text/plain", "")), *pictures]


def _lines(text: str | list[str]) -> list[str]:
    whole = text if isinstance(text, str) else "".join(text)
    return whole.removesuffix("\n").split("\n") if whole else []
