import os
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from ferrule.store.lease import FileLease, Former, seize_lease, take_lease
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


def test_lease_that_a_dead_process_left_is_free_whoever_has_its_number_since(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    path.write_text(f"{os.getppid()}\n")
    take_lease(path).release()


@pytest.mark.parametrize("content", [b"", b"\0" * 40, b"no number", b"99999999999999999999\n", b"1\nelsewhere\n1\n", b"\xff\xfe"])
def test_lock_file_with_any_content_is_free_where_nobody_holds_it(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.lock"
    path.write_bytes(content)
    take_lease(path).release()
    seize_lease(path).release()


def test_seized_lease_is_named_and_the_one_before_is_not(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    first = take_lease(path)
    former = Former(path)
    second = seize_lease(path)
    assert (first.named, second.named, former.gone()) == (False, True, False)
    with pytest.raises(LeaseHeld):
        take_lease(path)
    first.release()
    assert former.gone()
    former.close()
    second.release()


def test_of_many_that_seize_a_lease_at_once_exactly_one_is_named_in_the_end(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    take_lease(path)
    begin = threading.Barrier(8)
    leases: list[FileLease] = []

    def work() -> None:
        begin.wait()
        for _ in range(20):
            with suppress(StoreError):
                leases.append(seize_lease(path))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(leases) > 1
    assert sum(lease.named for lease in leases) == 1
    for lease in leases:
        lease.release()
