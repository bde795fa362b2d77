"""The command line as data: every flag, the commands it belongs to, and what other agents call the same thing."""

from typing import NamedTuple

RUN = "run"
COMMANDS = {
    "sessions": ("list", "show", "search", "export", "import", "compact", "rm"),
    "undo": (),
    "replay": (),
    "trace": (),
    "receipt": ("verify",),
    "config": ("show", "trust", "untrust"),
    "mcp": ("list", "add", "remove"),
    "init": (),
    "doctor": (),
    "demo": ("", "review"),
    "review": (),
}


TAKES = {
    **dict.fromkeys(("sessions show", "sessions export", "sessions compact", "sessions rm", "replay", "trace"), "ID"),
    "sessions search": "TEXT",
    "sessions import": "EXPORT",
    "receipt verify": "FILE",
    "mcp remove": "SERVER",
    "mcp add": "SERVER COMMAND",
}
"""The one word that follows a command; no other command takes one."""

MAY_TAKE = frozenset({"undo", "config trust", "config untrust"})
"""Commands that a word may follow."""

MANY = frozenset({"mcp add"})
"""Commands that two words or more follow."""

NEEDS = {
    "ID": "a session: ferrule {} ID (ferrule sessions list shows them)",
    "TEXT": "what to look for: ferrule {} TEXT",
    "EXPORT": "an exported session: ferrule {} FILE (written by ferrule sessions export ID --format jsonl)",
    "FILE": "a receipt: ferrule {} FILE (written by --receipt FILE)",
    "SERVER": "the name of a server: ferrule {} NAME (ferrule mcp list shows them)",
    "SERVER COMMAND": "a name and a URL, or a command: ferrule {0} NAME https://… or ferrule {0} NAME -- COMMAND [ARGUMENT…]",
}


class FlagSpec(NamedTuple):
    """`value` names what follows the flag, empty for a switch; `key` is the setting that the flag sets, if it does.

    `optional`: it also stands alone. `actions` are those of its command that take it, empty for all; a command without actions
    takes it anyhow.
    """

    names: tuple[str, ...]
    value: str = ""
    key: str = ""
    many: bool = False
    optional: bool = False
    choices: tuple[str, ...] = ()
    commands: tuple[str, ...] = (RUN,)
    actions: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.names[-1]

    @property
    def homes(self) -> tuple[str, ...]:
        """The commands that take it, with their actions where it is for some of them only."""
        return tuple(
            f"{command} {action}".strip()
            for command in self.commands
            for action in (self.actions if COMMANDS.get(command) and self.actions else ("",))
        )


REVIEW = "review"
UNDO = "undo"
MCP = "mcp"
TASK = (RUN, REVIEW)
SETTING = (RUN, REVIEW, "config", "demo")
ALL = (RUN, *COMMANDS)

FLAGS = (
    FlagSpec(("-p", "--print"), "PROMPT", commands=TASK),
    FlagSpec(("-c", "--continue"), commands=TASK),
    FlagSpec(("-r", "--resume"), "ID", commands=TASK),
    FlagSpec(("--if-busy",), "WHAT", choices=("wait", "read", "take"), commands=TASK),
    FlagSpec(("--base",), "REF", commands=(REVIEW,)),
    FlagSpec(("--staged",), commands=(REVIEW,)),
    FlagSpec(("--commit",), "SHA", commands=(REVIEW,)),
    FlagSpec(("--fail-on",), "SEVERITY", choices=("blocking", "should-fix", "nit"), commands=(REVIEW,)),
    FlagSpec(("-C",), "DIR", commands=ALL),
    FlagSpec(("--add-dir",), "DIR", many=True),
    FlagSpec(("--worktree",), "NAME", optional=True),
    FlagSpec(("--no-session",), commands=TASK),
    FlagSpec(("--append-system-prompt",), "TEXT"),
    FlagSpec(("--model",), "NAME", "model", commands=SETTING),
    FlagSpec(("--effort",), "LEVEL", "effort", commands=SETTING),
    FlagSpec(("--approve",), "WHAT", "approve", commands=SETTING),
    FlagSpec(("--allow",), "RULE", "allow", many=True, commands=SETTING),
    FlagSpec(("--deny",), "RULE", "deny", many=True, commands=SETTING),
    FlagSpec(("--sandbox",), "MODE", "sandbox.mode", commands=SETTING),
    FlagSpec(("--verify",), "CMD", "verify", many=True, commands=(RUN, "config", "demo")),
    FlagSpec(("--max-turns",), "N", "limits.turns", commands=SETTING),
    FlagSpec(("--max-tokens",), "N", "limits.tokens", commands=SETTING),
    FlagSpec(("--max-cost",), "USD", "limits.cost", commands=SETTING),
    FlagSpec(("--max-time",), "TIME", "limits.time", commands=SETTING),
    FlagSpec(("--output-format",), "FORMAT", choices=("text", "json", "stream-json", "sarif"), commands=ALL),
    FlagSpec(("--receipt",), "FILE", commands=(RUN, REVIEW, "demo")),
    FlagSpec(("--all",), commands=("sessions", "undo"), actions=("list", "search")),
    FlagSpec(("--format",), "FORMAT", choices=("markdown", "jsonl"), commands=("sessions",), actions=("export",)),
    FlagSpec(("-o", "--output"), "FILE", commands=("sessions",), actions=("export",)),
    FlagSpec(("--focus",), "TEXT", commands=("sessions",), actions=("compact",)),
    FlagSpec(("--to",), "SEQ", commands=("undo",)),
    FlagSpec(("--last",), "N", commands=("undo",)),
    FlagSpec(("--files",), commands=("undo",)),
    FlagSpec(("--conversation",), commands=("undo",)),
    FlagSpec(("--list",), commands=("undo",)),
    FlagSpec(("--dry-run",), commands=("undo",)),
    FlagSpec(("--force",), commands=("undo", "init")),
    FlagSpec(("--transport",), "KIND", choices=("stdio", "http", "sse"), commands=("mcp",), actions=("add",)),
    FlagSpec(("--env",), "NAME=VALUE", many=True, commands=("mcp",), actions=("add",)),
    FlagSpec(("--header",), "NAME:VALUE", many=True, commands=("mcp",), actions=("add",)),
    FlagSpec(("--project",), commands=("mcp",), actions=("add", "remove")),
    FlagSpec(("--journal",), "EXPORT", commands=("receipt",)),
    FlagSpec(("--until",), "SEQ", commands=("replay",)),
    FlagSpec(("--speed",), "N", commands=("replay",)),
    FlagSpec(("--filters",), "MODEL", commands=("doctor",)),
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
    "--dangerously-bypass-approvals-and-sandbox": "--approve all --sandbox off",
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
}
