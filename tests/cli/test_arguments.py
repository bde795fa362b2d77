import re
from pathlib import Path

import pytest

from ferrule.front.cli.arguments import Given, Invocation, understand
from ferrule.front.cli.flags import BY_NAME, COMMANDS
from ferrule.front.cli.help import HELP
from ferrule.types.errors import UsageError
from ferrule.types.outcome import EXIT_CODES

HERE = Path.cwd()


def test_every_flag_of_a_run_is_understood(tmp_path: Path) -> None:
    words = (
        f"-p|do it|--model|openai/x|--resume|01A|-C|{tmp_path}|--add-dir|/|--add-dir=/usr"
        "|--approve|edits|--allow|read|--allow=write"
        "|--deny|network|--verify|make test|--max-turns|4|--max-tokens|5|--max-cost|0.5|--max-time|10m"
        "|--output-format|json|--effort|low|--append-system-prompt|be brief"
    )
    assert understand(words.split("|")) == Invocation(
        command="run",
        headless=True,
        prompt="do it",
        resume="01A",
        folder=tmp_path,
        extra=(Path("/"), Path("/usr")),
        append_system_prompt="be brief",
        settings=(
            Given("model", ("openai/x",), "--model"),
            Given("approve", ("edits",), "--approve"),
            Given("allow", ("read", "write"), "--allow"),
            Given("deny", ("network",), "--deny"),
            Given("verify", ("make test",), "--verify"),
            Given("limits.turns", ("4",), "--max-turns"),
            Given("limits.tokens", ("5",), "--max-tokens"),
            Given("limits.cost", ("0.5",), "--max-cost"),
            Given("limits.time", ("10m",), "--max-time"),
            Given("effort", ("low",), "--effort"),
        ),
        output_format="json",
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], Invocation()),
        (["-p", "-x is broken"], Invocation(headless=True, prompt="-x is broken")),
        (["-p"], Invocation(headless=True)),
        (["-p", "--no-session", "do it"], Invocation(headless=True, prompt="do it", no_session=True)),
        (["--print=--model"], Invocation(headless=True, prompt="--model")),
        (["-p", "--", "--model"], Invocation(headless=True, prompt="--model")),
        (["-p", "sessions"], Invocation(headless=True, prompt="sessions")),
        (["-cp", "more"], Invocation(headless=True, prompt="more", resume="latest")),
        (["-rABC"], Invocation(resume="ABC")),
        (["-C/"], Invocation(folder=Path("/"))),
        (["-c", "--if-busy", "wait"], Invocation(resume="latest", if_busy="wait")),
        (["-r", "A", "--if-busy=take"], Invocation(resume="A", if_busy="take")),
        (["-c", "--if-busy", "read"], Invocation(resume="latest", if_busy="read")),
        (["sessions", "import", "F"], Invocation("sessions", "import", ("F",))),
        (["sessions", "list", "--all"], Invocation("sessions", "list", everything=True)),
        (["sessions", "show", "ID"], Invocation("sessions", "show", ("ID",))),
        (["--output-format", "json", "sessions", "rm", "ID"], Invocation("sessions", "rm", ("ID",), output_format="json")),
        (["sessions", "search", "a b", "--all"], Invocation("sessions", "search", ("a b",), everything=True)),
        (
            ["sessions", "export", "ID", "--format", "jsonl", "-oout"],
            Invocation("sessions", "export", ("ID",), export_format="jsonl", output="out"),
        ),
        (["replay", "ID", "--until", "7", "--speed", "0.5"], Invocation("replay", "", ("ID",), until=7, speed=0.5)),
        (
            ["receipt", "verify", "r.json", "--journal", "e"],
            Invocation("receipt", "verify", ("r.json",), journal=Path("e")),
        ),
        (["-p", "x", "--receipt", "r.json"], Invocation(headless=True, prompt="x", receipt=Path("r.json"))),
        (["doctor"], Invocation("doctor")),
        (["demo"], Invocation("demo")),
        (["config", "show", "--model", "x"], Invocation("config", "show", settings=(Given("model", ("x",), "--model"),))),
    ],
)
def test_usual_spellings_are_understood(words: list[str], expected: Invocation) -> None:
    assert understand(words) == (expected if expected.folder != Path() else expected._replace(folder=HERE))


def test_help_and_version_win_over_everything_else() -> None:
    assert understand(["sessions", "--help", "nonsense"]) == Invocation(help=True)
    assert understand(["-p", "x", "--version"]) == Invocation(version=True)


