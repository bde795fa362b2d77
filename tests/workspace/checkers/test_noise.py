"""What the tables of noise say: how much of what the checkers tell about good changes was dismissed."""

from collections import Counter

import pytest

from bench.noise import HEADER, LINES, LINES_HEADER, MOST_DISMISSED, TABLE, read

FOUND = read(TABLE)
CHECKED = {row[0]: int(row[3]) for row in read(LINES)}
OWN = "ferrule"


def test_every_finding_has_a_verdict_and_a_reason() -> None:
    assert [row for row in FOUND if len(row) != len(HEADER) or row[4] not in ("true", "dismissed") or not row[5].strip()] == []
    assert [row for row in read(LINES) if len(row) != len(LINES_HEADER)] == []
    assert max(Counter((*row[:4], row[6]) for row in FOUND).values()) == 1


def test_this_repository_and_three_public_packages_were_tried() -> None:
    names = {row[0].partition(" ")[0] for row in FOUND}
    assert names <= CHECKED.keys()
    assert OWN in CHECKED
    assert len(CHECKED.keys() - {OWN}) >= 3


@pytest.mark.parametrize("name", CHECKED)
def test_at_most_one_finding_a_thousand_changed_lines_was_dismissed(name: str) -> None:
    dismissed = sum(row[4] == "dismissed" for row in FOUND if row[0].partition(" ")[0] == name)
    assert 1000 * dismissed <= MOST_DISMISSED * CHECKED[name], f"{dismissed} in {CHECKED[name]} lines"
