"""`ferrule doctor --filters MODEL`."""

import json

from .command import Shell

LAB = """
[endpoints.lab]
dialect = "openai"
base_url = "https://models.example/v1"
key_env = "LAB_KEY"
promote = true
"""


def test_the_filters_of_a_model_are_shown_in_their_order_with_their_direction_and_no_key_is_needed(shell: Shell) -> None:
    ran = shell.run("doctor", "--filters", "anthropic/claude-opus-4-5", "--output-format", "json")
    facts = json.loads(ran.out)
    topics = list(dict.fromkeys(fact["topic"] for fact in facts))
    name = "anthropic/claude-opus-4-5"
    assert topics == [f"{name}, outbound", f"{name}, inbound", f"{name}, control", "not needed by its profile", "tools"]
    inbound = [fact["name"] for fact in facts if fact["topic"] == f"{name}, inbound"]
    assert inbound.index("ids") < inbound.index("names") < inbound.index("cut") < inbound.index("arguments")
    assert "promote" in [fact["name"] for fact in facts if fact["topic"] == "not needed by its profile"]
    assert all(fact["detail"] for fact in facts)
    assert ran.code == 0


def test_what_a_configured_endpoint_says_decides_which_filters_it_has(shell: Shell) -> None:
    shell.config.parent.mkdir(parents=True)
    shell.config.write_text(LAB)
    ran = shell.run("doctor", "--filters", "lab/qwen", LAB_KEY="")
    assert "lab/qwen, inbound" in ran.out
    before, _, unneeded = ran.out.partition("not needed by its profile")
    assert ("promote" in before, "promote" in unneeded) == (True, False)


def test_an_unknown_model_is_a_wrong_usage(shell: Shell) -> None:
    ran = shell.run("doctor", "--filters", "antropic/x")
    assert (ran.code, "did you mean anthropic/x?" in ran.err) == (2, True)
