"""Refused files: a clear error, no file and no row."""

from __future__ import annotations

import struct

import pytest
from PIL import Image

from media.services import files as storing
from tests.media.pictures import (
    KINDS,
    chunk,
    encoded,
    grey_png,
    moving,
    on_disk,
    picture,
    refused,
    store,
)

pytestmark = pytest.mark.django_db
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
OTHERS = {
    "svg": SVG,
    "svg-with-prolog": b'<?xml version="1.0"?>\n<!-- x -->' + SVG,
    "html": b"<!doctype html><script>alert(1)</script>",
    "exe": b"MZ\x90\x00" + bytes(200),
    "words": b"just words",
    "tiff": b"II*\x00" + bytes(50),
    "bmp": b"BM" + bytes(60),
    "zip": b"PK\x03\x04" + bytes(60),
    "html-before-a-picture": b"<html><script>" + picture("PNG", (8, 8)),
    "svgz": b"\x1f\x8b\x08\x00" + bytes(60),
}


def limited(settings, **limits: int) -> None:
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update=limits)


@pytest.mark.parametrize("name", OTHERS)
def test_threat_34_other_kinds_are_refused_whatever_their_name(name):
    error = refused(OTHERS[name], "media_type", filename="photo.jpg")

    assert error.status == 422
    assert error.message == (
        "This file is not a valid JPEG, PNG, WebP, GIF, AVIF, PDF, MP4, WebM, MP3, Ogg or WAV."
    )
    assert error.details == {"file": [error.message]}


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "GIF"])
@pytest.mark.usefixtures("variants_later")
def test_threat_34_what_hangs_on_a_picture_is_cut_off(kind):
    hostile = b"<script>alert(1)</script>PK\x03\x04 MZ <?php system($_GET[0]); ?>"
    plain = picture(kind, (40, 20))

    asset = store(plain + hostile, "a.php.html")

    (kept,) = on_disk()
    assert b"script" not in kept.read_bytes()
    assert b"php" not in kept.read_bytes()
    assert kept.suffix == {"JPEG": ".jpg"}.get(kind, f".{kind.lower()}")
    assert asset.mime == f"image/{kind.lower()}"


