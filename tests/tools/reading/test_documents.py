import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook

from ferrule.process.protocol import Command, Ended
from ferrule.process.supervisor import Supervisor
from tests.tools.bench import Bench

from . import documents


def test_a_pdf_comes_page_by_page_with_one_number_a_line(bench: Bench) -> None:
    documents.pdf(bench.root / "a.pdf", ["Hello\nthere", "", "Third page"])
    assert bench.text("read_file", path="a.pdf") == (
        "File: a.pdf\nDocument: PDF, 3 pages; without text, perhaps scanned: page 2\n"
        "1 | # Page 1\n2 | Hello\n3 | there\n4 | # Page 2\n5 | # Page 3\n6 | Third page"
    )


def test_a_word_document_keeps_its_order(bench: Bench) -> None:
    documents.docx(bench.root / "a.docx")
    assert bench.text("read_file", path="a.docx").split("\n")[2:] == [
        "1 | # Plan",
        "2 | First, é and €.",
        "3 | - one",
        "4 | | a | b |",
        "5 | | 1 | two ⏎ lines |",
        "6 | ## End",
        "7 | [Header] Draft",
    ]


def test_a_workbook_shows_values_and_formulas_and_names_hidden_sheets(bench: Bench) -> None:
    documents.xlsx(bench.root / "a.xlsx")
    assert bench.text("read_file", path="a.xlsx") == (
        "File: a.xlsx\nDocument: Excel, 3 sheets; hidden, left out: Secret\n"
        "1 | # Sheet: Sums\n2 | 1\tname\tn\t\twhen\n3 | 2\ta ⏎ b\t1.5\tTRUE\t2026-01-02 03:04:00\n4 | 4\tsum\t=B2+1\n"
        "5 | # Sheet: Other"
    )


def test_a_notebook_shows_its_cells_and_what_they_printed(bench: Bench) -> None:
    documents.notebook(bench.root / "a.ipynb")
    assert bench.text("read_file", path="a.ipynb") == (
        "File: a.ipynb\nDocument: Jupyter notebook, 2 cells, language python\n"
        " 1 | # Cell 1: markdown\n 2 | # Title\n 3 | text\n 4 | # Cell 2: code [3]\n 5 | print(1)\n 6 | 1 / 0\n"
        " 7 | # Output of cell 2\n 8 | 1\n 9 | <Figure>\n10 | (image/png is left out)\n11 | ZeroDivisionError: division by zero"
    )


def test_documents_are_paged_like_text(bench: Bench) -> None:
    documents.xlsx(bench.root / "a.xlsx", rows=3_000)
    first = bench.text("read_file", path="a.xlsx").split("\n")
    assert first[2] == "Lines 1-2000, of 3005. Go on with offset=2001 and limit=2000."
    assert len(first) == 2_003
    assert bench.text("read_file", path="a.xlsx", offset=3_004).split("\n")[2:] == ["3004 | 2999\t2998", "3005 | 3000\t2999"]
    assert bench.refusal("read_file", path="a.xlsx", offset=3_006) == "`offset` 3006 is past the end: a.xlsx has 3005 lines."


def test_a_long_line_of_a_document_is_cut_and_read_on(bench: Bench) -> None:
    book = Workbook()
    book.worksheets[0]["A1"] = "".join(f"{n:05d}" for n in range(5_000))
    book.save(str(bench.root / "a.xlsx"))
    assert "Cut at 2000 characters: line 2. Read on in a line with offset=LINE and column=2001." in bench.text(
        "read_file", path="a.xlsx"
    )
    text = bench.text("read_file", path="a.xlsx", offset=2, column=2_003)
    assert text.startswith("File: a.xlsx\nDocument: Excel, 1 sheet\nLine 2, characters 2003-22002. Go on with offset=2 and ")
    assert text.split("\n")[3].startswith("2 | 0040000401")
    assert bench.text("read_file", path="a.xlsx", offset=2, column=22_003).split("\n")[2] == (
        "Line 2, characters 22003-25002. The line ends here; go on with offset=3."
    )


