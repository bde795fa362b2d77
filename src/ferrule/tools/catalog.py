"""The tools of a coding task, in the order in which a model sees them."""

from .base import Tool
from .command.execute_command import execute_command
from .command.jobs import Jobs
from .command.read_command_output import read_command_output
from .command.stop_command import stop_command
from .edit.apply_diff import apply_diff
from .edit.apply_patch import apply_patch
from .edit.edit import edit
from .edit.editing import Editing
from .edit.write_to_file import write_to_file
from .read.find_files import Open, find_files
from .read.list_code_definitions import list_code_definitions
from .read.list_files import list_files
from .read.read_file import read_file
from .read.search_files import search_files


def coding_tools(finder: Open | None = None, jobs: Jobs | None = None, editing: Editing | None = None) -> tuple[Tool, ...]:
    """New tools for one session: some keep what they have seen of its files."""
    jobs = jobs or Jobs()
    editing = editing or Editing()
    return (
        read_file(editing.seen),
        list_files(),
        find_files(finder),
        search_files(),
        list_code_definitions(),
        write_to_file(editing),
        apply_diff(editing),
        edit(editing),
        apply_patch(editing),
        execute_command(jobs),
        read_command_output(jobs),
        stop_command(jobs),
    )