WRONG = {
    "--modle x": "unknown flag --modle; did you mean --model?",
    "--qqqqqq": "unknown flag --qqqqqq; ferrule --help shows all flags",
    "-q": "unknown flag -q; ferrule --help shows all flags",
    "--yolo": "unknown flag --yolo; here it is --approve all",
    "--dangerously-skip-permissions": "unknown flag --dangerously-skip-permissions; here it is --approve all",
    "--model": "--model needs a value: --model NAME",
    "--model --no-session": "--model needs a value: --model NAME",
    "--no-session=yes": "--no-session takes no value, but 'yes' was given",
    "--output-format xml": '--output-format must be one of text, json, stream-json, sarif, not "xml"',
    "-c -r x": "--continue and --resume exclude each other",
    "-c --no-session": "--continue and --no-session exclude each other",
    "-r x --no-session": "--resume and --no-session exclude each other",
    "-C /no/such": "-C /no/such: there is no such folder",
    "-C ~nobody-of-this-name": "-C ~nobody-of-this-name: there is no such folder",
    "-C /dev/null/x": "-C /dev/null/x: Not a directory",
    "--add-dir /dev/null": "--add-dir /dev/null: this is not a folder",
    "session list": '"session" is no command; did you mean sessions?',
    "fix the test": "\"fix\" is no command; to give a task, write: ferrule -p 'fix the test'",
    "-p fix the test": "one prompt is expected, but there are 3; quote it: -p 'fix the test'",
    "-p a -p b": "one prompt is expected, but there are 2; quote it: -p 'a b'",
    "sessions": "ferrule sessions needs one of: list, show, search, export, import, compact, rm",
    "sessions ls": '"sessions ls" is no command; known: '
    "sessions list, sessions show, sessions search, sessions export, sessions import, sessions compact, sessions rm",
    "sessions import": "sessions import needs an exported session: ferrule sessions import FILE "
    "(written by ferrule sessions export ID --format jsonl)",
    "-p x --if-busy wait": "--if-busy says what happens when a session to go on with is open elsewhere; add -c or -r ID",
    "-c --if-busy steal": '--if-busy must be one of wait, read, take, not "steal"',
    "review -c --if-busy read": "ferrule review takes --if-busy wait or take; "
    "what a review elsewhere did tells ferrule replay ID",
    "sessions show": "sessions show needs a session: ferrule sessions show ID (ferrule sessions list shows them)",
    "sessions rm a b": 'sessions rm does not take "b"',
    "doctor now": 'doctor does not take "now"',
    "doctor --model x": "ferrule doctor does not take --model",
    "doctor --output-format stream-json": "ferrule doctor writes text or json, not stream-json",
    "--all": "--all belongs to: ferrule sessions list, ferrule sessions search, ferrule undo",
    "sessions show x --all": "ferrule sessions show does not take --all",
    "sessions list --format jsonl": "ferrule sessions list does not take --format",
    "sessions export x --format html": '--format must be one of markdown, jsonl, not "html"',
    "sessions search": "sessions search needs what to look for: ferrule sessions search TEXT",
    "sessions search failing test": 'sessions search does not take "test"; quote it',
    "-p x -o out": "--output belongs to: ferrule sessions export",
    "undo x y": 'undo does not take "y"',
    "undo --to 0": '--to must be a whole number of at least 1, not "0"',
    "undo --to 3 --all": "--to and --all exclude each other",
    "undo --last 2 --all": "--last and --all exclude each other",
    "undo --dry-run --force": "--dry-run and --force exclude each other",
    "undo --list --files": "--list and --files exclude each other",
    "-p x --dry-run": "--dry-run belongs to: ferrule undo",
    "replai x": '"replai" is no command; did you mean replay?',
    "receit": '"receit" is no command; did you mean receipt?',
    "replay": "replay needs a session: ferrule replay ID (ferrule sessions list shows them)",
    "replay x y": 'replay does not take "y"',
    "replay x --until 0": '--until must be a whole number of at least 1, not "0"',
    "replay x --until ²": '--until must be a whole number of at least 1, not "²"',
    "replay x --speed 0": '--speed must be a number above 0, such as 1 (as it was) or 10 (ten times as fast), not "0"',
    "replay x --speed nan": '--speed must be a number above 0, such as 1 (as it was) or 10 (ten times as fast), not "nan"',
    "replay x --output-format json": "ferrule replay writes text or stream-json, not json",
    "receipt": "ferrule receipt needs one of: verify",
    "receipt verify": "receipt verify needs a receipt: ferrule receipt verify FILE (written by --receipt FILE)",
    "receipt verify x --receipt y": "ferrule receipt does not take --receipt",
    "-p x --journal y": "--journal belongs to: ferrule receipt",
}


@pytest.mark.parametrize(("line", "message"), WRONG.items())
def test_a_wrong_line_says_what_is_right(line: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        understand(line.split())
    assert str(caught.value) == message


def test_empty_values_are_refused() -> None:
    for words, message in (
        (["-p", " "], "the prompt is empty; say what to do: -p PROMPT"),
        (["-r", ""], "--resume needs a value that is not empty: --resume ID"),
    ):
        with pytest.raises(UsageError) as caught:
            understand(words)
        assert str(caught.value) == message


def test_help_fits_on_a_screen_and_names_every_flag_command_and_exit_code() -> None:
    shown = re.split(r"[\s,\[\]]+", HELP)
    missing = [name for name in BY_NAME if name not in shown]
    missing += [command for command in COMMANDS if command not in shown]
    missing += [f"{code} {outcome}" for outcome, code in EXIT_CODES.items() if str(code) not in shown]
    assert missing == []
    assert len(HELP.splitlines()) <= 50
    assert max(len(line) for line in HELP.splitlines()) <= 80
