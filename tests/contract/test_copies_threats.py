"""Permissions of translators in every interface: threats 05 and 11."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from content.models import Post
from content.posts.publish import set_status
from content.posts.trash import delete_post
from content.translations.translate import create_translation
from tests import make
from tests.api.refusals import stored
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db

TRANSLATABLE: dict[str, Any] = {
    "title": "Übersetzt",
    "slug": "uebersetzt",
    "excerpt": "Kurz.",
    "metaTitle": "Meta",
    "metaDescription": "Meta",
}
FORBIDDEN: dict[str, Any] = {
    "canonicalUrl": "https://example.com/de",
    "jsonldOverrides": {"inLanguage": "de"},
    "robotsJson": {"index": False},
    "featuredMediaId": None,
    "orderIndex": 7,
    "publishAt": "2099-01-01T00:00:00Z",
    "taxonomyTermIds": [],
    "status": "published",
}


@pytest.fixture
def source() -> Post:
    term = make.term("Coffee")
    return make.post(
        taxonomyTermIds=[str(term.pk)], robotsJson={"index": True}, featuredMediaId=None
    )


@pytest.fixture
def translation(source: Post) -> Post:
    return create_translation(post_id=source.pk, locale="de", actor=make.actor("translator"))


def refused(method: str, path: str, body: Any) -> None:
    before = stored()
    ApiClient("translator").write(method, path, body, expect=403)
    assert stored() == before, (method, path, body)


@pytest.mark.parametrize("name", TRANSLATABLE)
def test_threat_11_a_translator_writes_each_translatable_field_of_a_draft(
    name: str, translation: Post
) -> None:
    body = {name: TRANSLATABLE[name]}

    answer = ApiClient("translator").write("PUT", f"/api/posts/{translation.pk}", body)

    assert answer[name] == TRANSLATABLE[name]


@pytest.mark.parametrize("name", TRANSLATABLE)
def test_threat_11_and_stages_it_where_the_translation_is_live(
    name: str, translation: Post
) -> None:
    set_status(post_id=translation.pk, status="published", actor=make.actor("admin"))
    body = {name: TRANSLATABLE[name]}

    refused("PUT", f"/api/posts/{translation.pk}", body)
    answer = ApiClient("translator").write("PUT", f"/api/posts/{translation.pk}/review", body)

    assert answer["staged"] == [f"post.{name}"]


@pytest.mark.parametrize("name", [name for name in FORBIDDEN if name != "featuredMediaId"])
def test_threat_11_no_other_field_by_any_door(name: str, translation: Post) -> None:
    body = {name: FORBIDDEN[name]}

    refused("PUT", f"/api/posts/{translation.pk}", body)
    refused("PUT", f"/api/posts/{translation.pk}", {"title": "Mit dabei", **body})
    if name != "status":
        refused("PUT", f"/api/posts/{translation.pk}/review", {"title": "Mit dabei", **body})


def test_threat_11_modules_only_in_their_words(translation: Post) -> None:
    hero, faq = make.module_id(translation, "hero"), make.module_id(translation, "faq")
    order = list(make.layers(translation).live.order)
    path = f"/api/posts/{translation.pk}"

    ApiClient("translator").write(
        "PUT", f"/api/post-modules/{hero}", {"props": {"title": "Filterkaffee"}}
    )

    refused("PUT", f"/api/post-modules/{hero}", {"props": {"theme": "dark"}})
    refused("PUT", f"/api/post-modules/{hero}", {"props": {"title": "Neu", "theme": "dark"}})
    refused("PUT", f"/api/post-modules/{faq}", {"orderIndex": 1})
    refused("POST", f"{path}/modules", {"type": "callout"})
    refused("DELETE", f"/api/post-modules/{faq}", {})
    refused("POST", f"{path}/modules/reorder", {"order": order[:1] + order[:0:-1]})
    staged = {"modules": [{"postModuleId": hero, "props": {"theme": "dark"}}]}
    refused("PUT", f"{path}/review", staged)


def test_threat_11_nothing_of_an_original(source: Post) -> None:
    set_status(post_id=source.pk, status="draft", actor=make.actor("admin"))
    hero = make.module_id(source, "hero")

    refused("PUT", f"/api/posts/{source.pk}", {"title": "Neu"})
    refused("PUT", f"/api/posts/{source.pk}/review", {"title": "Neu"})
    refused("PUT", f"/api/post-modules/{hero}", {"props": {"title": "Neu"}})


def test_threat_11_a_form_with_more_than_it_showed_saves_nothing(translation: Post) -> None:
    client = Client()
    client.force_login(make.user("translator"))
    before = stored()

    response = client.post(
        f"/admin/content/post/{translation.pk}/change/",
        {
            "do": "save",
            "version": str(translation.version),
            "was": "{}",
            "post.title": "Neu",
            "post.orderIndex": "7",
            "status": "published",
        },
    )

    assert response.status_code == 403
    assert stored() == before


@pytest.mark.parametrize("status", ["draft", "published", "archived"])
def test_threat_05_a_translator_translates_whatever_they_may_see(status: str) -> None:
    post = make.post()
    Post.objects.filter(pk=post.pk).update(status=status)
    path = f"/api/posts/{post.pk}/translations"

    answer = ApiClient("translator").write("POST", path, {"locale": "de"}, expect=201)

    assert answer["status"] == "draft"
    assert answer["author"]["username"] == "translator"
    assert Post.objects.get(pk=post.pk).status == status


def test_threat_05_nothing_is_translated_that_nobody_may_see() -> None:
    post = make.post()
    delete_post(post_id=post.pk, actor=make.actor())
    before = stored()

    for role, expected in ((None, 401), ("ai_agent", 401), ("translator", 404), ("admin", 404)):
        ApiClient(role).write(
            "POST", f"/api/posts/{post.pk}/translations", {"locale": "de"}, expect=expected
        )
    assert stored() == before


def test_threat_05_a_translator_neither_publishes_nor_varies_nor_imports(
    source: Post, translation: Post
) -> None:
    document = ApiClient("editor").read(f"/api/posts/{source.pk}/export")
    path = f"/api/posts/{translation.pk}"

    refused("POST", f"{path}/variations", {"variation": "B"})
    refused("POST", f"{path}/promote-variation", {"variationId": str(source.pk)})
    refused("POST", "/api/posts/import", {"document": document, "slug": "imported"})
    refused("POST", f"{path}/preview-links", {})
    refused("DELETE", path, {})
    ApiClient("translator").read("/api/posts/trash", expect=403)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"locale": ""},
        {"locale": "\x00"},
        {"locale": "xx"},
        {"locale": "DE"},
        {"locale": 1},
        {"locale": ["de"]},
        {"locale": "de", "slug": "Not A Slug"},
        {"locale": "de", "slug": ""},
        {"locale": "de", "slug": 7},
        {"locale": "de", "title": ""},
        {"locale": "de", "title": "x" * 1_000_000},
        {"locale": "de", "title": "half \ud800"},
        {"locale": "de", "title": {"a": 1}},
        {"locale": "de", "nonsense": 1},
    ],
    ids=lambda body: str(body)[:40].encode("ascii", "replace").decode(),
)
def test_hostile_bodies_make_no_translation(body: dict[str, Any]) -> None:
    post = make.post()
    before = stored()

    response = ApiClient("editor").send("POST", f"/api/posts/{post.pk}/translations", body)

    assert response.status_code in (400, 422)
    assert stored() == before


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"variation": None},
        {"variation": 1},
        {"variation": "half \ud800"},
        {"variation": "B" * 1_000_000},
        {"variation": "B", "weight": True},
        {"variation": "B", "weight": "50"},
        {"variation": "B", "weight": 1.5},
        {"variation": "B", "weight": 2**60},
        {"variation": "B", "weight": None},
    ],
    ids=lambda body: str(body)[:40].encode("ascii", "replace").decode(),
)
def test_hostile_bodies_make_no_variation(body: dict[str, Any]) -> None:
    post = make.post()
    before = stored()

    response = ApiClient("editor").send("POST", f"/api/posts/{post.pk}/variations", body)

    assert response.status_code in (400, 422)
    assert stored() == before
