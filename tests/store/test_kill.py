import random
import time
from pathlib import Path

from ferrule.store.sessions import Sessions

from .processes import writer
from .use import close, records

KILLS = 24


def test_whatever_was_acknowledged_survives_kill_9_and_the_lease_is_free_at_once(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    journal = sessions.create("/project", "code")
    id = journal.session
    close(journal)
    dice = random.Random(7)
    acknowledged = 1
    for _ in range(KILLS):
        with writer() as doomed:
            assert doomed.ask("open", tmp_path, id) == f"opened {id}"
            doomed.send("loop", dice.choice((10, 3_000, 60_000)))
            first = doomed.stdout.readline()
            time.sleep(dice.random() * 0.03)
            doomed.kill()
            told = [int(line) for line in (first, *doomed.stdout) if line.endswith("\n")]
        assert told == list(range(acknowledged + 1, acknowledged + 1 + len(told)))
        reader = sessions.reader(id)
        assert reader.verify() is None
        seqs = [record.seq for record in records(reader, acknowledged)]
        assert seqs[: len(told)] == told
        assert len(seqs) <= len(told) + 1
        acknowledged += len(seqs)
        close(sessions.open(id))


def test_reading_never_takes_the_lease_and_sees_a_growing_valid_prefix_while_somebody_writes(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    with writer() as busy:
        id = busy.ask("create", tmp_path, "/project").removeprefix("opened ")
        busy.send("loop", 2_000)
        reader = sessions.reader(id)
        seen = 0
        lengths = set()
        deadline = time.monotonic() + 30
        while seen < 1_500 and time.monotonic() < deadline:
            found = [record.seq for record in records(reader)]
            assert found == list(range(1, len(found) + 1))
            assert len(found) >= seen
            assert reader.verify() is None
            seen = len(found)
            lengths.add(seen)
            assert busy.process.poll() is None
        assert seen >= 1_500
        assert len(lengths) > 3
