"""A frontend builds a whole site from few requests: a hundred posts each, with all that their pages need."""

from __future__ import annotations

from functools import partial
from typing import Any, Final
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from django.test import Client

from content.api.delivery.posts import WHOLE
from content.models import Post
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db
FIELDS: Final = ",".join(sorted(WHOLE))
RELATIONS: Final = "media,terms,parent,children,translations,modules.posts"
REST: Final = (
    "/api/public/site",
    "/api/public/terms?per_page=100",
    "/api/public/redirects?per_page=100",
)


def numbered(text: str, place: int) -> str:
    return f"{text}-{place}"


def build(client: Client, known: dict[str, str], **more: str) -> tuple[list[Any], list[Any]]:
    """Return the posts of all pages of the list, and the responses. `known`: ETags by address."""
    posts: list[Any] = []
    responses: list[Any] = []
    after = ""
    while True:
        query = {"allLocales": "true", "per_page": "100", "fields": FIELDS, "after": after, **more}
        address = f"/api/public/posts?{urlencode(query)}"
        headers = {"if-none-match": known[address]} if address in known else {}
        response = client.get(address, headers=headers)
        assert response.status_code in (200, 304), response.content
        responses.append(response)
        known[address] = response["ETag"]
        answer = response.json() if response.status_code == 200 else client.get(address).json()
        posts += answer["data"]
        after = answer["meta"]["next"]
        if after is None:
            return posts, responses


def fill(number: int) -> None:
    """Make posts of several types and languages with terms, files, parents and translations."""
    image, terms = make.image(), [make.term(name) for name in ("Soil", "Repair")]
    top = make.post("Top", type="page", slug="top", featuredMediaId=str(image.pk))
    child = make.post("Below", type="page", slug="below", parentId=str(top.pk))
    make.added_module(child, type="blog-list", props={"count": 2})
    blog = make.post("Blog", slug="blog", markdown="## Head\n\n[Top](/top) and *words*.")
    make.post("Artikel", locale="de", translation_of=blog, slug="artikel")
    for place, term in enumerate(terms):
        blog.post_terms.create(term=term)
        make.post(f"Said {place}", type="testimonial", slug=f"said-{place}")
    made = [top, child, blog]
    for of in made:
        make.copies(
            of,
            number // len(made),
            slug=partial(numbered, of.slug),
            path=partial(numbered, of.path),
            translation_group=lambda place: uuid4(),
        )


def test_two_hundred_pages_are_three_requests_and_each_is_complete() -> None:
    fill(210)
    published = Post.objects.alive().filter(status="published")

    posts, responses = build(Client(), {})

    assert len(posts) == published.count() > 200
    assert {post["id"] for post in posts} == {
        str(pk) for pk in published.values_list("pk", flat=True)
    }
    assert len(responses) == 3
    reader = ApiClient()
    for post in [*posts[:4], *posts[-8:]]:
        alone = reader.read(f"/api/public/posts/{post['id']}")
        assert post == alone
    assert {post["type"] for post in posts} >= {"blog", "page", "testimonial"}
    assert {post["locale"] for post in posts} == {"en", "de"}


def test_all_relations_of_a_hundred_posts_can_be_included() -> None:
    fill(90)

    posts, responses = build(Client(), {}, include=RELATIONS)

    assert len(responses) == 1
    (answer,) = (response.json() for response in responses)
    assert {len(answer["included"][name]) > 0 for name in ("posts", "media", "terms")} == {True}
    below = next(post for post in posts if post["slug"] == "below")
    (listed,) = [module for module in below["modules"] if module["type"] == "blog-list"]
    assert set(listed["posts"]) <= set(answer["included"]["posts"])


def test_a_build_is_not_throttled_and_the_next_one_is_cached(settings: Any) -> None:
    settings.THROTTLE_RATES = {**settings.THROTTLE_RATES, "public": "6/minute"}
    fill(200)
    make.redirect("/old", "/top")
    client = Client()
    known: dict[str, str] = {}

    _posts, first = build(client, known)
    others = [client.get(address) for address in REST]
    again = [build(client, known)[1] for _ in range(5)]

    assert [response.status_code for response in first] == [200, 200, 200]
    assert [response.status_code for response in others] == [200, 200, 200]
    assert {response.status_code for build_ in again for response in build_} == {304}
    assert client.get("/api/public/terms?per_page=99").status_code == 429
