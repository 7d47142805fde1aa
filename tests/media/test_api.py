"""Media over the API: hostile uploads leave nothing, lists filter and rank, permissions apply."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext

from content.models import Layer
from content.posts.trash import delete_post
from media.models import Asset, AssetStatus
from media.services.update import update_asset
from proofroom.accounts.models import ApiToken
from proofroom.accounts.services.tokens import create_token
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db
UPLOAD = "/api/media/upload"


def on_disk() -> list[Path]:
    return [path for path in Path(settings.MEDIA_ROOT).rglob("*") if path.is_file()]


def upload(fields: dict[str, Any], *, expect: int = 201, role: str = "editor") -> Any:
    response = ApiClient(role).send_form("POST", UPLOAD, fields)
    assert response.status_code == expect, (response.status_code, response.content)
    return response.json()


def said(of: Asset, **values: Any) -> Asset:
    return update_asset(asset_id=of.pk, actor=make.actor("editor"), **values)


def token(*permissions: str) -> tuple[ApiToken, str]:
    """Return an API token of the editor."""
    return create_token(
        actor=make.actor("admin"),
        name="ci",
        permissions=permissions,
        user_id=make.user("editor").pk,
    )


def names(query: str) -> list[str]:
    found = ApiClient("editor").read(f"/api/media{query}")
    assert found["meta"]["total"] == len(found["data"])
    return [row["filename"] for row in found["data"]]


def test_an_upload_answers_the_names_of_the_contract():
    found = upload({"file": make.picture((900, 300)), "altText": "A wall", "categories": "a, b"})

    asset = Asset.objects.get()
    stem = asset.file.name.rpartition(".")[0]
    assert found == {
        "id": str(asset.pk),
        "filename": "picture.png",
        "url": f"/media/{asset.file.name}",
        "size": asset.size,
        "mime": "image/png",
        "variants": {size: f"/media/{stem}-{size}.webp" for size in ("large", "medium", "small")},
        "darkVariants": {},
        "status": "processing",
        "alt_text": "A wall",
        "description": "",
        "categories": ["a", "b"],
        "width": 900,
        "height": 300,
        "duration": None,
        "poster": None,
        "captions": {},
        "focalPoint": None,
        "createdAt": found["createdAt"],
        "updatedAt": found["updatedAt"],
    }


@pytest.mark.parametrize(
    ("given", "expected"),
    [(["a", "b"], ["a", "b"]), ('["a, b", "c"]', ["a, b", "c"]), ("a,b , a", ["a", "b"]), ("", [])],
    ids=["repeated", "json", "commas", "empty"],
)
def test_categories_come_in_three_ways(given: Any, expected: list[str]):
    assert upload({"file": make.picture(), "categories": given})["categories"] == expected


@pytest.mark.parametrize(
    ("fields", "status", "field"),
    [
        ({}, 422, "file"),
        ({"file": [make.picture(), make.picture()]}, 422, "file"),
        ({"file": make.picture(), "other": make.picture()}, 422, "other"),
        ({"file": make.picture(), "alt_text": make.picture()}, 422, "alt_text"),
        ({"file": make.picture(), "status": "ready"}, 422, "status"),
        ({"file": make.picture(), "alt_text": "a" * 501}, 422, "alt_text"),
        ({"file": make.picture(), "alt_text": ["a", "b"]}, 422, "alt_text"),
        ({"file": make.picture(), "categories": "[1]"}, 422, "categories"),
        ({"file": make.picture(), "categories": "[" * 5000}, 422, "categories"),
        ({"file": make.picture(), "categories": ",".join(map(str, range(21)))}, 422, "categories"),
        ({"file": b"MZ not an image"}, 422, "file"),
        ({"file": b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>"}, 422, "file"),
        ({"file": make.picture()[:45]}, 422, "file"),
        ({"file": b""}, 422, "file"),
    ],
    ids=[
        "nothing", "two files", "file elsewhere", "alt text as file", "unknown",
        "long alt text", "two alt texts", "number as category", "deep categories",
        "many categories", "program", "svg", "cut off", "empty",
    ],
)  # fmt: skip
def test_what_does_not_fit_leaves_nothing(fields: dict[str, Any], status: int, field: str):
    parts = {
        name: [_part(one) for one in value] if isinstance(value, list) else value
        for name, value in fields.items()
    }
    answer = upload(parts, expect=status)

    assert list(answer["details"]) == [field]
    assert (Asset.objects.count(), on_disk()) == (0, [])


def _part(value: Any) -> Any:
    from django.core.files.uploadedfile import SimpleUploadedFile

    return SimpleUploadedFile("a.png", value) if isinstance(value, bytes) else value


@pytest.mark.parametrize(
    ("content_type", "body", "status"),
    [
        ("multipart/form-data", b"--x\r\n", 400),
        ("multipart/form-data; boundary=", b"--\r\n", 400),
        ("multipart/form-data; boundary=x", b"no boundary at all", 422),
        ("image/png", make.picture(), 415),
    ],
    ids=["no boundary", "empty boundary", "other boundary", "bare image"],
)
def test_bodies_that_are_no_form_are_refused(content_type: str, body: bytes, status: int):
    client = ApiClient("editor")

    response = client.generic("POST", UPLOAD, body, content_type=content_type, **client._headers())

    assert response.status_code == status, response.content
    assert set(response.json()) == {"error", "code", "details"}
    assert (Asset.objects.count(), on_disk()) == (0, [])


class _Unread:
    """A body that must not be read."""

    def read(self, *_: Any) -> bytes:
        raise AssertionError("the body was read")

    readline = read


def test_a_body_beyond_the_limit_is_refused_before_it_is_read():
    client = ApiClient("editor")
    length = settings.CMS_ENV.media_max_recording_bytes + 1024 * 1024

    response = client.generic(
        "POST",
        UPLOAD,
        b"",
        content_type="multipart/form-data; boundary=x",
        CONTENT_LENGTH=str(length),
        **{"wsgi.input": _Unread(), **client._headers()},
    )

    assert response.status_code == 413
    assert response.json()["code"] == "too_large"
    assert Asset.objects.count() == 0


def test_neither_a_token_of_an_agent_nor_one_without_the_right_uploads():
    agent = make.user("ai_agent")
    row, secret = token("media.view")
    bearer = {"HTTP_AUTHORIZATION": f"Bearer {secret}"}
    narrow = ApiClient().send_form("POST", UPLOAD, {"file": make.picture()}, **bearer)
    row.user, row.role, row.permissions = agent, agent.role, ["media.view", "media.upload"]
    row.save()

    refused = ApiClient().send_form("POST", UPLOAD, {"file": make.picture()}, **bearer)

    assert (narrow.status_code, refused.status_code in (401, 403)) == (403, True)
    assert (Asset.objects.count(), on_disk()) == (0, [])


def test_lists_filter_and_order():
    red = make.image("red.png", categories=["Walls", 'say "x"'])
    make.image("blue.png", categories=["walls"])
    Asset.objects.filter(pk=red.pk).update(status=AssetStatus.FAILED)
    make.post(featuredMediaId=str(red.pk))

    assert names("") == ["blue.png", "red.png"]
    assert names("?category=Walls") == ["red.png"]
    assert names("?category=all") == []
    assert names('?category=say "x"') == ["red.png"]
    assert names("?status=failed") == ["red.png"]
    assert names("?used=true") == ["red.png"]
    assert names("?used=false") == ["blue.png"]
    assert names("?mime=image") == names("?mime=image/png") == ["blue.png", "red.png"]
    assert names("?mime=application/pdf") == []
    assert names("?ordering=filename") == ["blue.png", "red.png"]
    assert names("?ordering=-filename") == ["red.png", "blue.png"]
    for bad in ("ordering=password", "mime=%00", "used=1", "search=" + "a" * 201, "category=%00"):
        found = ApiClient("editor").read(f"/api/media?{bad}", expect=422)
        assert list(found["details"]) == [bad.partition("=")[0]]


def test_words_are_ranked_by_where_they_stand():
    make.image("kettle-steam.png")
    make.image("1.png", categories=["kettle"])
    said(make.image("2.png"), description="A kettle on the stove")
    said(make.image("3.png"), alt_text="Der Kettle, größer")
    make.image("4.png")

    assert names("?search=kettle") == ["3.png", "2.png", "kettle-steam.png", "1.png"]
    assert sorted(names("?search=kett")) == ["1.png", "2.png", "3.png", "kettle-steam.png"]
    assert names("?search=steam kettle") == ["kettle-steam.png"]
    assert names("?search=groesser") in ([], ["3.png"])
    assert names("?search=nothing") == []
    said(Asset.objects.get(filename="3.png"), alt_text="A wall")
    assert names("?search=kettle") == ["2.png", "kettle-steam.png", "1.png"]
    Asset.objects.get(filename="2.png").delete()
    assert names("?search=kettle") == ["kettle-steam.png", "1.png"]


def test_categories_have_their_counts():
    make.image("a.png", categories=["b", "a"])
    make.image("b.png", categories=["b"])

    found = ApiClient("translator").read("/api/media/categories?per_page=1")

    assert found["data"] == [{"name": "a", "count": 1}]
    assert found["meta"]["total"] == 2
    assert ApiClient("editor").read("/api/media/categories?page=2&per_page=1")["data"] == [
        {"name": "b", "count": 2}
    ]


def test_what_was_read_can_be_put_back():
    asset = make.image(alt_text="A wall")
    client = ApiClient("editor")
    read = client.read(f"/api/media/{asset.pk}")

    changed = client.write("PATCH", f"/api/media/{asset.pk}", {**read, "alt_text": "Another"})
    also = client.write("PATCH", f"/api/media/{asset.pk}", {"altText": "A third"})
    client.write("PATCH", f"/api/media/{asset.pk}", {"focalPoint": {"x": 1, "y": 0.25}})

    assert (changed["alt_text"], also["alt_text"]) == ("Another", "A third")
    assert client.read(f"/api/media/{asset.pk}")["focalPoint"] == {"x": 1.0, "y": 0.25}
    cleared = client.write("PATCH", f"/api/media/{asset.pk}", {"focalPoint": None})
    assert cleared["focalPoint"] is None
    refused = client.write("PATCH", f"/api/media/{asset.pk}", {"file": "x"}, expect=422)
    assert list(refused["details"]) == ["file"]


def test_reads_are_conditional():
    asset = make.image()
    client = ApiClient("editor")
    for path in ("/api/media", f"/api/media/{asset.pk}", "/api/media/categories"):
        etag = client.get(path)["ETag"]
        assert client.get(path, HTTP_IF_NONE_MATCH=etag).status_code == 304
    said(asset, alt_text="New")
    assert client.get(f"/api/media/{asset.pk}", HTTP_IF_NONE_MATCH=etag).status_code == 200


def test_usages_are_listed_without_trashed_posts():
    asset = make.image()
    post = make.post(featuredMediaId=str(asset.pk))
    other = make.post("In the trash", featuredMediaId=str(asset.pk))
    make.staged(post, {"excerpt": "x"}, layer=Layer.REVIEW)
    third = make.post("Third")
    make.staged(third, {"featuredMediaId": str(asset.pk)}, layer=Layer.REVIEW)
    delete_post(post_id=other.pk, actor=make.actor("editor"))
    path = f"/api/media/{asset.pk}/where-used"

    found = ApiClient("translator").read(path)

    live = {
        "postId": str(post.pk),
        "globalSlug": None,
        "title": post.title,
        "locale": "en",
        "layer": "live",
        "path": "post.featuredMediaId",
    }
    staged = {**live, "postId": str(third.pk), "title": "Third", "layer": "review"}
    assert sorted(found["data"], key=lambda row: row["layer"]) == [live, staged]
    assert found["meta"]["total"] == 2
    _, secret = token("media.view")
    narrow = ApiClient().read(path, HTTP_AUTHORIZATION=f"Bearer {secret}")
    assert narrow["data"] == [{**live, "title": None, "locale": None}]


def test_what_is_in_use_is_deleted_only_by_force():
    asset = make.image()
    post = make.post(featuredMediaId=str(asset.pk))
    client = ApiClient("editor")
    path = f"/api/media/{asset.pk}"

    refused = client.write("DELETE", path, expect=409)
    assert refused["code"] == "media_in_use"
    assert refused["details"]["usedIn"]
    assert client.write("DELETE", f"{path}?force=perhaps", expect=422)["details"].keys() == {
        "force"
    }
    assert Asset.objects.count() == 1
    assert client.write("DELETE", f"{path}?force=true") == {"id": str(asset.pk)}

    post.refresh_from_db()
    assert (post.featured_media_id, Asset.objects.count()) == (None, 0)
    assert client.write("DELETE", path, expect=404)["code"] == "unknown_media"
    assert client.read("/api/media/nonsense", expect=404)["code"] == "unknown_media"


def test_frontends_get_the_files_of_a_post_with_their_addresses():
    asset = make.image(alt_text="A wall")
    unused = make.image("unused.png")
    post = make.post(featuredMediaId=str(asset.pk))
    make.staged(post, {"featuredMediaId": str(unused.pk)}, layer=Layer.REVIEW)
    expected = {
        str(asset.pk): {
            "url": f"/media/{asset.file.name}",
            "mime": "image/png",
            "alt": "A wall",
            "width": 20,
            "height": 10,
            "variants": {},
            "darkVariants": {},
            "duration": None,
            "poster": None,
            "captions": {},
            "focalPoint": None,
        }
    }
    Asset.objects.update(status=AssetStatus.PROCESSING)
    client = ApiClient()

    assert client.read(f"/api/public/posts/{post.pk}")["media"] == expected
    assert client.read(f"/api/public/resolve?path={post.path}")["post"]["media"] == expected
    assert client.read("/api/public/posts?fields=id,media")["data"] == [
        {"id": str(post.pk), "media": expected}
    ]
    assert "media" not in client.read("/api/public/posts")["data"][0]
    Asset.objects.filter(pk=asset.pk).update(status=AssetStatus.READY)
    said(asset, alt_text="New")
    ready = client.read(f"/api/public/posts/{post.pk}")["media"][str(asset.pk)]
    assert (ready["alt"], sorted(ready["variants"])) == ("New", ["large", "medium", "small"])


def test_the_files_of_a_list_take_one_statement():
    for number in range(3):
        make.post(f"Post {number}", featuredMediaId=str(make.image().pk))
    counts = []
    for query in ("?fields=id,modules", "?fields=id,modules,media"):
        with CaptureQueriesContext(connection) as queries:
            assert len(ApiClient().read(f"/api/public/posts{query}")["data"]) == 3
        counts.append(len(queries))
    assert counts[1] == counts[0] + 1