def test_a_document_is_extracted_once_and_again_when_it_changes(bench: Bench) -> None:
    documents.pdf(bench.root / "a.pdf", ["one"])
    started: list[Command] = []

    class Counting(Supervisor):
        async def run(self, command: Command, on_output: Callable[[bytes], None]) -> Ended:
            started.append(command)
            return await super().run(command, on_output)

    bench.processes = Counting
    for _ in range(3):
        assert "| one" in bench.text("read_file", path="a.pdf")
    assert len(started) == 1
    documents.pdf(bench.root / "a.pdf", ["another"])
    assert "| another" in bench.text("read_file", path="a.pdf")
    assert len(started) == 2


@pytest.mark.parametrize(
    ("name", "data", "refusal"),
    [
        ("a.pdf", b"%PDF-1.7\nnothing else", "Cannot read a.pdf: it is malformed ("),
        ("a.docx", b"PK\3\4 no archive", "Cannot read a.docx: it is malformed ("),
        ("a.xlsx", b"PK\3\4 no archive", "Cannot read a.xlsx: it is malformed ("),
        ("a.ipynb", b'{"cells": 3}', "Cannot read a.ipynb: it is malformed ("),
        ("a.zip", b"PK\3\4\0\0", "Cannot read a.zip: it is a binary file (it holds NUL bytes)."),
    ],
)
def test_a_malformed_document_is_refused(bench: Bench, name: str, data: bytes, refusal: str) -> None:
    (bench.root / name).write_bytes(data)
    assert bench.refusal("read_file", path=name).startswith(refusal)


def test_a_protected_pdf_is_refused_with_the_reason(bench: Bench) -> None:
    documents.pdf(bench.root / "a.pdf", ["secret"], password="x")
    assert bench.refusal("read_file", path="a.pdf") == "Cannot read a.pdf: it is protected by a password."


def test_a_document_has_no_blocks(bench: Bench) -> None:
    documents.pdf(bench.root / "a.pdf", ["x"])
    assert bench.refusal("read_file", path="a.pdf", anchor_line=1) == (
        "a.pdf is a document, which has no blocks; read it by `offset` and `limit`."
    )


def test_text_that_is_named_like_a_document_is_text(bench: Bench) -> None:
    (bench.root / "a.pdf").write_text("no PDF\n")
    (bench.root / "a.ipynb").write_text("[1]\n")
    assert bench.text("read_file", path="a.pdf") == "File: a.pdf\n1 | no PDF"
    assert bench.text("read_file", path="a.ipynb") == "File: a.ipynb\n1 | [1]"


def told(task: str, path: Path, before: str = "") -> Any:
    """What the child that reads documents says, after some Python of ours."""
    program = f"{before}; from ferrule.workspace.reading.child import child; child()"
    ran = subprocess.run([sys.executable, "-I", "-c", program, task, str(path), "0"], capture_output=True, check=True, timeout=50)
    return json.loads(ran.stdout.split(b"\n")[0])


def test_a_document_that_unpacks_to_more_than_fits_is_refused_in_bounded_memory(tmp_path: Path) -> None:
    documents.docx(tmp_path / "a.docx")
    bomb = tmp_path / "bomb.docx"
    with zipfile.ZipFile(tmp_path / "a.docx") as source, zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as made:
        for name in source.namelist():
            if name != "word/document.xml":
                made.writestr(name, source.read(name))
        with made.open("word/document.xml", "w") as out:
            for _ in range(400):
                out.write(b" " * 1_000_000)
    assert bomb.stat().st_size < 1_000_000
    limited = "import resource; resource.setrlimit(resource.RLIMIT_AS, (500_000_000, 500_000_000))"
    assert told("docx", bomb, limited) == {"facts": "", "error": "it takes too much memory"}
    assert told("docx", tmp_path / "a.docx", limited)["error"] == ""


@pytest.mark.parametrize(("name", "package"), [("a.pdf", "pypdf"), ("a.docx", "docx"), ("a.xlsx", "openpyxl")])
def test_a_missing_extra_is_named(tmp_path: Path, name: str, package: str) -> None:
    {"pypdf": lambda path: documents.pdf(path, ["x"]), "docx": documents.docx, "openpyxl": documents.xlsx}[package](
        tmp_path / name
    )
    said = told(name.removeprefix("a."), tmp_path / name, f"import sys; sys.modules[{package!r}] = None")
    assert said["error"] == f"it takes the Python package {package}; install ferrule with the extra `docs`"
