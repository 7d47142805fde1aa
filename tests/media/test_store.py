"""Files become assets by their content, or leave nothing."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from PIL import Image

from media import images
from media.models import Asset
from media.presenters import present_asset, site_image
from media.queries import list_assets
from media.services.files import DuplicateFile
from proofroom.core.errors import NotAllowed
from tests import make
from tests.media.pictures import on_disk, opened, picture, refused, store

pytestmark = pytest.mark.django_db


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


def test_a_pdf_is_stored_unchanged():
    asset = store(b"%PDF-1.7\n...\n%%EOF\n", "Plan.pdf")

    assert (asset.mime, asset.variants, asset.width) == ("application/pdf", {}, None)
    assert site_image(asset) is None


def test_a_truncated_pdf_is_refused():
    # An early mark of the end is that of a first part, not of the file.
    refused(b"%PDF-1.7\n%%EOF\n" + b"1 0 obj <<>> endobj\n" * 400, "damaged_file")


def test_words_are_checked_before_anything_is_written():
    refused(b"", "invalid")
    refused(picture(size=(40, 20)), "invalid", alt_text="x" * 501)
    refused(picture(size=(40, 20)), "invalid", categories=["x" * 61])
    assert store(picture(size=(40, 20)), "../../etc/pass\x00wd").filename == "passwd"


@pytest.mark.usefixtures("variants_later")
def test_a_row_that_cannot_be_written_leaves_no_file(monkeypatch):
    def fail(*arguments, **more):
        raise RuntimeError("the outbox is gone")

    monkeypatch.setattr("media.services.files.outbox.record", fail)

    with pytest.raises(RuntimeError):
        store(picture(size=(40, 20)))

    assert on_disk() == []
    assert not Asset.objects.exists()


def test_who_may_not_upload_leaves_nothing():
    with pytest.raises(NotAllowed):
        store(picture(size=(40, 20)), actor=make.actor("translator"))

    assert on_disk() == []


def test_the_wire_has_the_names_of_the_table():
    asset = store(picture(size=(40, 20)), "a.jpg", alt_text="Red and blue", categories=["tests"])

    shown = present_asset(asset)

    assert shown["url"] == f"/media/{asset.file.name}"
    assert shown["variants"] == {size: f"/media/{path}" for size, path in asset.variants.items()}
    assert set(shown["variants"]) == {"large", "medium", "small"}
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


def test_listing_by_category_and_words():
    one = store(
        picture(size=(40, 20)), "kettle.jpg", alt_text="Steam", categories=["Küche", "in use"]
    )
    two = store(
        picture(size=(40, 20)), "bike.jpg", alt_text="A kettle on a bike", categories=['say "x"']
    )

    someone = make.actor()
    assert list(list_assets(actor=someone)) == [two, one]
    assert list(list_assets(actor=someone, category="Küche")) == [one]
    assert list(list_assets(actor=someone, category='say "x"')) == [two]
    assert list(list_assets(actor=someone, category="use")) == []
    assert list(list_assets(actor=someone, search="kettle")) == [two, one]
    assert list(list_assets(actor=someone, search="kettle steam")) == [one]
    assert list(list_assets(actor=someone, search="100%")) == []


@pytest.mark.django_db(transaction=True)
def test_a_file_uploaded_twice_at_once_is_stored_once(monkeypatch: pytest.MonkeyPatch) -> None:
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
