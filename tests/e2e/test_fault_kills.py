import random
import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from .storm import DIALECTS, POINTS, Storm, Tally

WORKERS = 2


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_faulty_run_killed_again_and_again_does_its_work_once(tmp_path: Path, dialect: str) -> None:
    tally = Tally()
    Storm(tmp_path, dialect, random.Random(f"short {dialect}"), tally, least=1).rage()
    assert tally.kills > 0


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_500_random_kills_and_30_in_every_state_of_a_faulty_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    began, tally, numbers, lock = time.monotonic(), Tally(), iter(range(1000)), threading.Lock()

    def work() -> None:
        while tally.chance.total() < 500 or any(tally.total(state) < 30 for state in POINTS):
            with lock:
                number = next(numbers)
            base = tmp_path / str(number)
            Storm(base, DIALECTS[number % len(DIALECTS)], random.Random(number), tally, least=30).rage()
            shutil.rmtree(base)

    with ThreadPoolExecutor(WORKERS) as pool:
        for done in [pool.submit(work) for _ in range(WORKERS)]:
            done.result()
    with capsys.disabled():
        print(f"\n{tally.report()}\n{time.monotonic() - began:.0f} s", end="")
    assert tally.chance.total() >= 500
    assert all(tally.total(state) >= 30 for state in POINTS)
