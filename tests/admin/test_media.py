from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from PIL import Image

from media.models import Asset
from media.services.files import store_image
from media.services.update import update_asset
from proofroom.core.caching.content_version import content_version
from proofroom.core.errors import NotAllowed, NotFound, RuleViolation
from proofroom.core.models import Event
from tests import make
from tests.admin.pages import fields
from tests.contract.endpoint import NOBODY

pytestmark = pytest.mark.django_db

SignedIn = Callable[..., Client]

LIST = "/admin/media/asset/"


def picture() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (1200, 600), "teal").save(out, "JPEG")
    return out.getvalue()


def asset(**more: Any) -> Asset:
    given: dict[str, Any] = {"filename": "beans.jpg", "alt_text": "Beans", "categories": ["coffee"]}
    return store_image(file=io.BytesIO(picture()), actor=make.actor("editor"), **{**given, **more})


def address(of: Asset) -> str:
    return f"{LIST}{of.pk}/change/"


def upload(client: Client, content: bytes, **typed: str) -> Any:
    sent = {"file": SimpleUploadedFile("beans.jpg", content, "image/jpeg"), **typed}
    return client.post(f"{LIST}add/", sent)


def files() -> list[Path]:
    return [path for path in Path(settings.MEDIA_ROOT).rglob("*") if path.is_file()]


def test_an_image_is_uploaded_with_its_description(signed_in: SignedIn) -> None:
    client = signed_in()

    form = client.get(f"{LIST}add/").content.decode()
    answer = upload(client, picture(), alt_text="Beans", categories="coffee, beans,, coffee")

    assert 'enctype="multipart/form-data"' in form
    made = Asset.objects.get()
    assert answer.url == address(made)
    assert (made.filename, made.alt_text, made.categories) == (
        "beans.jpg",
        "Beans",
        ["coffee", "beans"],
    )
    assert made.uploaded_by == make.user("editor")
    assert Event.objects.get(name="media.uploaded").via == "admin"


@pytest.mark.parametrize(
    "content", [b"", b"no image", b"<svg xmlns='http://www.w3.org/2000/svg'/>"]
)
def test_what_is_no_image_leaves_nothing(signed_in: SignedIn, content: bytes) -> None:
    answer = upload(signed_in(), content)

    assert answer.status_code == 422
    assert 'id="id_file_error"' in answer.content.decode()
    assert not Asset.objects.exists()
    assert files() == []


def test_too_many_bytes_stand_at_the_file(signed_in: SignedIn, settings: Any) -> None:
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"media_max_bytes": 1000})

    answer = upload(signed_in(), picture())

    assert answer.status_code == 422
    assert "too large" in answer.content.decode()
    assert not Asset.objects.exists()


def test_the_list_shows_size_and_shape(signed_in: SignedIn) -> None:
    made = asset()
    Asset.objects.update(size=1_234_567)

    client = signed_in("translator")
    for look in ("", "?view=table"):
        page = client.get(f"{LIST}{look}").content.decode()

        assert "<h1>Media</h1>" in page
        assert "1200\u00a0×\u00a0600" in page
        assert "1.2\u00a0MB" in page
        assert f'<img src="/media/{made.variants["small"]}" alt="" loading="lazy"' in page
        assert f'href="{LIST}add/"' not in page.partition('id="content"')[2]
        assert 'class="bulk-bar"' not in page


def test_the_description_is_edited_and_caches_turn(signed_in: SignedIn) -> None:
    made, client = asset(), signed_in()
    sent = fields(client.get(address(made)), "alt_text")
    assert (sent["alt_text"], sent["categories"]) == (["Beans"], ["coffee"])
    before, on_disk = content_version(), files()

    answer = client.post(
        address(made), {"alt_text": "  Roasted  beans", "categories": "coffee, warm"}
    )

    assert answer.status_code == 302
    made.refresh_from_db()
    assert (made.alt_text, made.categories) == ("Roasted beans", ["coffee", "warm"])
    assert content_version() == before + 1
    assert Event.objects.get(name="media.updated").payload == {
        "changed": ["alt_text", "categories"],
        "filename": "beans.jpg",
        "id": str(made.pk),
    }
    assert files() == on_disk


def test_saving_untouched_changes_nothing() -> None:
    made, before = asset(), content_version()

    update_asset(
        asset_id=made.pk, alt_text="Beans", categories=["coffee"], actor=make.actor("editor")
    )

    assert content_version() == before
    assert not Event.objects.filter(name="media.updated").exists()


