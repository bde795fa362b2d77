"""Word for the model of background processes that have ended since it spoke last."""

from ferrule.tools.command.telling import note
from ferrule.types.messages import Text, User
from ferrule.types.records import UserSaid

from .log import Log


async def tell_of_ended(log: Log) -> None:
    """Once each, also of those that a crash ended."""
    if untold := tuple(log.conversation.untold):
        await log.add(UserSaid(User((Text(note(untold)),)), "process"))
