"""Real documents, made by libraries other than those that read them where there is one."""

import io
import json
from datetime import datetime
from pathlib import Path


def pdf(path: Path, pages: list[str], password: str = "") -> None:
    from fpdf import FPDF

    made = FPDF()
    for text in pages:
        made.add_page()
        made.set_font("helvetica", size=12)
        made.multi_cell(0, 6, text)
    if password:
        made.set_encryption(owner_password=password, user_password=password)
    made.output(str(path))


def docx(path: Path) -> None:
    import docx

    made = docx.Document()
    made.add_heading("Plan", 1)
    made.add_paragraph("First, é and €.")
    made.add_paragraph("one", style="List Bullet")
    table = made.add_table(2, 2)
    for row, cells in zip(table.rows, (("a", "b"), ("1", "two\nlines")), strict=True):
        for cell, text in zip(row.cells, cells, strict=True):
            cell.text = text
    made.add_heading("End", 2)
    made.sections[0].header.paragraphs[0].text = "Draft"
    made.save(str(path))


def xlsx(path: Path, rows: int = 0) -> None:
    from openpyxl import Workbook

    made = Workbook()
    sheet = made.active
    assert sheet is not None
    sheet.title = "Sums"
    sheet.append(["name", "n", None, "when"])
    sheet.append(["a\nb", 1.5, True, datetime(2026, 1, 2, 3, 4)])
    sheet.append([])
    sheet.append(["sum", "=B2+1"])
    hidden = made.create_sheet("Secret")
    hidden.sheet_state = "hidden"
    hidden["A1"] = "not shown"
    other = made.create_sheet("Other")
    for number in range(rows):
        other.append([number])
    made.save(str(path))


def notebook(path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Title\n", "text"]},
        {
            "cell_type": "code",
            "metadata": {},
            "execution_count": 3,
            "source": "print(1)\n1 / 0",
            "outputs": [
                {"output_type": "stream", "name": "stdout", "text": ["1\n"]},
                {"output_type": "display_data", "metadata": {}, "data": {"image/png": "aGk=", "text/plain": "<Figure>"}},
                {"output_type": "error", "ename": "ZeroDivisionError", "evalue": "division by zero", "traceback": ["…"]},
            ],
        },
    ]
    metadata = {"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}}
    path.write_text(json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 4}))


def image(format: str, size: tuple[int, int], mode: str = "RGB", noise: bool = False, **options: object) -> bytes:
    import random

    from PIL import Image

    made = Image.new(mode, size, 128 if mode == "L" else (200, 30, 30, 128)[: len(mode)])
    if noise:
        made = Image.frombytes(mode, size, random.Random(1).randbytes(size[0] * size[1] * len(mode)))
    out = io.BytesIO()
    made.save(out, format, **options)  # type: ignore[arg-type]  # options of several formats
    return out.getvalue()
