"""The SEO pages of the admin, and redirects as files."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from content.models import Post, TreeMove
from proofroom.core.models import Event
from tests import make
from tests.admin.pages import fields
from tests.seo.leading import leads

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(client: Client) -> Client:
    client.force_login(make.user("admin"))
    return client


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


def test_the_page_says_what_search_engines_get(admin: Client) -> None:
    post = make.post("A & B", slug="tea", excerpt="Words")
    make.post("Bare", slug="bare")
    make.post("bare", slug="bare-again", excerpt="Words", robotsJson={"index": False})
    TreeMove.objects.create(post=post, total=400, done=200)
    admin.get("/sitemap.xml")

    page = text(admin.get("/admin/seo/search-engines/"))

    assert "http://testserver/sitemap.xml" in page
    assert "<dd>2</dd>" in page
    assert "3 posts have no canonical address." in page
    assert "<strong>1</strong> published without a meta" in page
    assert "<strong>2</strong> published with the same title as another" in page
    assert "<strong>1</strong> published, but hidden" in page
    assert "200 / 400" in page
    assert "Disallow: /admin/" in page
    assert "A &amp; B" in page


def test_its_buttons_do_what_they_say(admin: Client) -> None:
    make.post(slug="tea")

    made = admin.post("/admin/seo/search-engines/", {"rebuild": ""}, follow=True)
    filled = admin.post("/admin/seo/search-engines/", {"populate": ""}, follow=True)

    assert "Sitemap updated: 1 address." in text(made)
    assert "Set the canonical address of 1 post." in text(filled)
    assert Post.objects.get().canonical_url == "http://127.0.0.1:8000/blog/tea"
    assert Event.objects.filter(name="sitemap.rebuilt").count() == 1


def test_it_asks_as_much_however_many_posts_there_are(
    admin: Client, django_assert_max_num_queries: Any
) -> None:
    make.copies(
        make.post(), 30, slug=lambda number: f"copy-{number}", translation_group=lambda _: uuid4()
    )

    with django_assert_max_num_queries(16):
        admin.get("/admin/seo/search-engines/")


def test_an_address_is_tried_out_step_by_step(admin: Client) -> None:
    make.post("<b>Tea</b>", slug="tea")
    make.redirect("/old", "/blog/tea")

    shown = text(admin.get("/admin/seo/trace/?path=/blog/tea"))
    led = text(admin.get("/admin/seo/trace/?path=/old"))
    refused = admin.get("/admin/seo/trace/?path=//evil")

    assert "Shows a page." in shown
    assert "&lt;b&gt;Tea&lt;/b&gt;" in shown
    assert "<b>Tea" not in shown
    assert "A redirect leads to /blog/tea." in led
    assert refused.status_code == 422


def test_threat_32_what_was_asked_for_is_escaped(admin: Client) -> None:
    page = admin.get("/admin/seo/trace/", {"path": "/<script>alert(1)</script>"})

    assert b"<script>alert" not in page.content


def test_a_file_is_checked_and_then_imported(admin: Client) -> None:
    def file(words: str) -> SimpleUploadedFile:
        return SimpleUploadedFile("redirects.csv", words.encode("utf-8-sig"))

    path = "/admin/seo/redirect/import/"
    bad = text(admin.post(path, {"file": file("/a,/b\n/c,javascript:x\n"), "check": ""}))
    good = text(admin.post(path, {"file": file("/a,/b\n"), "check": ""}))
    assert leads() == {}
    done = admin.post(path, {"text": "/a,/b\n", "import": ""}, follow=True)

    assert "1 line has an error" in bad
    assert "Line 2" in bad
    assert "1 new, 0 changed, 0 unchanged." in good
    assert "/a,/b" in good
    assert "1 new, 0 changed, 0 unchanged." in text(done)
    assert leads() == {"/a": "/b"}
    assert "/admin/seo/redirect/import/" in text(admin.get("/admin/seo/redirect/"))


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff\xfe/a", b"/a,/b\x00", b"/a,//evil\n"],
    ids=["empty", "bytes", "nul", "evil"],
)
def test_a_file_that_cannot_be_read_is_refused(admin: Client, content: bytes) -> None:
    file = SimpleUploadedFile("redirects.csv", content)

    response = admin.post("/admin/seo/redirect/import/", {"file": file, "import": ""})

    assert response.status_code == 422
    assert leads() == {}


def test_a_redirect_changed_since_is_not_overwritten(admin: Client) -> None:
    redirect = make.redirect("/old", "/about")
    address = f"/admin/seo/redirect/{redirect.pk}/change/"
    sent = fields(admin.get(address), "toPath")
    assert admin.post(address, {**sent, "toPath": "/services"}).status_code == 302

    answer = admin.post(address, sent)

    assert answer.status_code == 422
    assert "Somebody saved other values since you opened this page." in text(answer)
    redirect.refresh_from_db()
    assert redirect.to_path == "/services"
