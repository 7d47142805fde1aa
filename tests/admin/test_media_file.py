"""The admin pages of one file."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from PIL import Image

from content.models import Post
from media.models import Asset, FileCheck, MediaReference, VariantWork
from media.services.update import update_asset
from tests import make
from tests.admin.pages import fields
from tests.conftest import RunOnCommit
from tests.media.pictures import moving, on_disk, picture, store

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]


def at(asset: Asset, page: str = "change") -> str:
    return f"/admin/media/asset/{asset.pk}/{page}/"


def text(answer: Any) -> str:
    return str(answer.content.decode())


def png(size: tuple[int, int]) -> SimpleUploadedFile:
    out = io.BytesIO()
    Image.new("RGB", size, "teal").save(out, "PNG")
    return SimpleUploadedFile("new.png", out.getvalue(), "image/png")


def test_the_page_has_every_size_with_its_pixels_and_bytes(signed_in: SignedIn) -> None:
    asset = store(picture("PNG", (1000, 500)))

    page = text(signed_in().get(at(asset)))

    for name, pixels in {
        "large": "1000 × 500",
        "medium": "800 × 400",
        "small": "400 × 200",
    }.items():
        assert f'<a href="/media/{asset.variants[name]}">{name}</a></td><td>{pixels}</td>' in page
    assert "data-waiting" not in page
    assert "Generate dark versions" in page
    assert "Not used anywhere." in page


def test_a_size_that_is_missing_is_said(signed_in: SignedIn, settings: Any) -> None:
    asset = store(picture("PNG", (50, 50)))
    (settings.MEDIA_ROOT / asset.variants["small"]).unlink()

    assert "<strong>missing</strong>" in text(signed_in().get(at(asset)))


@pytest.mark.usefixtures("variants_later")
def test_a_file_without_sizes_says_that_they_are_made(signed_in: SignedIn) -> None:
    asset = store(picture("PNG", (50, 50)))
    client = signed_in()

    assert "Generating sizes…" in text(client.get(at(asset)))

    Asset.objects.update(status="failed")
    VariantWork.objects.update(is_given_up=True, reason="<b>It is broken</b>")
    page = text(client.get(at(asset)))
    assert "data-waiting" not in page
    assert "The sizes could not be generated." in page
    assert "&lt;b&gt;It is broken&lt;/b&gt;" in page


def test_the_focal_point_and_words_are_kept_without_script(signed_in: SignedIn) -> None:
    asset, client = store(picture("PNG", (50, 50))), signed_in()
    words = {"alt_text": "A wall", "description": "By hand\r\nin 2026", "categories": "walls"}

    answer = client.post(at(asset), {**words, "focal_x": "25", "focal_y": "66.6"})

    assert answer.status_code == 302
    asset.refresh_from_db()
    assert (asset.focal_x, asset.focal_y) == (0.25, 0.666)
    assert (asset.alt_text, asset.description) == ("A wall", "By hand\nin 2026")
    shown = fields(client.get(at(asset)), "focal_x")
    assert (shown["focal_x"], shown["focal_y"]) == (["25.0"], ["66.6"])

    client.post(at(asset), {**words, "focal_x": "", "focal_y": ""})
    asset.refresh_from_db()
    assert (asset.focal_x, asset.focal_y) == (None, None)


def test_words_in_each_language_and_decoration_are_kept(signed_in: SignedIn) -> None:
    asset, client = store(picture("PNG", (50, 50)), alt_text="A wall"), signed_in()

    client.post(at(asset), {"alt_text": "A wall", "alt_de": "Eine Mauer", "categories": ""})
    asset.refresh_from_db()
    assert (asset.alt_text, asset.alt_texts) == ("A wall", {"de": "Eine Mauer"})
    client.post(at(asset), {"alt_text": "A wall", "is_decorative": "decoration"})
    asset.refresh_from_db()
    assert (asset.is_decorative, asset.alt_texts) == (True, {"de": "Eine Mauer"})
    client.post(at(asset), {"alt_text": "A wall", "alt_de": "", "is_decorative": "words"})
    asset.refresh_from_db()
    assert (asset.is_decorative, asset.alt_texts) == (False, {})

    assert client.post(at(asset), {"alt_de": "x" * 501}).status_code == 422


@pytest.mark.parametrize(
    ("x", "y"), [("101", "0"), ("-1", "5"), ("nan", "5"), ("5", ""), ("x", "5"), ("1e400", "5")]
)
def test_a_focal_point_error_is_shown_at_its_field(signed_in: SignedIn, x: str, y: str) -> None:
    asset = store(picture("PNG", (50, 50)), alt_text="Before")

    answer = signed_in().post(at(asset), {"alt_text": "After", "focal_x": x, "focal_y": y})

    assert answer.status_code == 422
    assert 'id="id_focal_x_error"' in text(answer)
    asset.refresh_from_db()
    assert (asset.alt_text, asset.focal_x) == ("Before", None)


def test_a_file_is_replaced(signed_in: SignedIn) -> None:
    asset, client = store(picture("PNG", (50, 50)), "old.png", alt_text="A wall"), signed_in()

    answer = client.post(at(asset, "replace"), {"file": png((30, 10))})

    assert answer.headers["Location"] == at(asset)
    asset.refresh_from_db()
    assert (asset.filename, asset.width, asset.alt_text) == ("new.png", 30, "A wall")
    assert client.get(at(asset, "replace")).headers["Location"] == at(asset)


def test_a_file_that_is_refused_is_said_at_its_field(signed_in: SignedIn) -> None:
    asset = store(picture("PNG", (50, 50)), "old.png")

    answer = signed_in().post(
        at(asset, "replace"), {"file": SimpleUploadedFile("x.png", b"<svg/>", "image/png")}
    )

    assert answer.status_code == 422
    assert "This file is not a valid JPEG" in text(answer)
    assert 'name="alt_text"' in text(answer)
    asset.refresh_from_db()
    assert asset.filename == "old.png"


def test_dark_sizes_are_asked_for(signed_in: SignedIn) -> None:
    asset, client = store(picture("PNG", (50, 50))), signed_in()

    assert client.post(at(asset, "variants"), {"theme": "dark"}).headers["Location"] == at(asset)

    asset.refresh_from_db()
    assert set(asset.dark_variants) == {"large", "medium", "small"}
    page = text(client.get(at(asset)))
    assert page.count("<td>Dark</td>") == 3
    assert "Regenerate dark versions" in page
    assert client.get(at(asset, "variants")).status_code == 405
    answer = client.post(at(asset, "variants"), {"theme": "blue"}, follow=True)
    assert "must be one of light, dark." in text(answer)


def used(asset: Asset) -> None:
    make.post(title="Walls of the city", featuredMediaId=str(asset.pk))
    assert MediaReference.objects.filter(asset=asset).exists()


def test_deleting_asks_and_says_where_it_is_used(
    signed_in: SignedIn, run_on_commit: RunOnCommit
) -> None:
    asset, client = store(picture("PNG", (50, 50))), signed_in()
    used(asset)

    page = text(client.get(at(asset, "delete")))
    assert "The file is in use in one place:" in page
    assert f'<a href="/admin/content/post/{Post.objects.get().pk}/change/">' in page
    assert "Walls of the city (English), live: featured media</a>" in page
    answer = client.post(at(asset, "delete"))
    assert answer.status_code == 422
    assert Asset.objects.exists()

    with run_on_commit():
        answer = client.post(at(asset, "delete"), {"force": "on"})
    assert answer.headers["Location"] == "/admin/media/asset/"
    assert not Asset.objects.exists()
    assert on_disk() == []


def test_a_file_that_nothing_uses_is_deleted_after_one_question(signed_in: SignedIn) -> None:
    asset, client = store(picture("PNG", (50, 50))), signed_in()

    page = text(client.get(at(asset, "delete")))
    assert "It is not used anywhere." in page
    assert 'name="force"' not in page
    assert client.post(at(asset, "delete")).status_code == 302
    assert not Asset.objects.exists()


@pytest.mark.parametrize("page", ["replace", "variants", "delete", "crop", "describe"])
def test_a_translator_changes_nothing(signed_in: SignedIn, page: str) -> None:
    asset, client = store(picture("PNG", (50, 50))), signed_in("translator")
    files = sorted(on_disk())

    sent = {"file": png((9, 9)), "theme": "dark", "force": "on"}
    assert client.post(at(asset, page), sent).status_code == 403

    asset.refresh_from_db()
    assert (asset.filename, asset.dark_variants) == ("a.jpg", {})
    assert sorted(on_disk()) == files
    shown = text(client.get(at(asset))).partition('class="file-page"')[2].partition("<footer")[0]
    assert "Used in" in shown
    assert "<button" not in shown


def test_the_check_of_files_is_asked_for_and_shown(
    signed_in: SignedIn, run_on_commit: RunOnCommit, settings: Any
) -> None:
    asset, client = store(picture("PNG", (50, 50))), signed_in()
    (settings.MEDIA_ROOT / asset.variants["small"]).unlink()
    (settings.MEDIA_ROOT / "<b>.jpg").write_bytes(b"x")
    address = "/admin/media/asset/check/"

    with run_on_commit():
        assert client.post(address).headers["Location"] == address
        assert "Checking files…" in text(client.get(address))

    page = text(client.get(address))
    assert "1 file is missing" in page
    assert f'<a href="{at(asset)}#sizes"><bdi>a.jpg</bdi></a>' in page
    assert asset.variants["small"] in page
    assert "&lt;b&gt;.jpg" in page
    assert signed_in("translator").post(address).status_code == 403
    assert FileCheck.objects.filter(finished_at__lte=timezone.now()).count() == 1


def test_lost_sizes_are_made_again_and_a_lost_file_is_said(
    signed_in: SignedIn, run_on_commit: RunOnCommit, settings: Any
) -> None:
    asset, lost = store(picture("PNG", (50, 50))), store(picture("PNG", (60, 50)), "lost.png")
    small = settings.MEDIA_ROOT / asset.variants["small"]
    small.unlink()
    (settings.MEDIA_ROOT / str(lost.file.name)).unlink()
    client, address = signed_in(), "/admin/media/asset/check/"
    with run_on_commit():
        client.post(address)
    page = text(client.get(address))
    assert "Original file missing" in page
    assert f'href="{at(lost)}#replace"' in page

    with run_on_commit():
        answer = client.post(address, {"repair": "1"}, follow=True)

    assert "Generating sizes for 1 file." in text(answer)
    assert small.exists()
    assert signed_in("translator").post(address, {"repair": "1"}).status_code == 403


def crop(client: Client, asset: Asset, *parts: str, **more: str) -> Any:
    names = ("left", "top", "width", "height")
    sent = {f"crop-{name}": part for name, part in zip(names, parts, strict=True)}
    return client.post(at(asset, "crop"), {**sent, **more})


def test_a_part_becomes_a_new_file_with_the_words_of_the_whole(signed_in: SignedIn) -> None:
    whole, client = store(picture("PNG", (100, 50)), "wall.png", alt_text="A wall"), signed_in()
    update_asset(
        asset_id=whole.pk,
        actor=make.actor(),
        alt_texts={"de": "Eine Mauer"},
        focal_point=(0.75, 0.5),
    )

    answer = crop(client, whole, "50", "0", "50", "100")

    made = Asset.objects.exclude(pk=whole.pk).get()
    assert answer["Location"] == at(made)
    assert (made.filename, made.width, made.height) == ("wall-cropped.png", 50, 50)
    assert (made.alt_text, made.alt_texts) == ("A wall", {"de": "Eine Mauer"})
    assert (made.focal_x, made.focal_y) == (0.5, 0.5)
    with Image.open(made.file) as image:
        assert image.convert("RGB").getpixel((5, 5)) == (0, 0, 255)
    whole.refresh_from_db()
    assert (whole.width, whole.focal_x) == (100, 0.75)


def test_a_part_takes_the_place_of_the_whole(signed_in: SignedIn) -> None:
    asset, client = store(picture("JPEG", (100, 50)), "wall.jpeg", alt_text="A wall"), signed_in()

    answer = crop(client, asset, "0", "0", "50", "100", in_place="1")

    assert answer["Location"] == at(asset)
    asset.refresh_from_db()
    assert (asset.filename, asset.width, asset.alt_text) == ("wall.jpg", 50, "A wall")
    assert client.get(at(asset, "crop"))["Location"] == at(asset)


@pytest.mark.parametrize(
    "parts",
    [
        ("0", "0", "100", "100"),
        ("100", "0", "50", "50"),
        ("0", "0", "0", "50"),
        ("x", "0", "50", "50"),
        ("nan", "0", "50", "50"),
        ("0", "0", "1e400", "50"),
        ("", "", "", ""),
    ],
)
def test_a_part_that_is_none_is_refused(signed_in: SignedIn, parts: tuple[str, ...]) -> None:
    asset = store(picture("PNG", (50, 50)))
    before = sorted(on_disk())

    answer = crop(signed_in(), asset, *parts, in_place="1")

    assert answer.status_code == 422
    assert sorted(on_disk()) == before
    assert Asset.objects.get().width == 50


def test_an_animation_and_a_document_are_not_cropped(signed_in: SignedIn) -> None:
    for made in (store(moving("GIF")), store(b"%PDF-1.7 x %%EOF", "a.pdf")):
        assert crop(signed_in(), made, "0", "0", "50", "50").status_code == 422
    assert Asset.objects.count() == 2


def test_the_list_leads_to_the_check(signed_in: SignedIn) -> None:
    link = 'href="/admin/media/asset/check/"'

    assert link in text(signed_in().get("/admin/media/asset/"))
    assert link not in text(signed_in("translator").get("/admin/media/asset/"))
