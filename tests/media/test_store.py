"""Files become assets by their content, or leave nothing."""

from __future__ import annotations

import struct
import zlib
from io import BytesIO
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from PIL import Image, ImageDraw

from media import images
from media.models import Asset
from media.presenters import present_asset, site_image
from media.queries import list_assets
from media.services.files import DuplicateFile, TooLarge, store_image
from proofroom.core.errors import NotAllowed, RuleViolation
from tests import make

pytestmark = pytest.mark.django_db


def picture(kind="JPEG", size=(2000, 1000), mode="RGB", **options) -> bytes:
    """Return an image with a red left and a blue right half."""
    image = Image.new(mode, size, "red")
    ImageDraw.Draw(image).rectangle((size[0] // 2, 0, *size), fill="blue")
    out = BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def store(content: bytes, filename="a.jpg", **more):
    return store_image(
        file=BytesIO(content), filename=filename, actor=more.pop("actor", make.actor()), **more
    )


def on_disk() -> list[Path]:
    return [path for path in Path(django_settings.MEDIA_ROOT).rglob("*") if path.is_file()]


def opened(name: str) -> Image.Image:
    return Image.open(Path(django_settings.MEDIA_ROOT) / name)


def refused(content: bytes, code: str, **more) -> RuleViolation:
    with pytest.raises(RuleViolation) as caught:
        store(content, **more)
    assert on_disk() == []
    assert not Asset.objects.exists()
    assert caught.value.code == code
    return caught.value


def test_an_image_has_variants_of_known_widths():
    asset = store(picture(), "Küche.JPG", alt_text=" A  kitchen ", categories=["food", "food", " "])

    assert (asset.mime, asset.width, asset.height) == ("image/jpeg", 2000, 1000)
    assert (asset.filename, asset.alt_text, asset.categories) == (
        "Küche.JPG",
        "A kitchen",
        ["food"],
    )
    sizes = {name: opened(path).size for name, path in asset.variants.items()}
    assert sizes == {"large": (1600, 800), "medium": (800, 400), "small": (400, 200)}
    assert {opened(path).format for path in asset.variants.values()} == {"WEBP"}
    assert len(on_disk()) == 4
    assert asset.size == (Path(django_settings.MEDIA_ROOT) / asset.file.name).stat().st_size
    assert "che" not in asset.file.name


def test_a_small_image_is_never_enlarged():
    asset = store(picture("PNG", (500, 250)))

    sizes = {name: opened(path).size for name, path in asset.variants.items()}
    assert sizes == {"large": (500, 250), "medium": (500, 250), "small": (400, 200)}


@pytest.mark.parametrize(
    ("kind", "mode", "mime"),
    [
        ("JPEG", "CMYK", "image/jpeg"), ("JPEG", "L", "image/jpeg"), ("PNG", "P", "image/png"),
        ("PNG", "RGBA", "image/png"), ("PNG", "1", "image/png"), ("WEBP", "RGBA", "image/webp"),
        ("GIF", "P", "image/gif"), ("AVIF", "RGB", "image/avif"),
    ],
)  # fmt: skip
def test_kinds_and_modes(kind, mode, mime):
    out = BytesIO()
    Image.new(mode, (60, 40)).save(out, kind)

    # The name is wrong: the content decides.
    asset = store(out.getvalue(), "document.pdf")

    assert asset.mime == mime
    assert opened(asset.variants["small"]).size == (60, 40)


def test_a_transparent_image_stays_so():
    out = BytesIO()
    Image.new("RGBA", (60, 40), (255, 0, 0, 0)).save(out, "PNG")

    asset = store(out.getvalue())

    for path in (asset.file.name, asset.variants["small"]):
        assert opened(path).convert("RGBA").getchannel("A").getextrema() == (0, 0)


def test_the_orientation_of_the_camera_is_applied_and_its_data_removed():
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by 90 degrees
    exif[0x010F] = "Maker of cameras"
    exif.get_ifd(0x8825)[1] = "N"  # a place
    content = picture(size=(200, 100), exif=exif, comment=b"private words")
    assert b"Maker of cameras" in content

    asset = store(content)

    assert (asset.width, asset.height) == (100, 200)
    for path in (asset.file.name, *asset.variants.values()):
        top = opened(path).convert("RGB").crop((40, 10, 60, 30))
        (red, _), (_, blue) = top.getchannel("R").getextrema(), top.getchannel("B").getextrema()
        assert red > 200 > 50 > blue, path  # what was left is now on top
        assert not opened(path).getexif()
    for file in on_disk():
        assert b"Maker of cameras" not in file.read_bytes()
        assert b"private words" not in file.read_bytes()


def test_an_animation_goes_on_moving():
    frames = [Image.new("RGB", (50, 50), colour) for colour in ("red", "green", "blue")]
    for kind in ("GIF", "WEBP"):
        out = BytesIO()
        frames[0].save(out, kind, save_all=True, append_images=frames[1:], duration=100)

        asset = store(out.getvalue())

        assert getattr(opened(asset.file.name), "n_frames", 1) == 3, kind
        assert getattr(opened(asset.variants["small"]), "n_frames", 1) == 3, kind


def test_a_pdf_is_kept_as_it_is():
    asset = store(b"%PDF-1.7\n...\n%%EOF\n", "Plan.pdf")

    assert (asset.mime, asset.variants, asset.width) == ("application/pdf", {}, None)
    assert site_image(asset) is None


SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


@pytest.mark.parametrize(
    "content",
    [
        SVG,
        b"<!doctype html><script>",
        b"MZ\x90\x00",
        b"just words",
        b"II*\x00" + b"\x00" * 50,
        b"BM" + b"\x00" * 60,
    ],
)
def test_other_kinds_are_refused_whatever_their_name(content):
    error = refused(content, "media_type", filename="photo.jpg")

    assert error.details["file"] == [error.message]


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "GIF", "AVIF"])
def test_a_truncated_image_is_refused(kind):
    content = picture(kind, (300, 300))

    with pytest.raises(RuleViolation):
        store(content[: len(content) // 2])

    assert on_disk() == []


def test_a_truncated_pdf_is_refused():
    # An early mark of the end is that of a first part, not of the file.
    refused(b"%PDF-1.7\n%%EOF\n" + b"1 0 obj <<>> endobj\n" * 400, "damaged_file")


def bomb(width: int, height: int) -> bytes:
    """Return a small PNG that declares many pixels."""

    def chunk(name: bytes, data: bytes) -> bytes:
        checksum = zlib.crc32(name + data)
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", checksum)

    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    pixels = zlib.compress(bytes(100_000))
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("size", [(8000, 8000), (60000, 60000), (2**31 - 1, 2**31 - 1)])
def test_a_decompression_bomb_is_refused_before_it_is_decoded(size):
    refused(bomb(*size), "too_many_pixels")


def test_an_animation_counts_with_all_its_frames(settings):
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"media_max_pixels": 10_000})
    frames = [Image.new("RGB", (90, 90), (40 * n, 0, 0)) for n in range(6)]
    out = BytesIO()
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:])

    refused(out.getvalue(), "too_many_pixels")


