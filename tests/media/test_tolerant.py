"""Files a decoder can read completely are stored, however odd; only with their pixels."""

from __future__ import annotations

from io import BytesIO

import pytest
from PIL import Image, ImageChops

from media.containers import COPIERS
from media.images import frames_of
from tests.media.pictures import encoded, moving, on_disk, picture, refused, store

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("variants_later")]
NOTE = b"Written by Ada in Paris"


def frames(content: bytes) -> list[Image.Image]:
    image = Image.open(BytesIO(content))
    found = []
    for number in range(getattr(image, "n_frames", 1)):
        image.seek(number)
        found.append(image.convert("RGBA"))
    return found


def distance(one: Image.Image, other: Image.Image) -> int:
    """Return the maximum difference of color components."""
    assert one.size == other.size
    return max(ImageChops.difference(one.convert("RGB"), other.convert("RGB")).tobytes())


def jpeg_with(stray: bytes, before: bytes = b"\xff\xdb") -> bytes:
    content = encoded(Image.linear_gradient("L").convert("RGB"), "JPEG", comment=NOTE)
    at = content.index(before)
    return content[:at] + stray + content[at:]


def without_end(content: bytes) -> bytes:
    return content[:-12]


ODD = {
    "gif": picture("GIF", (60, 40), comment=NOTE)[:-1],
    "gif that moves": moving("GIF", comment=NOTE)[:-1],
    "jpeg with stray bytes": jpeg_with(b"\x00\x00\x00"),
    "jpeg with a stray letter": jpeg_with(b"x", b"\xff\xc4"),
    "png without its end": without_end(picture("PNG", (60, 40))),
    "png that moves": without_end(moving("PNG")),
}


@pytest.mark.parametrize("name", ODD)
def test_what_a_decoder_reads_is_stored_with_all_its_pixels(name: str) -> None:
    seen = frames(ODD[name])

    store(ODD[name])

    (kept,) = on_disk()
    stored = kept.read_bytes()
    assert NOTE not in stored
    assert [
        distance(one, other) <= 12 for one, other in zip(seen, frames(stored), strict=True)
    ] == ([True] * len(seen))
    image = Image.open(BytesIO(stored))
    # What is stored is a file without a fault.
    COPIERS[str(image.format)](stored)


def test_what_is_encoded_anew_keeps_its_times() -> None:
    store(without_end(moving("PNG", duration=[50, 120, 300], loop=2)))

    (kept,) = on_disk()
    image, times = Image.open(kept), []
    for number in range(frames_of(image)):
        image.seek(number)
        times.append(image.info["duration"])
    assert (times, image.info["loop"]) == ([50, 120, 300], 2)


def test_an_odd_file_counts_its_pixels_too(settings) -> None:
    limits = {"media_max_pixels": 2_000}
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update=limits)

    for name in ODD:
        refused(ODD[name], "too_many_pixels")


def test_the_pixels_of_an_odd_file_are_upright() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    content = encoded(Image.new("RGB", (40, 20), "red"), "JPEG", exif=exif)
    at = content.index(b"\xff\xdb")

    asset = store(content[:at] + b"\x00\x00" + content[at:])

    assert (asset.width, asset.height) == (20, 40)
