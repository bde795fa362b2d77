import os
import threading
from pathlib import Path

import pytest

from ferrule.store.lease import take_lease
from ferrule.types.errors import LeaseHeld, StoreError

ROUNDS = 300


def test_two_never_hold_a_lease_though_its_file_is_removed_again_and_again(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    holders: set[int] = set()
    together: list[set[int]] = []

    def work(number: int) -> None:
        done = 0
        while done < ROUNDS:
            try:
                lease = take_lease(path)
            except StoreError:
                continue
            holders.add(number)
            if len(holders) > 1:
                together.append(set(holders))
            done += 1
            holders.discard(number)
            path.unlink()
            lease.release()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == []


def test_released_lease_is_free_and_release_may_be_repeated(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    lease = take_lease(path)
    with pytest.raises(LeaseHeld, match=f"process {os.getpid()}"):
        take_lease(path)
    lease.release()
    lease.release()
    take_lease(path).release()


def test_lease_is_not_inherited_by_programs_that_are_started(tmp_path: Path) -> None:
    import subprocess

    path = tmp_path / "x.lock"
    lease = take_lease(path)
    with subprocess.Popen(["sleep", "30"], close_fds=False) as child:
        lease.release()
        take_lease(path).release()
        child.kill()


def test_lock_file_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be used"):
        take_lease(tmp_path / "missing" / "x.lock")