def test_the_limit_of_bytes(settings):
    content = picture()
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"media_max_bytes": len(content) - 1})

    with pytest.raises(TooLarge) as caught:
        store(content)
    assert caught.value.status == 413
    assert on_disk() == []

    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"media_max_bytes": len(content)})
    assert store(content).width == 2000


def test_words_are_checked_before_anything_is_written():
    refused(b"", "invalid")
    refused(picture(), "invalid", alt_text="x" * 501)
    refused(picture(), "invalid", categories=["x" * 61])
    assert store(picture(), "../../etc/pass\x00wd").filename == "passwd"


@pytest.mark.usefixtures("variants_later")
def test_a_row_that_cannot_be_written_leaves_no_file(monkeypatch):
    def fail(*arguments, **more):
        raise RuntimeError("the outbox is gone")

    monkeypatch.setattr("media.services.files.outbox.record", fail)

    with pytest.raises(RuntimeError):
        store(picture())

    assert on_disk() == []
    assert not Asset.objects.exists()


def test_who_may_not_upload_leaves_nothing():
    with pytest.raises(NotAllowed):
        store(picture(), actor=make.actor("translator"))

    assert on_disk() == []


def test_the_wire_has_the_names_of_the_table():
    asset = store(picture(), "a.jpg", alt_text="Red and blue", categories=["tests"])

    shown = present_asset(asset)

    assert shown["url"] == f"/media/{asset.file.name}"
    assert shown["variants"] == {size: f"/media/{path}" for size, path in asset.variants.items()}
    assert list(shown["variants"]) == ["large", "medium", "small"]
    assert (shown["alt_text"], shown["categories"], shown["mime"]) == (
        "Red and blue", ["tests"], "image/jpeg",
    )  # fmt: skip
    assert str(shown["createdAt"]).endswith("Z")


def test_a_page_gets_every_width_once():
    asset = store(picture("PNG", (500, 250)))
    asset.refresh_from_db()

    image = site_image(asset)
    assert image is not None

    small, large = asset.variants["small"], asset.variants["medium"]
    assert image["srcset"] == f"/media/{small} 400w, /media/{large} 500w"
    assert (image["width"], image["height"]) == (500, 250)


def test_the_file_is_served_and_never_run(client):
    asset = store(picture("PNG", (500, 250)))

    response = client.get(present_asset(asset)["url"])

    assert (response.status_code, response["Content-Type"]) == (200, "image/png")
    assert response["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in response["Content-Security-Policy"]


def test_listing_by_category_and_words():
    one = store(picture(), "kettle.jpg", alt_text="Steam", categories=["Küche", "in use"])
    two = store(picture(), "bike.jpg", alt_text="A kettle on a bike", categories=['say "x"'])

    someone = make.actor()
    assert list(list_assets(actor=someone)) == [two, one]
    assert list(list_assets(actor=someone, category="Küche")) == [one]
    assert list(list_assets(actor=someone, category='say "x"')) == [two]
    assert list(list_assets(actor=someone, category="use")) == []
    assert list(list_assets(actor=someone, search="kettle")) == [two, one]
    assert list(list_assets(actor=someone, search="kettle steam")) == [one]
    assert list(list_assets(actor=someone, search="100%")) == []


@pytest.mark.django_db(transaction=True)
def test_one_file_that_two_bring_at_once_is_kept_once(monkeypatch: pytest.MonkeyPatch) -> None:
    content = picture(size=(40, 20))
    first: list[Asset] = []

    def clean_while_another_stores(*args: object, **options: object) -> images.Cleaned:
        monkeypatch.setattr(images, "clean", clean)
        first.append(store(content, is_new_only=True))
        return clean(*args, **options)

    clean = images.clean
    monkeypatch.setattr(images, "clean", clean_while_another_stores)

    with pytest.raises(DuplicateFile) as refused:
        store(content, is_new_only=True)

    assert [refused.value.asset] == first == list(Asset.objects.all())
    assert len(on_disk()) == len([first[0].file, *first[0].variants])