def test_invalid_values_are_reported_at_their_fields(signed_in: SignedIn) -> None:
    made = asset()

    answer = signed_in().post(address(made), {"alt_text": "x", "categories": "y" * 61})

    assert answer.status_code == 422
    assert 'id="id_categories_error"' in answer.content.decode()
    made.refresh_from_db()
    assert (made.alt_text, made.categories) == ("Beans", ["coffee"])


def test_a_translator_looks_and_changes_nothing(signed_in: SignedIn) -> None:
    made, client = asset(), signed_in("translator")
    on_disk = files()

    page = client.get(address(made)).content.decode()
    assert "<h1>Image</h1>" in page
    assert 'alt="Beans"' in page
    assert 'name="alt_text"' not in page
    assert client.get(f"{LIST}add/").status_code == 403
    assert upload(client, picture()).status_code == 403
    assert client.post(address(made), {"alt_text": "x"}).status_code == 403
    assert client.post(f"{LIST}{made.pk}/delete/", {"post": "yes"}).status_code == 403

    assert Asset.objects.get().alt_text == "Beans"
    assert files() == on_disk


@pytest.mark.parametrize("actor", ["translator", "ai_agent", "agent", "mcp"])
def test_the_service_refuses_who_may_not(actor: str) -> None:
    made = asset()
    by = {
        "translator": make.actor("translator"),
        "ai_agent": make.actor("ai_agent"),
        "agent": make.actor("admin", via="agent"),
        "mcp": make.mcp_actor("admin"),
    }[actor]

    with pytest.raises(NotAllowed):
        update_asset(asset_id=made.pk, alt_text="x", actor=by)

    made.refresh_from_db()
    assert made.alt_text == "Beans"


def test_what_is_given_changes_and_nothing_else() -> None:
    made = asset()

    update_asset(asset_id=made.pk, alt_text="New", actor=make.actor("editor"))
    with pytest.raises(RuleViolation):
        update_asset(asset_id=made.pk, alt_text="x" * 501, actor=make.actor("editor"))
    with pytest.raises(NotFound):
        update_asset(asset_id=uuid4(), alt_text="x", actor=make.actor("editor"))

    made.refresh_from_db()
    assert (made.alt_text, made.categories) == ("New", ["coffee"])


def test_a_document_has_no_picture(signed_in: SignedIn) -> None:
    made = store_image(
        file=io.BytesIO(b"%PDF-1.7 x %%EOF"), filename="a.pdf", actor=make.actor("editor")
    )
    client = signed_in()

    page = client.get(address(made)).content.decode()

    assert "<h1>File</h1>" in page
    assert "data-picture" not in page
    assert f'src="/media/{made.file.name}"' not in page
    assert "<img" not in client.get(LIST).content.decode().partition('id="content"')[2]


@pytest.mark.parametrize("bad", ["x", NOBODY, "_00"])
def test_a_file_that_is_not_there(signed_in: SignedIn, bad: str) -> None:
    assert signed_in().get(f"{LIST}{bad}/change/").status_code == 404


def test_a_hostile_name_is_only_text(signed_in: SignedIn) -> None:
    made = asset(filename="<script>alert(1)</script>.jpg", alt_text='"><script>')
    client = signed_in()

    for path in (LIST, address(made)):
        assert "<script>" not in client.get(path).content.decode()


def page_of(client: Client, made: Asset) -> dict[str, Any]:
    """Return the file's form data a browser would send."""
    return {
        name: values[0] for name, values in fields(client.get(address(made)), "alt_text").items()
    }


def test_two_who_describe_a_file_at_once_keep_both_their_words(signed_in: SignedIn) -> None:
    made, client = asset(), signed_in()
    first, second = page_of(client, made), page_of(client, made)

    client.post(address(made), {**first, "alt_text": "Green beans"})
    answer = client.post(
        address(made), {**second, "categories": "raw", "focal_x": 20, "focal_y": 0}
    )

    assert answer.status_code == 302
    made.refresh_from_db()
    assert (made.alt_text, made.categories, made.focal_x, made.focal_y) == (
        "Green beans",
        ["raw"],
        0.2,
        0.0,
    )


def test_what_another_wrote_in_the_same_field_is_not_lost_unseen(signed_in: SignedIn) -> None:
    made, client = asset(), signed_in()
    first, second = page_of(client, made), page_of(client, made)
    client.post(address(made), {**first, "alt_text": "Green beans"})

    refused = client.post(address(made), {**second, "alt_text": "Brown beans"})

    made.refresh_from_db()
    assert (refused.status_code, made.alt_text) == (422, "Green beans")
    assert "It is now “Green beans”" in refused.content.decode()
    again = {name: values[0] for name, values in fields(refused, "alt_text").items()}
    assert client.post(address(made), again).status_code == 302
    made.refresh_from_db()
    assert made.alt_text == "Brown beans"
