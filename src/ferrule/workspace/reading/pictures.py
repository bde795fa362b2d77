"""A picture for a model, made by a child process."""

import base64
from pathlib import Path

from ferrule.types.messages import Image

from .child import Hands, ask


async def picture(path: Path, hands: Hands) -> tuple[str, Image]:
    """A sentence about the picture and the picture itself, no larger than models take. Raises Unshowable, OSError."""
    said, data = await ask("image", path, hands)
    media, _, facts = said.partition(" ")
    return facts, Image(media, base64.b64encode(data).decode())
