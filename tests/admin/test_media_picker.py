"""The file picker, and the requests of its script and the library's."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from media.models import Asset
from proofroom.core.models import Event
from tests import make
from tests.media.pictures import on_disk, picture, store
from tests.queries import count_queries

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
PICK = "/admin/media/asset/pick/"
UPLOAD = "/admin/media/asset/upload/"


def picks(client: Client, query: str = "") -> list[dict[str, Any]]:
    page = client.get(f"{PICK}{query}", headers={"X-Fragment": "1"}).content.decode()
    return [json.loads(unescape(found)) for found in re.findall(r'data-pick="([^"]+)"', page)]


def upload(client: Client, content: bytes, name: str = "a.png", **more: str) -> Any:
    return client.post(UPLOAD, {"file": SimpleUploadedFile(name, content), **more})


def test_a_fragment_has_the_files_as_scripts_know_them(signed_in: SignedIn) -> None:
    wall = store(picture("PNG", (50, 40)), "<b>.png", alt_text="A wall", categories=["walls"])
    store(b"%PDF-1.7 x %%EOF", "menu.pdf")
    client = signed_in("translator")

    assert [pick["title"] for pick in picks(client)] == ["menu.pdf", "<b>.png"]
    assert picks(client, "?kind=image&q=wall&category=walls&order=-size") == [
        {
            "id": str(wall.pk),
            "title": "<b>.png",
            "alt": "A wall",
            "thumbnail": f"/media/{wall.variants['small']}",
            "width": 50,
            "height": 40,
            "kind": "image",
            "address": f"/admin/media/asset/{wall.pk}/change/",
            "url": f"/media/{wall.file.name}",
            "status": "ready",
            "isDecorative": False,
            "facts": "PNG · 50\u00a0×\u00a040",
        }
    ]
    assert [pick["kind"] for pick in picks(client, "?kind=document")] == ["document"]
    assert picks(client, "?kind=image&q=nothing-like-it&page=99999999") == []
    whole = client.get(PICK).content.decode()
    assert "<html" in whole
    assert "data-pick=" not in whole
    fragment = client.get(PICK, headers={"X-Fragment": "1"}).content.decode()
    assert "<html" not in fragment
    assert "data-upload-input" not in fragment  # a translator uploads nothing


def test_pages_of_the_picker_follow_each_other_and_cost_the_same(signed_in: SignedIn) -> None:
    client, counts = signed_in(), []
    store(picture("PNG", (50, 40)), "first.png")
    one = Asset.objects.get()
    for number in range(2):
        client.get(PICK)
        counts.append(count_queries(client.get, PICK))
        said: dict[str, Any] = {"file": one.file.name, "size": 1, "mime": "image/png"}
        copies = [Asset(filename=f"{number}{at}.png", **said) for at in range(24)]
        Asset.objects.bulk_create(copies)
    assert counts[0] == counts[1]

    assert [len(picks(client, f"?page={page}")) for page in (1, 2, 3, 4)] == [24, 24, 1, 0]


def test_one_file_comes_and_the_same_again_only_if_it_is_wanted(signed_in: SignedIn) -> None:
    client, content = signed_in(), picture("PNG", (50, 40))

    first = upload(client, content, "wall.png", category="walls")
    again = upload(client, content, "copy.png")
    wanted = upload(client, content, "copy.png", again="1")

    made = Asset.objects.get(filename="wall.png")
    assert (first.status_code, first.json()["id"]) == (201, str(made.pk))
    assert made.categories == ["walls"]
    assert (again.status_code, again.json()["there"]["id"]) == (200, str(made.pk))
    assert again.json()["message"] == "Already in the library: wall.png."
    assert (wanted.status_code, Asset.objects.count()) == (201, 2)
    assert Event.objects.filter(name="media.uploaded").count() == 2


@pytest.mark.parametrize("content", [b"", b"<svg/>", b"GIF89a"])
def test_what_is_refused_says_why_and_leaves_nothing(signed_in: SignedIn, content: bytes) -> None:
    answer = upload(signed_in(), content)

    assert answer.status_code == 422
    assert answer.json()["message"]
    assert (Asset.objects.count(), on_disk()) == (0, [])


def test_a_file_that_is_too_large_none_and_two_are_refused(
    signed_in: SignedIn, settings: Any
) -> None:
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"media_max_bytes": 1000})
    client = signed_in()
    two = [SimpleUploadedFile(name, b"x") for name in ("a", "b")]

    assert upload(client, b"x" * 1001).status_code == 413
    assert client.post(UPLOAD).status_code == 422
    assert client.post(UPLOAD, {"file": two}).status_code == 422
    assert not Asset.objects.exists()


def test_the_words_of_a_file_are_kept_by_language(signed_in: SignedIn) -> None:
    asset, client = store(picture("PNG", (50, 40)), alt_text="A wall"), signed_in()
    address = f"/admin/media/asset/{asset.pk}/describe/"

    german = client.post(address, {"alt_text": "Eine Mauer", "language": "de"})
    unknown = client.post(address, {"alt_text": "Un mur", "language": "fr"})
    long = client.post(address, {"alt_text": "x" * 501})

    assert (german.status_code, german.json()["alt"]) == (200, "Eine Mauer")
    assert (unknown.status_code, long.status_code) == (422, 422)
    asset.refresh_from_db()
    assert (asset.alt_text, asset.alt_texts) == ("A wall", {"de": "Eine Mauer"})
    assert client.post(address, {"is_decorative": "1"}).json()["isDecorative"] is True
    missing = "/admin/media/asset/00000000-0000-4000-8000-000000000000/describe/"
    assert client.post(missing, {"alt_text": "x"}).status_code == 404


def test_states_name_what_is_there_and_nothing_else(signed_in: SignedIn) -> None:
    asset, client = store(picture("PNG", (50, 40))), signed_in()

    answer = client.get(f"/admin/media/asset/states/?ids={asset.pk},x,{make.post().pk}")

    assert {id_: found["status"] for id_, found in answer.json().items()} == {
        str(asset.pk): "ready"
    }


def test_a_translator_uploads_nothing(signed_in: SignedIn) -> None:
    assert upload(signed_in("translator"), picture("PNG", (50, 40))).status_code == 403
    assert (Asset.objects.count(), on_disk()) == (0, [])
