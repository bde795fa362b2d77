"""Pictures in a size and a format that models take."""

import io
from pathlib import Path
from typing import TYPE_CHECKING

from .child import Unshowable

if TYPE_CHECKING:
    from PIL import Image

LARGEST = 52_428_800
"""Bytes of a picture that is read."""
PIXELS = 100_000_000
EDGE = 1_568
"""Pixels on the longer side; what is larger is scaled down."""
BYTES = 1_500_000
"""Of the picture that is sent."""
TAKEN = {"PNG": "image/png", "JPEG": "image/jpeg", "GIF": "image/gif", "WEBP": "image/webp"}
READ = (*TAKEN, "BMP", "TIFF", "ICO", "AVIF")
SIGNATURES = ((b"\x89PNG", "PNG"), (b"\xff\xd8\xff", "JPEG"), (b"GIF8", "GIF"), (b"RIFF", "WEBP"))
QUALITIES = (85, 65, 45)
TURNED = 0x0112
"""The EXIF tag that says how the camera was held."""


def extract(path: Path, number: int = 0) -> tuple[str, bytes]:
    """The facts are the media type, a space, and a sentence."""
    data = path.read_bytes() if path.stat().st_size <= LARGEST else None
    if data is None:
        raise Unshowable(f"it has more than {LARGEST:,} bytes")
    try:
        from PIL import Image, UnidentifiedImageError
    except ModuleNotFoundError:
        return _as_it_is(data)
    Image.MAX_IMAGE_PIXELS = PIXELS // 2  # Pillow refuses twice as many
    try:
        picture = Image.open(io.BytesIO(data), formats=READ)
    except UnidentifiedImageError as problem:
        raise Unshowable("its format is not known") from problem
    except Image.DecompressionBombError as problem:
        raise Unshowable(f"it has more than {PIXELS:,} pixels") from problem
    width, height = picture.size
    frames = getattr(picture, "n_frames", 1)
    facts = f"{picture.format}, {width} × {height} pixels" + (f", the first of {frames} frames" if frames > 1 else "")
    fits = max(width, height) <= EDGE and len(data) <= BYTES
    if fits and picture.format in TAKEN and frames == 1 and picture.getexif().get(TURNED, 1) == 1:
        return f"{TAKEN[picture.format]} {facts}", data
    media, made, size = _made(picture)
    return f"{media} {facts}, shown as {media.removeprefix('image/').upper()} of {size[0]} × {size[1]}", made


def _as_it_is(data: bytes) -> tuple[str, bytes]:
    """Without Pillow: a picture that can be sent unchanged."""
    format = next((format for signature, format in SIGNATURES if data.startswith(signature)), None)
    if format is None or len(data) > BYTES:
        raise ModuleNotFoundError(name="pillow")
    return f"{TAKEN[format]} {format}", data


def _made(picture: "Image.Image") -> tuple[str, bytes, tuple[int, int]]:
    """Upright and small enough: PNG where it is, else JPEG, smaller and smaller."""
    from PIL import ImageOps

    upright = ImageOps.exif_transpose(picture)
    clear = "transparency" in upright.info or upright.mode in ("RGBA", "LA", "PA")
    upright = upright.convert("RGBA" if clear else "RGB")
    upright.thumbnail((EDGE, EDGE))
    if picture.format != "JPEG":
        png = _saved(upright, "PNG")
        if len(png) <= BYTES:
            return "image/png", png, upright.size
    if clear:
        from PIL import Image

        flat = Image.new("RGB", upright.size, "white")
        flat.paste(upright, mask=upright.getchannel("A"))
        upright = flat
    while True:
        for quality in QUALITIES:
            jpeg = _saved(upright, "JPEG", quality)
            if len(jpeg) <= BYTES:
                return "image/jpeg", jpeg, upright.size
        upright = upright.resize((max(1, upright.width // 2), max(1, upright.height // 2)))


def _saved(picture: "Image.Image", format: str, quality: int = 0) -> bytes:
    out = io.BytesIO()
    picture.save(out, format, **({"quality": quality} if quality else {}))
    return out.getvalue()
