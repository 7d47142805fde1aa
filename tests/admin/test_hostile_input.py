"""NUL in a parameter of the admin, and invalid file names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from content.models import Post
from tests import make
from tests.admin.pages import fields, url

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin() -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(make.user("admin"))
    return client


@pytest.mark.parametrize("query", ["q=%00", "%00=x", "status=%00&status=draft", "post__id=a%00"])
def test_nul_in_an_address_is_400(admin: Client, query: str) -> None:
    assert admin.get("/admin/content/post/").status_code == 200
    assert admin.get(f"/admin/content/post/?{query}").status_code == 400
    assert admin.get(f"/admin/proofroom_accounts/user/?{query}").status_code == 400


def test_what_cannot_be_read_is_answered_in_the_frame_of_the_admin(admin: Client) -> None:
    page = admin.get("/admin/content/post/?q=%00", headers={"accept-language": "de"})
    alone = Client().post("/admin/login/", {"username": "\x00"})

    assert page.status_code == alone.status_code == 400
    assert "Diese Anfrage ist nicht lesbar" in page.content.decode()
    assert 'href="/admin/content/post/"' in page.content.decode()
    assert "This request cannot be read" in alone.content.decode()
    assert Client().get("/admin/", headers={"host": "bad host"}).status_code == 400


def test_a_field_for_another_window_is_left_out_of_a_list(
    admin: Client, caplog: pytest.LogCaptureFixture
) -> None:
    answer = admin.get("/admin/content/post/?status=draft&_to_field=abc")

    assert (answer.status_code, answer["Location"]) == (302, "/admin/content/post/?status=draft")
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def test_nul_in_a_form_is_400_and_changes_nothing(admin: Client) -> None:
    post = make.post()
    before = make.live_hash()
    path = f"/admin/content/post/{post.pk}/change/"

    assert admin.post(path, {"post.title": "a\x00b", "do": "save"}).status_code == 400
    assert admin.post(path, {"post.title": "b", "no\x00te": "x"}).status_code == 400
    assert Client().post("/admin/login/", {"username": "\x00"}).status_code == 400
    assert make.live_hash() == before


def test_the_csrf_check_comes_first() -> None:
    client = Client(enforce_csrf_checks=True)

    answer = client.post("/admin/login/", {"username": "\x00"})

    assert answer.status_code == 403
    assert "This page is out of date" in answer.content.decode()


def test_a_form_that_was_open_during_a_new_login_says_what_to_do() -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(make.user("editor"))
    post = make.post()
    path = f"/admin/content/post/{post.pk}/change/"

    answer = client.post(path, {"do": "save"}, headers={"accept-language": "de"})

    text = answer.content.decode()
    assert answer.status_code == 403
    assert "Diese Seite ist veraltet" in text
    assert "laden Sie die Seite neu" in text
    assert "DEBUG" not in text


@pytest.mark.parametrize(
    ("sent_from", "leads_to"),
    [
        ("http://testserver/admin/inbox/?risk=2", "/admin/inbox/%3Frisk%3D2"),
        ("http://elsewhere.example/admin/inbox/", "/admin/"),
        ("http://testserver/blog", "/admin/"),
        ("http://testserver/admin/login/", "/admin/"),
        ("http://[", "/admin/"),
        ("", "/admin/"),
    ],
)
def test_a_button_after_the_session_leads_back_to_its_page(sent_from: str, leads_to: str) -> None:
    answer = Client().post("/admin/undo/", {"undo": "x"}, headers={"referer": sent_from})

    assert (answer.status_code, answer["Location"]) == (302, f"/admin/login/?next={leads_to}")


def test_an_address_of_a_button_has_a_page(admin: Client) -> None:
    answer = admin.get("/admin/undo/")

    assert (answer.status_code, answer["Allow"]) == (405, "POST")
    assert "This address belongs to a button." in answer.content.decode()


def test_elsewhere_nul_is_the_views_own_business(client: Client) -> None:
    assert client.get("/api/public/posts?search=%00").status_code == 422


@pytest.mark.parametrize("name", ["a" * 300, "a/" * 3000, "%00", "x" * 300 + "/y.png"])
def test_a_media_name_that_no_file_can_have_is_404(name: str, settings: Any) -> None:
    # Without the folder every name would be missing.
    Path(settings.MEDIA_ROOT).mkdir(parents=True)

    assert Client(raise_request_exception=False).get(f"/media/{name}").status_code == 404


def test_a_media_field_with_an_id_that_is_none_shows_the_form_again(admin: Client) -> None:
    post = make.post()
    added = admin.post(
        url(post), {**fields(admin.get(url(post))), "add": "prose-with-media", "do": "add"}
    )
    sent = fields(added)
    name = next(name for name in sent if name.endswith(".imageId"))

    refused = admin.post(url(post), {**sent, name: "-" * 36, "do": "save"})

    assert refused.status_code == 422
    assert Post.objects.get(pk=post.pk).version == post.version
