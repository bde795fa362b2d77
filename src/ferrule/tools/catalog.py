"""The tools of a coding task, in the order in which a model sees them."""

from .base import Tool
from .command.execute_command import execute_command
from .edit.edit import edit
from .read.read_file import read_file


def coding_tools() -> tuple[Tool, ...]:
    """New tools for one session: some keep what they have seen of its files."""
    return read_file(), edit(), execute_command()
