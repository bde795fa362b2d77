"""Instructions, skills, slash commands, trust, worktrees and the first AGENTS.md, as anybody meets them."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.fakes.server import FakeServer

from .driving import Journal, Json, Project, Ran, call, completes, keys, step

SKILL = "---\nname: deploy\ndescription: How to deploy.\n---\nCall the harbour master.\n"
COMMAND = "---\ndescription: Fix an issue\nargument-hint: '[number]'\n---\nFix issue $1, said: $ARGUMENTS.\n"


def place(project: Project, name: str, text: str) -> Path:
    file = project.base / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def stocked(project: Project) -> None:
    place(project, "project/AGENTS.md", "Use tabs.\n")
    place(project, "project/.agents/skills/deploy/SKILL.md", SKILL)
    place(project, "project/.agents/skills/deploy/port.md", "Port 7.\n")
    place(project, "project/.ferrule/commands/fix.md", COMMAND)


def asked(project: Project, prompt: str, *calls: Json, more: tuple[str, ...] = ()) -> tuple[Ran, list[Json]]:
    """How a run ended that makes these calls and completes, and its requests."""
    with FakeServer({"version": 1, "steps": [*(step(each) for each in calls), step(completes())]}) as server:
        ran = project.run("-p", prompt, "--model", "openai/gpt-5.1", *more, **keys(server.url))
        return ran, [request.body for request in server.requests if request.method == "POST"]


def loads(name: str, **arguments: str) -> Json:
    return {"name": "skill", "arguments": {"name": name, **arguments}}


def system(request: Json) -> str:
    return json.dumps(request["messages"][0], ensure_ascii=False)


def tools(request: Json) -> set[str]:
    return {tool["function"]["name"] for tool in request["tools"]}


def repository(project: Project) -> None:
    for arguments in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "first", "--allow-empty")):
        who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        subprocess.run(("git", *who, *arguments), cwd=project.folder, check=True)


def worktrees(project: Project) -> list[Path]:
    return sorted(path for path in project.state.glob("worktrees/*/*") if path.is_dir())


def test_a_project_that_is_not_trusted_brings_instructions_and_nothing_that_acts(project: Project) -> None:
    stocked(project)
    ran, (request,) = asked(project, "/fix 12")
    assert ran.code == 0, ran
    assert "Use tabs." in system(request)
    assert "deploy" not in system(request)
    assert not {"skill", "run_slash_command"} & tools(request)
    assert request["messages"][1]["content"] == "/fix 12"
    unread = ".agents/skills and .ferrule/commands are not read because"
    assert f"{unread} {project.folder} is not trusted (ferrule config trust {project.folder})." in ran.err
    assert "There is no command /fix" in ran.err


def test_trusting_a_project_lets_its_skills_and_commands_in_and_untrusting_takes_them_out(project: Project) -> None:
    stocked(project)
    said = project.run("config", "trust")
    assert (said.code, said.out) == (0, f"{project.folder} is trusted now ({project.home}/.config/ferrule/config.toml)\n")
    ran, requests = asked(
        project,
        "/fix 12 now",
        loads("deploy"),
        loads("deploy", file="port.md"),
        call("run_slash_command", command="fix", args="13"),
    )
    assert ran.code == 0, ran
    assert "- deploy: How to deploy." in requests[0]["messages"][0]["content"]
    assert "- fix [number]: Fix an issue" in requests[0]["messages"][0]["content"]
    assert "harbour" not in system(requests[0])
    assert requests[0]["messages"][1]["content"] == (
        '/fix 12 now\n\n<command name="fix" file=".ferrule/commands/fix.md">\nFix issue 12, said: 12 now.\n</command>'
    )
    results = [message["content"] for message in requests[-1]["messages"] if message["role"] == "tool"]
    assert "Call the harbour master." in results[0]
    assert results[0].endswith("\nport.md")
    assert results[1] == '<file path="port.md">\nPort 7.\n</file>'
    assert "Fix issue 13, said: 13." in results[2]
    assert project.run("config", "untrust", str(project.folder)).code == 0
    _, (request,) = asked(project, "Look.")
    assert not {"skill", "run_slash_command"} & tools(request)


def test_what_the_person_keeps_in_the_user_folder_counts_in_every_project(project: Project) -> None:
    place(project, "home/.config/ferrule/skills/deploy/SKILL.md", SKILL)
    place(project, "home/.config/ferrule/rules/style.md", "Short words.")
    ran, requests = asked(project, "Look.", loads("deploy"))
    assert ran.code == 0, ran
    assert "Short words." in system(requests[0])
    assert "harbour" in json.dumps(requests[1]["messages"][-1])


def test_a_session_that_goes_on_sends_the_same_system_prompt(project: Project) -> None:
    stocked(project)
    project.run("config", "trust")
    for name in ("b", "a"):
        place(project, f"project/.roo/rules/{name}.md", f"rule {name}")
    _, (first,) = asked(project, "Look.")
    _, (second, *_) = asked(project, "And now?", more=("-c",))
    assert system(first) == system(second)


def test_one_bad_file_is_said_and_the_run_goes_on_with_the_others(project: Project) -> None:
    stocked(project)
    project.run("config", "trust")
    place(project, "project/.ferrule/commands/broken.md", "---\ndescription: x\n")
    (project.folder / "AGENTS.local.md").symlink_to(place(project, "home/secret", "SECRET"))
    ran, (request,) = asked(project, "Look.")
    assert ran.code == 0, ran
    assert "broken.md begins with frontmatter that does not end" in ran.err
    assert f"AGENTS.local.md leads out of the project, to {project.home}/secret, and is not followed." in ran.err
    assert "SECRET" not in system(request)
    assert "- fix [number]" in system(request)


def test_doctor_prints_what_counts_in_its_order_and_what_takes_the_place_of_what(project: Project) -> None:
    stocked(project)
    place(project, "project/CLAUDE.md", "x")
    place(project, "home/.config/ferrule/AGENTS.md", "x")
    place(project, "home/.config/ferrule/commands/fix.md", "x")
    project.run("config", "trust")
    facts = json.loads(project.run("doctor", "--output-format", "json").out)
    rows = [(each["topic"], each["name"], each["detail"]) for each in facts]
    user = f"{project.home}/.config/ferrule"
    assert [row for row in rows if row[0] in ("instructions", "skills", "commands", "not read")] == [
        ("instructions", "1", f"{user}/AGENTS.md (person), 1 bytes"),
        ("instructions", "2", "AGENTS.md (project), 10 bytes"),
        ("instructions", "-", "CLAUDE.md (project); not read: AGENTS.md takes its place"),
        ("skills", "deploy", ".agents/skills/deploy/SKILL.md (project); How to deploy."),
        ("commands", "fix", ".ferrule/commands/fix.md (project); Fix an issue"),
        ("commands", "fix", f"{user}/commands/fix.md (person); .ferrule/commands/fix.md takes its place"),
    ]


def test_a_worktree_keeps_the_project_as_it_is_and_says_what_to_do_with_it(project: Project) -> None:
    project.write("a.txt", "old\n")
    project.write(".gitignore", ".env\n")
    project.write(".worktreeinclude", ".env\n")
    repository(project)
    project.write(".env", "A=1\n")
    write = call("write_to_file", path="a.txt", content="new\n")
    ran, _ = asked(project, "Change it.", write, more=("--worktree", "one", "--approve", "edits"))
    assert ran.code == 0, ran
    (made,) = worktrees(project)
    assert ((made / "a.txt").read_text(), (made / ".env").read_text()) == ("new\n", "A=1\n")
    assert project.lines("a.txt") == ["old"]
    assert Journal(project.state / "sessions" / f"{project.sessions[0]}.db").entries("session")[0]["folder"] == str(made)
    lines = ran.err.splitlines()
    assert f"ferrule: working in {made} on the branch ferrule/one, with 1 ignored file taken along" in lines
    assert f"ferrule: the worktree {made} holds 1 uncommitted change on the branch ferrule/one" in lines
    assert f"ferrule: to go on: ferrule -c -C {made} -p TEXT" in lines
    on, _ = asked(project, "Go on.", more=("-c", "-C", str(made)))
    assert on.code == 0, on


def test_a_worktree_of_a_trusted_project_is_trusted_and_one_of_another_is_not(project: Project) -> None:
    stocked(project)
    repository(project)
    _, (untrusted,) = asked(project, "Look.", more=("--worktree",))
    project.run("config", "trust")
    _, (trusted,) = asked(project, "Look.", more=("--worktree",))
    assert ["skill" in tools(untrusted), "skill" in tools(trusted)] == [False, True]


@pytest.mark.parametrize("committed", [True, False])
def test_where_no_task_can_be_opened_no_worktree_is_left(project: Project, committed: bool) -> None:
    if committed:
        repository(project)
    ran = project.run("-p", "Look.", "--worktree", "one", "--model", "openai/gpt-5.1")
    assert (ran.code, worktrees(project), project.sessions) == (2, [], [])
    assert ("needs a key" if committed else "is not in a git repository") in ran.err


def test_init_writes_what_can_be_seen_and_never_over_what_is_there(project: Project) -> None:
    project.write("Makefile", "test: build\n\techo\nbuild:\n\techo\nX := 1\n")
    place(project, "project/src/main.py", "")
    first = project.run("init")
    assert first.code == 0, first
    text = (project.folder / "AGENTS.md").read_text()
    assert "Written in Python (1 file)." in text
    assert "- `make build` (Makefile)\n- `make test` (Makefile)\n" in text
    assert "- `src/`: 1 file, mostly Python" in text
    project.write("AGENTS.md", "mine")
    again = project.run("init")
    assert (again.code, project.lines("AGENTS.md")) == (2, ["mine"])
    assert "--force writes it anew" in again.err
    assert project.run("init", "--force").code == 0
    assert "make test" in (project.folder / "AGENTS.md").read_text()
