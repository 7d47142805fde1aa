"""AVIF files: image data stays byte for byte, with its orientation; metadata is overwritten with zeros."""

from __future__ import annotations

import struct
from io import BytesIO

import pytest
from PIL import Image, ImageCms

from media.containers import zero_avif_metadata
from media.images import clean, normalize_orientation
from proofroom.core.errors import RuleViolation
from tests.media.pictures import encoded, moving
from tests.media.test_cleaned import ORIENTATIONS, SECRET, camera, pixel, scene


def box(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I4s", 8 + len(body), kind) + body


def picture_data(content: bytes) -> bytes:
    return content[content.index(b"mdat") :]


@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_a_picture_stays_turned_and_is_not_encoded_again(orientation):
    back = ORIENTATIONS[orientation]
    held = scene() if back is None else scene().transpose(back)
    content = encoded(held, "AVIF", exif=camera(orientation), quality=95)
    assert SECRET.encode() in content

    made = clean(content, max_pixels=10_000)

    assert len(made.content) == len(content)
    assert SECRET.encode() not in made.content
    assert (made.width, made.height) == (96, 64)
    plain = encoded(held, "AVIF", quality=95)
    assert picture_data(plain)[4:] in made.content
    shown = normalize_orientation(Image.open(BytesIO(made.content)))
    assert shown.size == (96, 64)
    colours = [
        tuple(round(part / 255) for part in pixel(shown, at)[:3])
        for at in ((30, 16), (80, 16), (30, 48), (80, 48))
    ]
    assert colours == [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)]


def test_other_boxes_are_emptied():
    secret = SECRET.encode()
    content = encoded(scene(), "AVIF") + box(b"uuid", secret) + box(b"free", secret)

    made = clean(content, max_pixels=10_000)

    assert secret not in made.content
    assert len(made.content) == len(content)


def test_the_data_of_an_animation_is_gone_and_its_frames_stay():
    content = moving("AVIF", xmp=f"<x>{SECRET}</x>".encode(), exif=camera())
    assert SECRET.encode() in content

    made = clean(content, max_pixels=10_000)

    assert SECRET.encode() not in made.content
    found = Image.open(BytesIO(made.content))
    assert getattr(found, "n_frames", 1) == 3
    assert set(found.info) & {"exif", "xmp"} == set()


def test_what_its_colours_mean_stays():
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")).tobytes()
    content = encoded(scene(), "AVIF", icc_profile=profile)

    made = clean(content, max_pixels=10_000)

    assert Image.open(BytesIO(made.content)).info["icc_profile"] == profile


def item_file(count: int, extents: int) -> bytes:
    """Return a file whose metadata item has `extents` extents, repeated for `count` items, at the same offset."""
    items = b"".join(
        box(b"infe", struct.pack(">IHH4s", 2 << 24, number, 0, b"Exif")) for number in range(count)
    )
    place = struct.pack(">II", 0, 8) * extents
    lies = b"".join(struct.pack(">HHH", number, 0, extents) + place for number in range(count))
    inside = box(b"iinf", struct.pack(">IH", 0, count) + items)
    inside += box(b"iloc", struct.pack(">IHH", 0, 0x4400, count) + lies)
    return box(b"ftyp", b"avif\0\0\0\0") + box(b"meta", bytes(4) + inside)


@pytest.mark.parametrize(
    "content",
    [
        item_file(1, 1),
        item_file(200, 200) + box(b"mdat", bytes(100)),
        box(b"ftyp", b"avif") + b"\0\0\0\xffmeta",
        box(b"ftyp", b"avif") + b"\0\0\0\1mdat\0\0\0\0\0\0\0\1",
        box(b"ftyp", b"avif") + box(b"free", b"") * 20_000,
    ],
    ids=["outside-the-data", "too-many-places", "too-long", "no-length", "too-many-boxes"],
)
def test_a_file_that_leads_elsewhere_is_refused(content):
    with pytest.raises(ValueError, match=r"item|parts|box"):
        zero_avif_metadata(content)


def test_a_broken_file_is_damaged():
    content = encoded(scene(), "AVIF", exif=camera())
    with pytest.raises(RuleViolation) as caught:
        clean(content[: len(content) // 2], max_pixels=10_000)
    assert caught.value.code == "damaged_file"


def test_what_a_decoder_reads_is_encoded_anew():
    odd = encoded(scene(), "AVIF", exif=camera()) + b"\0\0\0\xffuuidsecret"

    cleaned = clean(odd, max_pixels=10_000)

    assert b"secret" not in cleaned.content
    assert Image.open(BytesIO(cleaned.content)).size == Image.open(BytesIO(odd)).size
