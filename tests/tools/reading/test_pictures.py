import base64
import io
import struct
import subprocess
import sys
import zlib

import pytest
from PIL import Image

from ferrule.types import messages
from ferrule.types.messages import Text
from ferrule.types.tools import ToolOutput
from tests.tools.bench import Bench

from . import documents


def picture(output: ToolOutput) -> tuple[str, messages.Image, Image.Image]:
    text, image = output.parts
    assert isinstance(text, Text)
    assert isinstance(image, messages.Image)
    return text.text, image, Image.open(io.BytesIO(base64.b64decode(image.data)))


@pytest.mark.parametrize(
    ("format", "media"), [("PNG", "image/png"), ("JPEG", "image/jpeg"), ("GIF", "image/gif"), ("WEBP", "image/webp")]
)
def test_a_picture_that_models_take_is_sent_as_it_is(bench: Bench, format: str, media: str) -> None:
    data = documents.image(format, (30, 20))
    (bench.root / "no-suffix").write_bytes(data)
    output = bench.call("read_file", path="no-suffix")
    assert output == ToolOutput(
        "ok",
        (Text(f"File: no-suffix\nImage: {format}, 30 × 20 pixels"), messages.Image(media, base64.b64encode(data).decode())),
    )


@pytest.mark.parametrize(
    ("format", "name", "mode"),
    [("BMP", "a.bmp", "RGB"), ("TIFF", "a", "RGBA"), ("ICO", "a.ico", "RGBA"), ("AVIF", "a.avif", "RGB")],
)
def test_other_formats_are_converted(bench: Bench, format: str, name: str, mode: str) -> None:
    (bench.root / name).write_bytes(documents.image(format, (32, 32), mode))
    said, image, shown = picture(bench.call("read_file", path=name))
    assert said == f"File: {name}\nImage: {format}, 32 × 32 pixels, shown as PNG of 32 × 32"
    assert (image.media_type, shown.format, shown.size, shown.mode) == ("image/png", "PNG", (32, 32), mode)


def test_a_large_picture_is_scaled_down(bench: Bench) -> None:
    (bench.root / "a.png").write_bytes(documents.image("PNG", (4_000, 1_000), "L"))
    said, _, shown = picture(bench.call("read_file", path="a.png"))
    assert said == "File: a.png\nImage: PNG, 4000 × 1000 pixels, shown as PNG of 1568 × 392"
    assert shown.size == (1_568, 392)


@pytest.mark.parametrize("mode", ["RGB", "RGBA"])
def test_a_picture_that_takes_too_many_bytes_becomes_a_jpeg(bench: Bench, mode: str) -> None:
    data = documents.image("PNG", (1_200, 1_200), mode, noise=True)
    assert len(data) > 4_000_000
    (bench.root / "a.png").write_bytes(data)
    said, image, shown = picture(bench.call("read_file", path="a.png"))
    assert said.endswith(f", shown as JPEG of {shown.width} × {shown.height}")
    assert (image.media_type, shown.format) == ("image/jpeg", "JPEG")
    assert len(base64.b64decode(image.data)) <= 1_500_000


def test_colours_of_a_palette_are_scaled_smoothly(bench: Bench) -> None:
    stripes = Image.new("RGB", (4_000, 40), "white")
    stripes.paste("black", (0, 0, 4_000, 21))
    stripes.convert("P", palette=Image.Palette.ADAPTIVE, colors=2).save(bench.root / "a.png")
    _, _, shown = picture(bench.call("read_file", path="a.png"))
    column = {shown.getpixel((9, at)) for at in range(shown.height)}
    assert shown.mode == "RGB"
    assert column > {(0, 0, 0), (255, 255, 255)}


def test_a_picture_is_turned_upright(bench: Bench) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    (bench.root / "a.jpg").write_bytes(documents.image("JPEG", (40, 20), exif=exif.tobytes()))
    said, _, shown = picture(bench.call("read_file", path="a.jpg"))
    assert said == "File: a.jpg\nImage: JPEG, 40 × 20 pixels, shown as JPEG of 20 × 40"
    assert shown.size == (20, 40)


def test_of_an_animation_the_first_frame_is_shown(bench: Bench) -> None:
    frames = [Image.new("RGB", (20, 20), color) for color in ("red", "green", "blue")]
    frames[0].save(bench.root / "a.gif", save_all=True, append_images=frames[1:], duration=10)
    said, image, _ = picture(bench.call("read_file", path="a.gif"))
    assert said == "File: a.gif\nImage: GIF, 20 × 20 pixels, the first of 3 frames, shown as PNG of 20 × 20"
    assert image.media_type == "image/png"


def png_of(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(b"\0" * 1_000)) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (png_of(60_000, 60_000), "it has more than 100,000,000 pixels"),
        (b"\x89PNG\r\n\x1a\nnothing", "its format is not known"),
        (png_of(3_000, 3_000), "image file is truncated"),
    ],
    ids=["huge", "unknown", "truncated"],
)
def test_a_picture_that_cannot_be_shown_says_why(bench: Bench, data: bytes, reason: str) -> None:
    (bench.root / "a.png").write_bytes(data)
    assert bench.refusal("read_file", path="a.png").startswith(f"Cannot read a.png: {reason}")


def test_a_drawing_in_text_is_text(bench: Bench) -> None:
    (bench.root / "a.svg").write_text("<svg/>\n")
    assert bench.text("read_file", path="a.svg") == "File: a.svg\n1 | <svg/>"


@pytest.mark.parametrize(
    ("format", "told"),
    [
        ("PNG", b'{"facts":"image/png PNG","error":""}'),
        ("TIFF", b'{"facts":"","error":"it takes the Python package pillow; install ferrule with the extra `docs`"}'),
    ],
)
def test_without_pillow_only_what_needs_no_change_is_sent(bench: Bench, format: str, told: bytes) -> None:
    (bench.root / "a").write_bytes(documents.image(format, (30, 20)))
    program = "import sys; sys.modules['PIL'] = None; from ferrule.workspace.reading.child import child; child()"
    argv = [sys.executable, "-I", "-c", program, "image", str(bench.root / "a"), "0"]
    assert subprocess.run(argv, capture_output=True, check=True, timeout=50).stdout.split(b"\n")[0] == told