@pytest.mark.parametrize("end", [0.1, 0.5, 0.9], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_a_truncated_image_is_refused(kind, end):
    noise = Image.effect_noise((160, 120), 80).convert("RGB")
    content = encoded(noise, kind)
    cut = content[: int(len(content) * end) if end > 0 else end]

    error = refused(cut, "damaged_file")

    assert error.details == {"file": ["The file is damaged and cannot be read."]}


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_an_animation_is_read_to_its_last_frame(kind):
    noise = [Image.effect_noise((60, 60), 80 + n).convert("RGB") for n in range(3)]
    content = encoded(noise[0], kind, save_all=True, append_images=noise[1:])

    refused(content[: int(len(content) * 0.9)], "damaged_file")


def test_damage_inside_is_found():
    content = bytearray(picture("PNG", (300, 300)))
    content[len(content) // 2] ^= 0xFF

    refused(bytes(content), "damaged_file")


@pytest.mark.parametrize("size", [(8000, 8000), (60000, 60000), (2**31 - 1, 2**31 - 1)], ids=str)
def test_threat_57_a_decompression_bomb_is_refused_before_it_is_decoded(size):
    header = struct.pack(">IIBBBBB", *size, 1, 0, 0, 0, 0)
    small = grey_png(8, 8)

    error = refused(small[:8] + chunk(b"IHDR", header) + small[33:], "too_many_pixels")

    assert error.message == "The image is too large: at most 50 megapixels are allowed."


@pytest.mark.parametrize("kind", ["WEBP", "AVIF", "GIF", "JPEG"])
def test_threat_57_every_kind_counts_its_pixels(kind, settings):
    limited(settings, media_max_pixels=9_999)

    refused(picture(kind, (100, 100)), "too_many_pixels")


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_threat_57_an_animation_counts_with_all_its_frames(kind, settings):
    limited(settings, media_max_pixels=10_000)
    colours = [(40 * n, 0, 0) for n in range(6)]

    refused(moving(kind, colours, (90, 90)), "too_many_pixels")


def test_threat_57_a_frame_that_is_larger_than_its_header_says(settings):
    limited(settings, media_max_pixels=10_000)
    content = bytearray(moving("GIF", size=(60, 60)))
    second = content.index(b",", content.index(b",") + 10)
    while content[second + 5 : second + 9] != struct.pack("<HH", 60, 60):
        second = content.index(b",", second + 1)
    content[second + 5 : second + 9] = struct.pack("<HH", 6000, 6000)

    refused(bytes(content), "too_many_pixels")


def test_threat_57_too_many_frames_are_refused():
    colours = [(n % 256, n // 256 * 90, 0) for n in range(301)]

    refused(moving("GIF", colours, (2, 2)), "too_many_pixels")


@pytest.mark.usefixtures("variants_later")
def test_50_megapixels_are_accepted_and_51_refused():
    refused(grey_png(10_000, 5_100), "too_many_pixels")

    asset = store(grey_png(10_000, 5_000))

    assert (asset.width, asset.height, asset.status) == (10_000, 5_000, "processing")


def test_threat_57_no_more_is_read_than_is_allowed(settings):
    limited(settings, media_max_bytes=1000)
    asked = []

    class Endless:
        def read(self, size: int = -1) -> bytes:
            asked.append(size)
            return b"x" * size

    with pytest.raises(storing.TooLarge) as caught:
        storing.read_file(Endless())

    assert (caught.value.status, caught.value.code) == (413, "too_large")
    assert sum(asked) == 1001


@pytest.mark.usefixtures("variants_later")
def test_the_limit_of_bytes_is_exact(settings):
    content = picture("PNG", (40, 20))
    limited(settings, media_max_bytes=len(content) - 1)
    refused(content, "too_large")

    limited(settings, media_max_bytes=len(content))
    assert store(content).width == 40


def test_an_empty_file_is_refused():
    assert refused(b"", "invalid").message == "The file is empty."


NAMES = {
    "../../etc/passwd": "passwd",
    "..\\..\\windows\\system.ini": "system.ini",
    "/etc/shadow": "shadow",
    "C:\\a\\b.jpg": "b.jpg",
    "a\x00.php.jpg": "a.php.jpg",
    "photo\u202egpj.exe": "photogpj.exe",
    "line\r\nSet-Cookie: x.jpg": "lineSet-Cookie: x.jpg",
    "half \ud800.jpg": "half .jpg",
    "": "file",
    "..": "..",
    "///": "file",
    "x" * 5000 + ".jpeg": "x" * 250 + ".jpeg",
    "x" * 5000: "x" * 255,
}


@pytest.mark.parametrize(("given", "kept"), NAMES.items(), ids=range(len(NAMES)))
@pytest.mark.usefixtures("variants_later")
def test_threat_35_a_name_is_only_text(given, kept):
    asset = store(picture("PNG", (8, 8)), given)

    assert asset.filename == kept
    (file,) = on_disk()
    assert file.name == str(asset.file.name).rpartition("/")[2]
    assert file.suffix == ".png"
    assert len(file.stem) == 32


def test_threat_35_no_name_of_an_address_leaves_the_folder(client, settings, tmp_path):
    (tmp_path / "secret.txt").write_text("canary")
    settings.MEDIA_ROOT.mkdir()

    for name in ("../secret.txt", "..%2fsecret.txt", "%2e%2e/secret.txt", "x/../../secret.txt",
                 "a%00.jpg", "x" * 4000, "%5c..%5csecret.txt"):  # fmt: skip
        answer = client.get(f"/media/{name}")
        assert answer.status_code == 404, name
        assert b"canary" not in answer.content


def test_threat_34_a_picture_is_served_as_what_it_is_and_never_run(client):
    asset = store(picture("GIF", (8, 8)), "x.html")

    answer = client.get(f"/media/{asset.file.name}")

    assert answer["Content-Type"] == "image/gif"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in answer["Content-Security-Policy"]
