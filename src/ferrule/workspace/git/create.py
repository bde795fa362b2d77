"""Makes a repository: a folder's files as its first commit."""

from pathlib import Path

from ferrule.process.capture import capture
from ferrule.process.protocol import Processes
from ferrule.types.errors import FerruleError

WHO = {"NAME": "Ferrule", "EMAIL": "ferrule@localhost"}
PLAIN = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_TEMPLATE_DIR": ""}


async def commit_all(processes: Processes, folder: Path, message: str, environment: tuple[tuple[str, str], ...]) -> None:
    """No configuration and no hook of the person takes part. Raises FerruleError where git fails."""
    who = {f"GIT_{role}_{field}": value for role in ("AUTHOR", "COMMITTER") for field, value in WHO.items()}
    env = tuple((dict(environment) | PLAIN | who).items())
    for arguments in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", message)):
        ended, output = await capture(processes, ("git", *arguments), str(folder), env, merged=True)
        if ended.error or ended.exit_code:
            said = ended.error or output.decode(errors="replace").strip()
            raise FerruleError(f"git {arguments[0]} failed in {folder}: {said}")
