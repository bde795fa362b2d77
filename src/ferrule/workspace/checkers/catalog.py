"""All checkers, in the order in which they are told of."""

from .base import Checker
from .code.leftovers import leftovers
from .code.ruff import ruff
from .code.syntax import syntax
from .data.ini_files import ini_files
from .data.json_files import json_files
from .data.toml_files import toml_files
from .data.workflows import workflows
from .data.xml_files import xml_files
from .data.yaml_files import yaml_files
from .files.endings import endings
from .files.modes import modes
from .files.sizes import sizes
from .text.conflicts import conflicts
from .text.links import links
from .text.secrets import secrets
from .text.typos import typos


def checkers() -> tuple[Checker, ...]:
    return (
        *(ruff(), syntax(), leftovers()),
        *(json_files(), yaml_files(), toml_files(), ini_files(), xml_files(), workflows()),
        *(conflicts(), secrets(), typos(), links()),
        *(sizes(), modes(), endings()),
    )
