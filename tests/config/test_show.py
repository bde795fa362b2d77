from pathlib import Path

from ferrule.task.config.layers import Flag, load
from ferrule.task.config.show import Row, lines, rows

FILE = """\
verify = ["make test"]

[endpoints.proxy]
dialect = "anthropic"
base_url = "https://user:secret@proxy.test/v1?token=secret"
headers = { Authorization = "Bearer secret" }
price = { input = 3, output = 15.5 }
"""


def test_rows_hold_every_value_with_its_origin_and_no_secret(tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_text(FILE)
    loaded = load(tmp_path, {"FERRULE_CONFIG": str(file), "FERRULE_LIMITS_TIME": "2h"}, [Flag("model", ("proxy/m",), "--model")])
    assert rows(loaded) == (
        Row("model", "proxy/m", "--model"),
        Row("effort", None, "default"),
        Row("approve", "ask", "default"),
        Row("allow", (), "default"),
        Row("deny", (), "default"),
        Row("verify", ("make test",), f"{file}:1"),
        Row("verify_timeout", 300.0, "default"),
        Row("retention_days", None, "default"),
        Row("diagnostics", "servers", "default"),
        Row("limits.turns", None, "default"),
        Row("limits.tokens", None, "default"),
        Row("limits.cost", None, "default"),
        Row("limits.time", 7200.0, "FERRULE_LIMITS_TIME"),
        Row("timeouts.tool", 900.0, "default"),
        Row("timeouts.command", None, "default"),
        Row("timeouts.first_event", None, "default"),
        Row("timeouts.idle", None, "default"),
        Row("timeouts.total", None, "default"),
        Row("gates.require_todos_done", True, "default"),
        Row("hooks", (), "default"),
        Row("env.pass", (), "default"),
        Row("sandbox.mode", "off", "default"),
        Row("sandbox.network", False, "default"),
        Row("sandbox.access", "read-write", "default"),
        Row("sandbox.show", (), "default"),
        Row("ignore.show", False, "default"),
        Row("prompt.append", "", "default"),
        Row("search.embeddings_url", None, "default"),
        Row("search.embeddings_model", None, "default"),
        Row("search.embeddings_key_env", None, "default"),
        Row("mcp.tools", 40, "default"),
        Row("endpoints.proxy.dialect", "anthropic", f"{file}:4"),
        Row("endpoints.proxy.base_url", "https://…@proxy.test/v1?…", f"{file}:5"),
        Row("endpoints.proxy.headers", {"Authorization": "(not shown)"}, f"{file}:6"),
        Row("endpoints.proxy.price.input", 3.0, f"{file}:7"),
        Row("endpoints.proxy.price.output", 15.5, f"{file}:7"),
    )


def test_lines_read_as_toml_with_the_origin_as_comment(tmp_path: Path) -> None:
    environ = {"XDG_CONFIG_HOME": str(tmp_path), "FERRULE_VERIFY": 'test "a"'}
    assert lines(load(tmp_path, environ)) == (
        "model = (none)                      # default",
        "effort = (none)                     # default",
        'approve = "ask"                     # default',
        "allow = []                          # default",
        "deny = []                           # default",
        r'verify = ["test \"a\""]             # FERRULE_VERIFY',
        "verify_timeout = 300                # default",
        "retention_days = (none)             # default",
        'diagnostics = "servers"             # default',
        "limits.turns = (none)               # default",
        "limits.tokens = (none)              # default",
        "limits.cost = (none)                # default",
        "limits.time = (none)                # default",
        "timeouts.tool = 900                 # default",
        "timeouts.command = (none)           # default",
        "timeouts.first_event = (none)       # default",
        "timeouts.idle = (none)              # default",
        "timeouts.total = (none)             # default",
        "gates.require_todos_done = true     # default",
        "hooks = []                          # default",
        "env.pass = []                       # default",
        'sandbox.mode = "off"                # default',
        "sandbox.network = false             # default",
        'sandbox.access = "read-write"       # default',
        "sandbox.show = []                   # default",
        "ignore.show = false                 # default",
        'prompt.append = ""                  # default',
        "search.embeddings_url = (none)      # default",
        "search.embeddings_model = (none)    # default",
        "search.embeddings_key_env = (none)  # default",
        "mcp.tools = 40                      # default",
    )
