from msgspec.structs import replace

from ferrule.front.cli.headless import failed_result
from ferrule.front.cli.show.summary import SENTENCES, summary
from ferrule.front.cli.show.terminal import Look
from ferrule.types.outcome import Outcome
from ferrule.types.result import Denial, Limits, RunResult
from ferrule.types.tools import GateResult, Option, Question
from ferrule.types.usage import Usage

RESULT = RunResult(
    schema_version=1,
    session_id="01ABC",
    task_id="01ABC/main",
    outcome=Outcome.FINISHED,
    exit_code=0,
    result="Done.",
    verification=(
        GateResult("failed_tool", True, "none"),
        GateResult("verify", True, command="make test", exit_code=0, seconds=1.25),
    ),
    denials=(),
    limits=Limits(),
    usage=Usage(1000, 50, cache_read=2000, cost=0.01234),
    cost_usd=0.01234,
    turns=3,
    files_changed=("a.py", "b.py"),
    receipt="f" * 64,
    model="openai/x",
)


def test_a_finished_run_shows_its_evidence_and_its_cost() -> None:
    assert summary(RESULT, Look()) == [
        "● Finished. (exit 0)",
        "  ✓ failed_tool",
        "  ✓ verify: make test (exit 0, 1.2 s)",
        "  changed: a.py, b.py",
        "  3 turns, 3,000 tokens in (2,000 from the cache), 50 out, $0.0123",
        "  session 01ABC",
    ]


def test_a_question_shows_its_answers_and_how_to_give_one() -> None:
    question = Question("Which one?\nSay.", (Option("the first"), Option("the second", "code")))
    asking = replace(
        RESULT,
        outcome=Outcome.NEEDS_INPUT,
        exit_code=3,
        question=question,
        verification=(),
        files_changed=(),
        turns=1,
        usage=Usage(5, 1),
        cost_usd=None,
    )
    assert summary(asking, Look()) == [
        "● Waiting for an answer. (exit 3)",
        "  Which one? Say.",
        "    1. the first",
        "    2. the second",
        "  1 turn, 5 tokens in, 1 out, cost unknown",
        "  session 01ABC; go on with: ferrule -r 01ABC -p ANSWER",
    ]


def test_denials_name_the_flag_that_would_have_allowed_them() -> None:
    denial = Denial("execute_command", "rm -r build", "nobody is there to ask", "--allow 'execute:rm *'")
    denied = replace(
        RESULT,
        outcome=Outcome.UNVERIFIED,
        exit_code=8,
        verification=(GateResult("verify", False, "It said: 1 failed", "make test", 2, seconds=0.5),),
        denials=(denial,) * 7,
        files_changed=(),
        session_id=None,
        error="Gates kept failing.",
    )
    line = "  ⊘ denied: execute_command rm -r build (nobody is there to ask); allowed by --allow 'execute:rm *'"
    assert summary(denied, Look()) == [
        "● Unverified: what must hold at the end did not hold. (exit 8)",
        "  Gates kept failing.",
        "  ✗ verify: make test (exit 2, 500 ms, It said: 1 failed)",
        *[line] * 5,
        "    and 2 more denied calls",
        "  3 turns, 3,000 tokens in (2,000 from the cache), 50 out, $0.0123",
    ]


def test_every_outcome_has_a_sentence() -> None:
    assert set(SENTENCES) == set(Outcome)


def test_nothing_in_it_can_steer_the_terminal() -> None:
    hostile = replace(failed_result(Outcome.FAILED, "\x1b[2J"), files_changed=("\x1b]0;x\x07",))
    assert summary(hostile, Look()) == [
        "● Failed. (exit 1)",
        "  ␛[2J",
        "  changed: ␛]0;x␇",
        "  0 turns, 0 tokens in, 0 out, $0.0000",
    ]
