"""The last lines of a run, for a person: how it ended, the evidence, what was denied, what it cost, how to go on."""

import shlex

from ferrule.types.outcome import Outcome
from ferrule.types.result import RunResult
from ferrule.types.tools import GateResult

from .terminal import BOLD, DIM, GREEN, RED, YELLOW, Look, counted, duration, one_line

SENTENCES = {
    Outcome.FINISHED: "Finished.",
    Outcome.FAILED: "Failed.",
    Outcome.USAGE_ERROR: "Nothing was done: the command line or the configuration is wrong.",
    Outcome.NEEDS_INPUT: "Waiting for an answer.",
    Outcome.LIMIT: "Stopped at a limit.",
    Outcome.STUCK: "Stopped because it made no progress.",
    Outcome.REFUSED: "The model refused.",
    Outcome.INCOMPLETE: "Incomplete: the model stopped without ending the task.",
    Outcome.UNVERIFIED: "Unverified: what must hold at the end did not hold.",
    Outcome.ABORTED: "Given up by the model, with a reason.",
    Outcome.UNAVAILABLE: "The model could not be reached; try again later.",
    Outcome.INTERRUPTED: "Interrupted.",
}
GOES_ON = frozenset(Outcome) - {Outcome.FINISHED, Outcome.USAGE_ERROR, Outcome.REFUSED}
SHOWN_DENIALS = 5


def summary(result: RunResult, look: Look) -> list[str]:
    """Complete lines, without line breaks."""
    lines = [_outcome(result, look)]
    if result.error and result.error.strip() != result.result.strip():
        lines.append(f"  {one_line(result.error, look.width * 3)}")
    lines += [_gate(gate, look) for gate in result.verification]
    lines += _question(result, look)
    lines += _denials(result, look)
    if result.files_changed:
        files = ", ".join(result.files_changed)
        lines.append(look.paint(f"  changed: {one_line(files, look.width - 12)}", DIM))
    lines.append(look.paint(f"  {_usage(result)}", DIM))
    if result.session_id is not None:
        lines.append(look.paint(f"  session {result.session_id}{_how_to_go_on(result)}", DIM))
    return [line if look.symbols else line.replace("…", "...") for line in lines]


def _outcome(result: RunResult, look: Look) -> str:
    style = {Outcome.FINISHED: GREEN, Outcome.NEEDS_INPUT: YELLOW, Outcome.INTERRUPTED: YELLOW}.get(result.outcome, RED)
    dot = look.paint(look.symbol("●"), style)
    return f"{dot} {look.paint(SENTENCES[result.outcome], BOLD)} (exit {result.exit_code})"


def _gate(gate: GateResult, look: Look) -> str:
    mark = look.paint(look.symbol("✓"), GREEN) if gate.passed else look.paint(look.symbol("✗"), RED)
    said = [f"exit {gate.exit_code}"] if gate.exit_code is not None else []
    said += [duration(gate.seconds)] if gate.seconds is not None else []
    said += [gate.detail] if gate.detail and not gate.passed else []
    said += [f"its tests were changed in this run: {', '.join(gate.changed_tests)}"] if gate.changed_tests else []
    about = f"{gate.gate}: {gate.command}" if gate.command else gate.gate
    more = f" ({', '.join(said)})" if said else ""
    return f"  {mark} {one_line(about + more, look.width - 4)}"


def _question(result: RunResult, look: Look) -> list[str]:
    if result.question is None:
        return []
    asked = [f"  {one_line(result.question.text, look.width * 8)}"]
    return asked + [
        f"    {number}. {one_line(option.text, look.width * 2)}" for number, option in enumerate(result.question.options, 1)
    ]


def _denials(result: RunResult, look: Look) -> list[str]:
    lines = []
    for denial in result.denials[:SHOWN_DENIALS]:
        would = f"; allowed by {denial.flag}" if denial.flag else ""
        about = f"denied: {denial.tool} {denial.what} ({denial.reason}){would}"
        lines.append(f"  {look.paint(look.symbol('⊘'), YELLOW)} {one_line(about, look.width * 2)}")
    if len(result.denials) > SHOWN_DENIALS:
        lines.append(f"    and {len(result.denials) - SHOWN_DENIALS} more denied calls")
    return lines


def _usage(result: RunResult) -> str:
    usage = result.usage
    cached = f" ({usage.cache_read:,} from the cache)" if usage.cache_read else ""
    cost = "cost unknown" if result.cost_usd is None else f"${result.cost_usd:.4f}"
    return f"{counted(result.turns, 'turn')}, {usage.prompt:,} tokens in{cached}, {usage.output:,} out, {cost}"


def _how_to_go_on(result: RunResult) -> str:
    if result.outcome not in GOES_ON or result.session_id is None:
        return ""
    what = "ANSWER" if result.outcome is Outcome.NEEDS_INPUT else "TEXT"
    return f"; go on with: ferrule -r {shlex.quote(result.session_id)} -p {what}"
