"""The command line as data: every flag, the commands it belongs to, and what other agents call the same thing."""

from typing import NamedTuple

RUN = "run"
COMMANDS = {
    "sessions": ("list", "show", "rm"),
    "config": ("show",),
    "doctor": (),
    "demo": (),
}


class FlagSpec(NamedTuple):
    """`value` names what follows the flag, empty for a switch; `key` is the setting that the flag sets, if it does."""

    names: tuple[str, ...]
    value: str = ""
    key: str = ""
    many: bool = False
    choices: tuple[str, ...] = ()
    commands: tuple[str, ...] = (RUN,)

    @property
    def name(self) -> str:
        return self.names[-1]


SETTING = (RUN, "config", "demo")
ALL = (RUN, *COMMANDS)

FLAGS = (
    FlagSpec(("-p", "--print"), "PROMPT"),
    FlagSpec(("-c", "--continue")),
    FlagSpec(("-r", "--resume"), "ID"),
    FlagSpec(("-C",), "DIR", commands=ALL),
    FlagSpec(("--add-dir",), "DIR", many=True),
    FlagSpec(("--no-session",)),
    FlagSpec(("--append-system-prompt",), "TEXT"),
    FlagSpec(("--model",), "NAME", "model", commands=SETTING),
    FlagSpec(("--effort",), "LEVEL", "effort", commands=SETTING),
    FlagSpec(("--approve",), "WHAT", "approve", commands=SETTING),
    FlagSpec(("--allow",), "RULE", "allow", many=True, commands=SETTING),
    FlagSpec(("--deny",), "RULE", "deny", many=True, commands=SETTING),
    FlagSpec(("--verify",), "CMD", "verify", many=True, commands=SETTING),
    FlagSpec(("--max-turns",), "N", "limits.turns", commands=SETTING),
    FlagSpec(("--max-tokens",), "N", "limits.tokens", commands=SETTING),
    FlagSpec(("--max-cost",), "USD", "limits.cost", commands=SETTING),
    FlagSpec(("--max-time",), "TIME", "limits.time", commands=SETTING),
    FlagSpec(("--output-format",), "FORMAT", choices=("text", "json", "stream-json"), commands=ALL),
    FlagSpec(("--all",), commands=("sessions",)),
    FlagSpec(("--version",), commands=ALL),
    FlagSpec(("-h", "--help"), commands=ALL),
)

BY_NAME = {name: flag for flag in FLAGS for name in flag.names}

FROM_ELSEWHERE = {
    "--yolo": "--approve all",
    "--yes": "--approve all",
    "--full-auto": "--approve all",
    "--yes-always": "--approve all",
    "--auto-approve": "--approve all",
    "--dangerously-skip-permissions": "--approve all",
    "--permission-mode": "--approve ask|edits|all",
    "--allowedTools": "--allow RULE",
    "--disallowedTools": "--deny RULE",
    "--prompt": "-p PROMPT",
    "--message": "-p PROMPT",
    "-m": "-p PROMPT (or --model NAME)",
    "--max-price": "--max-cost USD",
    "--workdir": "-C DIR",
    "--cwd": "-C DIR",
    "--json": "--output-format json",
    "-o": "--output-format FORMAT",
}
