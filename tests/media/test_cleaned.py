"""Stored images: upright sRGB pixels without any metadata."""

from __future__ import annotations

from io import BytesIO

import pytest
from PIL import Image, ImageCms, ImageDraw, PngImagePlugin

from media.images import clean
from tests.media.pictures import chunk, encoded, moving, picture

SECRET = "Canary of the camera"
ORIENTATIONS = {
    1: None,
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_90,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_270,
}
"""The transformation by a camera for each orientation, with its inverse."""


def cleaned(content: bytes) -> Image.Image:
    return Image.open(BytesIO(clean(content, max_pixels=50_000_000).content))


def pixel(image: Image.Image, at: tuple[int, int]) -> tuple[int, ...]:
    found = image.getpixel(at)
    assert isinstance(found, tuple)
    return found


def scene() -> Image.Image:
    """Return red, green, blue and white quarters of different sizes, so that all orientations differ."""
    image = Image.new("RGB", (96, 64), "white")
    draw = ImageDraw.Draw(image)
    for box, colour in (
        ((0, 0, 63, 31), "red"),
        ((64, 0, 95, 31), "lime"),
        ((0, 32, 63, 63), "blue"),
    ):
        draw.rectangle(box, colour)
    return image


def camera(orientation: int = 1) -> Image.Exif:
    exif = Image.Exif()
    exif[0x0112] = orientation
    exif[0x010F] = SECRET
    exif.get_ifd(0x8825)[1] = "N"
    exif.get_ifd(0x8825)[2] = (52.0, 31.0, 12.0)
    return exif


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_a_picture_keeps_its_displayed_orientation(kind, orientation):
    back = ORIENTATIONS[orientation]
    held = scene() if back is None else scene().transpose(back)
    options = {"quality": 95} if kind == "JPEG" else {"lossless": True} if kind == "WEBP" else {}
    content = encoded(held, kind, exif=camera(orientation), **options)

    found = cleaned(content)

    assert found.size == (96, 64)
    assert not found.getexif()
    colours = {}
    for name, place in {
        "red": (30, 16),
        "lime": (80, 16),
        "blue": (30, 48),
        "white": (80, 48),
    }.items():
        colours[name] = tuple(round(part / 255) for part in found.convert("RGB").getpixel(place))
    assert colours == {"red": (1, 0, 0), "lime": (0, 1, 0), "blue": (0, 0, 1), "white": (1, 1, 1)}


def with_data(kind: str) -> bytes:
    """Return an image with all kinds of metadata about place and author."""
    image, xmp = scene(), f"<x:xmpmeta>{SECRET}</x:xmpmeta>".encode()
    if kind == "JPEG":
        content = encoded(image, kind, exif=camera(), xmp=xmp, comment=SECRET.encode())
        iptc = b"\xff\xed" + (2 + 14 + len(SECRET)).to_bytes(2, "big")
        return content[:2] + iptc + b"Photoshop 3.0\x00" + SECRET.encode() + content[2:]
    if kind == "PNG":
        info = PngImagePlugin.PngInfo()
        info.add_text("Author", SECRET)
        info.add_itxt("XML:com.adobe.xmp", SECRET)
        info.add_text("Comment", SECRET, zip=True)
        content = encoded(image, kind, exif=camera(), pnginfo=info)
        return content[:-12] + chunk(b"prVt", SECRET.encode()) + content[-12:]
    if kind == "GIF":
        return encoded(image, kind, comment=SECRET.encode())
    return encoded(image, kind, exif=camera(), xmp=xmp)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "GIF", "AVIF"])
def test_data_beside_the_pixels_is_gone(kind):
    content = with_data(kind)
    assert SECRET.encode() in content

    made = clean(content, max_pixels=10_000)

    assert SECRET.encode() not in made.content
    found = Image.open(BytesIO(made.content))
    found.load()
    assert not found.getexif()
    assert (
        set(found.info) & {"exif", "xmp", "comment", "icc_profile", "photoshop", "Author"} == set()
    )
    assert found.size == (96, 64)


def test_the_preview_inside_a_jpeg_is_gone():
    content = picture("JPEG", (40, 20))
    preview = b"\xff\xe0" + (2 + 5 + 2 + len(SECRET)).to_bytes(2, "big") + b"JFXX\x00\x11\x01"
    content = content[:20] + preview + SECRET.encode() + content[20:]

    assert SECRET.encode() not in clean(content, max_pixels=1000).content


