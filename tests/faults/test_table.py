from collections import Counter

from tests.e2e.wire import DIALECTS

from .document import PAGE, page
from .table import CELLS, FAULTS


def test_the_page_says_what_is_tested() -> None:
    assert PAGE.read_text() == page()


def test_every_fault_of_the_comparison_is_played_in_every_dialect_or_has_a_reason() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) == 34
    reasons = [(fault.name, dialect) for fault in FAULTS for dialect in fault.without]
    assert Counter(CELLS + reasons) == Counter((fault.name, dialect) for fault in FAULTS for dialect in DIALECTS)
