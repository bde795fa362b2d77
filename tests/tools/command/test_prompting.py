import pytest

from ferrule.tools.command.prompting import question


@pytest.mark.parametrize(
    "line",
    [
        "Password:",
        "[sudo] password for ann: ",
        "Enter passphrase for key '/home/ann/.ssh/id_ed25519': ",
        "Username for 'https://example.test': ",
        "Overwrite? [y/N]",
        "Do you want to continue? [Y/n] ",
        "Are you sure you want to continue connecting (yes/no/[fingerprint])? ",
        "Ok to proceed? (y) ",
        "Press any key to continue . . .\n",
        "Press ENTER to continue",
        "? What is the name of your project? (app)",
        "Enter a number: ",
        ">>> ",
        "(Pdb) ",
        "--More--(42%)",
        "(END)",
    ],
)
def test_a_line_that_waits_for_somebody_is_known(line: str) -> None:
    assert question(line) == line.strip()


@pytest.mark.parametrize(
    "line",
    [
        "",
        "Compiling 3 of 7",
        "Listening on http://localhost:3000\n",
        "password: ok\n",
        "running tests ...",
        "done [100%]",
        "a: b: c",
    ],
)
def test_other_lines_are_no_questions(line: str) -> None:
    assert question(line) == ""
