import re
from pathlib import Path

HERE = Path(__file__).parent
LIST = (HERE / "AGENTS.md").read_text()


def test_the_numbered_list_and_the_tests_are_the_same() -> None:
    listed: dict[str, list[str]] = {}
    for section in LIST.split("\n## ")[1:]:
        if heading := re.match(r"`(test_\w+\.py)`", section):
            sentences = re.findall(r"^\d+\. (.*?)\.(?: \*\(long\)\*)?$", section, re.MULTILINE)
            listed[heading[1]] = ["test_" + re.sub(r"\W+", "_", sentence.lower()) for sentence in sentences]
    files = [path for path in HERE.glob("test_*.py") if not path.name.startswith(("test_wire_", "test_list"))]
    written = {path.name: re.findall(r"^def (test_\w+)", path.read_text(), re.MULTILINE) for path in files}
    assert {name: tests for name, tests in listed.items() if not name.startswith("test_wire_")} == written


def test_every_behaviour_has_a_number_of_its_own_in_rising_order() -> None:
    numbers = [int(number) for number in re.findall(r"^(\d+)\. ", LIST, re.MULTILINE)]
    assert numbers == sorted(set(numbers))
