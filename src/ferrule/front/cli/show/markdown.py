"""A whole session as Markdown, to keep or to hand on."""

import re
import time

from ferrule.task.sessions import StoredSession
from ferrule.types.messages import Assistant, Image, Reasoning, Text, ToolCall, ToolResult, User
from ferrule.types.records import (
    Answered,
    Approval,
    Asked,
    AssistantSaid,
    CallFinished,
    Entry,
    Receipt,
    RunEnded,
    Undone,
    UserSaid,
)
from ferrule.types.tools import GateResult

from .terminal import clean, counted, one_line

LINE = 200


def markdown(stored: StoredSession, problem: str = "") -> str:
    """What anybody said stands in quotations, what tools gave back in fences, so that neither can pass for a heading of ours."""
    info = stored.info
    began = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(info.created))
    facts = {"folder": info.folder, "began": began, "contract": info.contract, "outcome": str(info.outcome or "open")}
    heading = f"# Session {info.id}\n\n" + "".join(f"- {name}: {_code(value)}\n" for name, value in facts.items())
    body = "".join(section(record.entry) for record in stored.records)
    return heading + body + (f"\n## The export ends here\n\n{one_line(problem, LINE * 4)}\n" if problem else "")


def section(entry: Entry) -> str:
    match entry:
        case UserSaid(message=message, origin=origin):
            return _section("You" if origin == "person" else origin.capitalize(), _quoted(_said(message)))
        case AssistantSaid(message=message):
            return _section(f"Model {_code(message.model)}", _assistant(message))
        case Approval(decision="deny", reason=reason, flag=flag):
            return _quoted(f"denied: {reason}" + (f" (allowed by {flag})" if flag else "")) + "\n"
        case CallFinished(result=result):
            return _section(f"Result of {_code(result.name)}: {result.kind}", _result(result), level=3)
        case Asked(question=question):
            options = "".join(f"\n- {option.text}" for option in question.options)
            return _section("Question", _quoted(question.text + options))
        case Answered(text=text):
            return _section("You answered", _quoted(text))
        case Receipt() as receipt:
            return _section("Receipt", _receipt(receipt))
        case Undone(to=to, changes=changes, conversation=conversation):
            told = "".join(f"- {_code(change.path)}\n" for change in changes)
            return _section(
                f"Undone: back to record {to}", told + ("The conversation went back as well.\n" if conversation else "")
            )
        case RunEnded(outcome=outcome, result=result, error=error):
            about = result if error is None or error.strip() == result.strip() else f"{result}\n\n{error}"
            return _section(f"Ended: {outcome} (exit {outcome.exit_code})", _quoted(about))
        case _:
            return ""


def _assistant(message: Assistant) -> str:
    parts = []
    for part in message.parts:
        match part:
            case Text(text=text):
                parts.append(_quoted(text))
            case Reasoning(text=text) if text.strip():
                parts.append("*reasoning*\n\n" + _quoted(text))
            case ToolCall() as call:
                parts.append(f"calls {_code(call.name)}\n\n" + _fenced(call.arguments, "json"))
            case _:
                pass
    return "\n\n".join(part for part in parts if part)


def _result(result: ToolResult) -> str:
    pictures = sum(isinstance(part, Image) for part in result.parts)
    return _fenced(result.text) + (f"\n\n({counted(pictures, 'image')})" if pictures else "")


def _receipt(receipt: Receipt) -> str:
    lines = [f"- terminal action: {_code(receipt.terminal_action or 'none')}"]
    lines += [f"- gate {_gate(gate)}" for gate in receipt.gates]
    lines += [
        f"- changed {_code(change.path)}: {change.before or 'new'} → {change.after or 'gone'}" for change in receipt.changes
    ]
    cost = "unknown" if receipt.usage.cost is None else f"${receipt.usage.cost:.4f}"
    lines.append(f"- {receipt.usage.prompt:,} tokens in, {receipt.usage.output:,} out, cost {cost}")
    lines.append(f"- journal head {receipt.head}")
    return "\n".join(lines)


def _gate(gate: GateResult) -> str:
    about = _code(f"{gate.gate}: {gate.command}" if gate.command else gate.gate)
    told = [gate.detail] if gate.detail else []
    told += [f"output sha256 {gate.output_sha256}"] if gate.output_sha256 else []
    told += [f"its tests changed in this run: {', '.join(gate.changed_tests)}"] if gate.changed_tests else []
    return f"{about} {'passed' if gate.passed else 'failed'}" + (f" ({_code('; '.join(told))})" if told else "")


def _said(message: User) -> str:
    return "\n".join(part.text if isinstance(part, Text) else "(image)" for part in message.parts)


def _section(heading: str, body: str, level: int = 2) -> str:
    return f"\n{'#' * level} {heading}\n\n{body}\n" if body else f"\n{'#' * level} {heading}\n"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in clean(text).strip("\n").split("\n")) if text.strip() else ""


def _fenced(text: str, language: str = "") -> str:
    """In a fence longer than any in the text."""
    shown = clean(text)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", shown)), default=0))
    return f"{fence}{language}\n{shown}\n{fence}"


def _code(text: str) -> str:
    """A short text as inline code."""
    shown = one_line(text, LINE)
    ticks = "`" * (1 + max((len(run) for run in re.findall(r"`+", shown)), default=0))
    space = " " if "`" in shown else ""
    return f"{ticks}{space}{shown}{space}{ticks}" if shown else ""