def test_pictures_behind_the_first_one_are_gone():
    first, second = scene(), Image.new("RGB", (96, 64), "black")
    content = encoded(first, "MPO", save_all=True, append_images=[second])
    assert Image.open(BytesIO(content)).format == "MPO"

    made = clean(content, max_pixels=10_000)

    found = Image.open(BytesIO(made.content))
    assert (made.mime, found.format, getattr(found, "n_frames", 1)) == ("image/jpeg", "JPEG", 1)
    assert made.content.count(b"\xff\xd9") == 1


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "GIF", "WEBP"])
def test_what_needs_no_change_is_not_encoded_again(kind):
    options = {"lossless": True} if kind == "WEBP" else {}
    content = encoded(scene(), kind, **options)

    before, after = Image.open(BytesIO(content)), cleaned(content)

    assert after.convert("RGB").tobytes() == before.convert("RGB").tobytes()
    assert len(clean(content, max_pixels=10_000).content) <= len(content)


def test_a_cmyk_jpeg_becomes_rgb():
    content = encoded(Image.new("CMYK", (40, 20), (0, 255, 255, 0)), "JPEG", quality=95)

    found = cleaned(content)

    assert found.mode == "RGB"
    red, green, blue = pixel(found, (20, 10))
    assert red > 240
    assert max(green, blue) < 15


def test_grey_of_16_bits_keeps_its_shades():
    image = Image.new("I;16", (4, 1))
    for place, value in enumerate((0, 0x4000, 0x8000, 0xFFFF)):
        image.putpixel((place, 0), value)

    from media.images import normalize_orientation

    kept = cleaned(encoded(image, "PNG"))

    assert kept.mode == "I;16"  # as it was
    shown = normalize_orientation(kept)
    assert [shown.getpixel((place, 0))[0] for place in range(4)] == [0, 63, 127, 255]


def test_a_palette_stays_one_and_its_transparency_too():
    image = Image.new("P", (40, 20), 1)
    image.putpalette([255, 0, 0, 0, 0, 255])
    image.putpixel((0, 0), 0)

    found = cleaned(encoded(image, "PNG", transparency=0))

    assert found.mode == "P"
    assert found.convert("RGBA").getpixel((0, 0))[3] == 0
    assert found.convert("RGBA").getpixel((9, 9)) == (0, 0, 255, 255)


@pytest.mark.parametrize("kind", ["PNG", "WEBP", "AVIF", "GIF"])
def test_what_is_transparent_stays_so(kind):
    image = Image.new("RGBA", (40, 20), (255, 0, 0, 0))
    ImageDraw.Draw(image).rectangle((20, 0, 40, 20), (0, 0, 255, 255))

    alpha = cleaned(encoded(image, kind)).convert("RGBA").getchannel("A")

    assert (alpha.getpixel((5, 5)), alpha.getpixel((30, 10))) == (0, 255)


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG", "AVIF"])
def test_an_animation_goes_on_moving(kind):
    found = cleaned(moving(kind, ("red", "lime", "blue"), duration=120, loop=0))

    assert getattr(found, "n_frames", 1) == 3
    seen = []
    for frame in range(3):
        found.seek(frame)
        seen.append([round(part / 255) for part in found.convert("RGB").getpixel((25, 25))])
    assert seen == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert found.info["duration"] == 120


def swapped_profile() -> bytes:
    """Return a color profile with red and blue swapped."""
    plain = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    other = plain.replace(b"rXYZ", b"~XYZ").replace(b"bXYZ", b"rXYZ").replace(b"~XYZ", b"bXYZ")
    return other.replace("sRGB".encode("utf-16-be"), "swap".encode("utf-16-be"))


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_the_profile_of_another_colour_space_is_applied_and_left_out(kind):
    found = cleaned(encoded(scene(), kind, icc_profile=swapped_profile()))

    assert "icc_profile" not in found.info
    red, _, blue = pixel(found.convert("RGB"), (30, 16))
    assert (red < 30, blue > 225) == (True, True)


def test_a_transparent_picture_of_another_colour_space_stays_transparent():
    image = Image.new("RGBA", (8, 8), (255, 0, 0, 100))

    found = cleaned(encoded(image, "PNG", icc_profile=swapped_profile()))

    red, _, blue, alpha = pixel(found, (4, 4))
    assert (red < 30, blue > 225, alpha) == (True, True, 100)


@pytest.mark.parametrize("name", ["sRGB", "broken", "LAB"])
def test_a_profile_that_changes_nothing_or_cannot_be_read_is_left_out(name):
    profile = {
        "sRGB": ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes(),
        "broken": b"no profile",
        "LAB": ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")).tobytes(),
    }[name]

    found = cleaned(encoded(scene(), "PNG", icc_profile=profile))

    assert "icc_profile" not in found.info
    assert found.getpixel((30, 16)) == (255, 0, 0)
