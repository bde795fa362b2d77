"""What the checkers say about changes that nobody complained of: how much of it is noise.

    python -m bench.noise REPOSITORY[=NAME][@LAST] …

runs every checker on every commit of each repository (`=NAME`: as it is called in the tables; `@LAST`: up to that commit) and
writes `docs/review-noise.tsv`, one row a finding, and `docs/review-noise-lines.tsv`, one row a repository with how much was
checked. Verdicts that were already given are kept, and so is what the tables say of other repositories. It exits with 1 while a
row has no verdict or when more than one finding a 1,000 changed lines of a repository was dismissed. For releases of a package:
unpack each and commit it on the one before, as `release VERSION`.
"""

import asyncio
import csv
import os
import subprocess
import sys
from pathlib import Path

from ferrule.process.protocol import allowed_environment
from ferrule.process.supervisor import Supervisor
from ferrule.workspace.checkers.base import Report
from ferrule.workspace.checkers.catalog import checkers
from ferrule.workspace.checkers.run import run_all
from ferrule.workspace.checkers.subject import subject
from ferrule.workspace.git.changes import commit
from ferrule.workspace.git.repository import Git

TABLE = Path(__file__).parents[1] / "docs" / "review-noise.tsv"
LINES = TABLE.with_name("review-noise-lines.tsv")
LINES_HEADER = ("repository", "last", "changes", "lines")
HEADER = ("source", "checker", "rule", "place", "verdict", "reason", "text")
MOST_DISMISSED = 1.0
"""A 1,000 changed lines."""

Key = tuple[str, str, str, str]


def commits(folder: Path, last: str) -> list[str]:
    """Up to `last`, oldest first; the first one, where all is new, is left out."""
    argv = ["git", "log", "--reverse", "--format=%H %s", last]
    return subprocess.run(argv, cwd=folder, check=True, capture_output=True, text=True).stdout.splitlines()[1:]


async def reports(folder: Path, chosen: list[str]) -> list[tuple[str, Report]]:
    """The name and report of each commit, given as its id, a space and its title."""
    environment = allowed_environment(os.environ)
    processes = Supervisor()
    done: list[tuple[str, Report]] = []
    try:
        for line in chosen:
            id, _, title = line.partition(" ")
            git = Git(processes, folder, environment)
            try:
                seen = await subject(git, await commit(git, id))
                report = await run_all(seen.files, checkers(), processes, environment, seen.base_file, seen.exists)
            finally:
                git.close()
            failed = [f"{run.checker} {run.state}: {run.detail}" for run in report.coverage.runs if run.state != "ran"]
            print(f"{id[:10]} {len(report.findings):4} {report.coverage.lines:6} {title[:60]} {'; '.join(failed)}")
            done.append((title if title.startswith("release ") else id[:10], report))
    finally:
        await processes.close()
    return done


def rows(name: str, done: list[tuple[str, Report]], verdicts: dict[Key, tuple[str, str]]) -> list[list[str]]:
    found: list[list[str]] = []
    for title, report in done:
        for finding in report.findings:
            source = f"{name} {title.removeprefix('release ')}"
            place = f"{finding.path}:{finding.line or ''}"
            verdict, reason = verdicts.get((source, finding.checker, finding.rule, place), ("", ""))
            found.append([source, finding.checker, finding.rule, place, verdict, reason, " ".join(finding.text.split())])
    return found


def main(arguments: list[str]) -> int:
    before = read(TABLE)
    verdicts = {(row[0], row[1], row[2], row[3]): (row[4], row[5]) for row in before}
    found = {name: [row for row in before if _name(row) == name] for name in dict.fromkeys(map(_name, before))}
    checked = {row[0]: row for row in read(LINES)}
    for argument in arguments:
        place, _, last = argument.partition("@")
        path, _, name = place.partition("=")
        folder = Path(path).resolve()
        name = name or folder.name
        chosen = commits(folder, last or "HEAD")
        done = asyncio.run(reports(folder, chosen))
        title = chosen[-1].partition(" ")[2]
        end = title.removeprefix("release ") if title.startswith("release ") else chosen[-1][:10]
        checked[name] = [name, end, str(len(done)), str(sum(report.coverage.lines for _, report in done))]
        found[name] = rows(name, done, verdicts)
    write(TABLE, HEADER, [row for each in found.values() for row in each])
    write(LINES, LINES_HEADER, list(checked.values()))
    open_ones = sum(row[4] == "" for each in found.values() for row in each)
    rates = {name: _rate(found.get(name, []), int(row[3])) for name, row in checked.items()}
    for name, row in checked.items():
        print(f"{name} to {row[1]}: {row[2]} changes, {row[3]} changed lines, {rates[name]:.2f} dismissed a 1,000 lines")
    print(f"{open_ones} findings without a verdict")
    return 1 if open_ones or max(rates.values()) > MOST_DISMISSED else 0


def read(table: Path) -> list[list[str]]:
    """The rows below the heading, none where there is no table."""
    if not table.exists():
        return []
    with table.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file, delimiter="\t"))[1:]


def write(table: Path, header: tuple[str, ...], rows: list[list[str]]) -> None:
    with table.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter="\t", lineterminator="\n").writerows([header, *rows])


def _name(row: list[str]) -> str:
    """Of the repository in which a finding was made."""
    return row[0].partition(" ")[0]


def _rate(found: list[list[str]], lines: int) -> float:
    return 1000 * sum(row[4] == "dismissed" for row in found) / max(1, lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
