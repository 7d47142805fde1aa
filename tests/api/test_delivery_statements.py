"""The number of statements of each read of the delivery API: the same for many rows as for few."""

from __future__ import annotations

from datetime import timedelta
from typing import Final
from uuid import uuid4

import pytest
from django.db import connection
from django.utils import timezone

from content.models import Post
from content.store.live_changes import record_live_changes
from proofroom.core.caching.answer_cache import answers
from proofroom.core.models import Event, LiveChange
from proofroom.taxonomies.models import Term
from tests import make
from tests.api_client import ApiClient
from tests.queries import count_queries

pytestmark = pytest.mark.django_db
LISTS: Final = (
    "posts",
    "posts?type=blog&locale=en",
    "posts?allLocales=true&per_page=100&after=",
    "posts?ordering=title",
    "posts?facets=terms,type",
    "posts?locale=de&fallback=en",
    "posts?filter[terms][any]=soil&filter[title][contains]=o",
    "posts?fields=id,seo,ancestors,modules,customFields,terms,media,translations",
    "posts?include=media,terms,parent,children,translations,modules.posts",
    "terms",
    "redirects",
)


def fill(number: int, *, begin: int = 0) -> list[Post]:
    term = Term.objects.filter(slug="soil").first() or make.term("Soil")
    image = make.image()
    made = []
    for place in range(begin, number):
        post = make.post(
            f"Blog {place}", slug=f"a-{place}", featuredMediaId=str(image.pk),
            taxonomyTermIds=[str(term.pk)], markdown=f"## H\n\n[Link](/blog/a-{place})",
        )  # fmt: skip
        make.post("Artikel", locale="de", translation_of=post, slug=f"a-{place}")
        make.redirect(f"/old-{place}", f"/blog/a-{place}")
        made.append(post)
    return made


@pytest.mark.parametrize("path", LISTS)
def test_a_list_takes_as_many_for_nine_rows_as_for_two(path: str) -> None:
    fill(2)

    def cost() -> int:
        answers.clear()
        return count_queries(ApiClient().read, f"/api/public/{path}")

    cost()
    few = cost()
    fill(9, begin=2)
    assert cost() == few


FIXED: Final = {
    "changes": 1,
    "changes?since={since}&limit=1000": 2,
    "resolve?path=/blog/a-0": 5,
    "resolve?path=/blog/a-0&richtext=html": 5,
    "resolve?path=/blog/a-0&include=media,terms,translations": 10,
    "resolve?path=/de/blog/only&fallback=en": 5,
    "resolve?path=/blog": 7,
    "resolve?path=/blog&fields=title": 4,
    "resolve?path=/blog&include=media,terms": 10,
    "resolve?path=/blog/topics/soil": 8,
    "resolve?path=/old-0": 3,
    "resolve?path=/nothing": 3,
    "resolve?path=/de/nothing&fallback=en": 4,
    "posts?ids={ids}": 6,
    "posts?search=blog": 7,
    "posts?search=blog&ordering=title": 7,
    "posts?richtext=html": 4,
    "posts?richtext=markdown&type=blog": 6,
}
"""Reads with the exact number of their statements, for nine posts as for two."""


@pytest.mark.parametrize("path", FIXED)
def test_a_read_takes_the_same_statements_for_nine_posts_as_for_two(path: str) -> None:
    made = fill(2)
    make.post("Only", slug="only")
    since = (timezone.now() - timedelta(hours=1)).isoformat().replace("+", "%2B")

    def cost(posts: list[Post]) -> int:
        ids = ",".join(str(post.pk) for post in posts)
        address = f"/api/public/{path.format(ids=ids, since=since)}"
        answers.clear()
        expected = 404 if "nothing" in path else 200
        return count_queries(ApiClient().read, address, expect=expected)

    LiveChange.objects.create(tag="site")
    cost(made)
    few = cost(made)
    made += fill(9, begin=2)
    for number in range(50):
        LiveChange.objects.create(tag=f"term:{number}")
    assert (few, cost(made)) == (FIXED[path], FIXED[path])


@pytest.mark.parametrize(
    "query",
    ["", "?fields=title", "?fields=seo", "?fields=ancestors,title", "?fallback=en&locale=de",
     "?include=media,terms,translations"],
)  # fmt: skip
def test_a_post_takes_as_many_for_eight_links_and_files_as_for_one(query: str) -> None:
    make.post("Target", slug="target")
    text = "[A](/blog/target) and [B](/blog/none)\n\n"
    one = make.post("One", slug="one", markdown=text)
    many = make.post("Many", slug="many", markdown=text * 8)

    def cost(post: Post) -> int:
        answers.clear()
        return count_queries(ApiClient().read, f"/api/public/posts/{post.pk}{query}")

    cost(one)
    assert cost(one) == cost(many)


@pytest.mark.parametrize(
    ("name", "changed", "statements"),
    [("post.updated", ["post.title"], 3), ("post.published", [], 4)],
)
def test_links_to_a_post_that_appears_cost_one_statement(
    name: str, changed: list[str], statements: int
) -> None:
    post = make.post("Target", slug="target")
    for number in range(3):
        make.post(f"Linking {number}", slug=f"l-{number}", markdown="[A](/blog/target)")
    event = Event.objects.create(
        uid=uuid4(),
        name=name,
        post_id=post.pk,
        payload={
            "id": str(post.pk),
            "type": "blog",
            "locale": "en",
            "status": "published",
            "url": post.path,
            "changedPaths": changed,
        },
    )

    # PostgreSQL also takes a lock.
    lock = connection.vendor == "postgresql"
    assert count_queries(record_live_changes, [event]) == statements + lock


def test_what_became_stale_is_read_in_as_many_statements_for_five_events_as_for_one() -> None:
    posts = fill(6)
    events = [
        Event.objects.create(
            uid=uuid4(),
            name="post.updated",
            post_id=post.pk,
            payload={
                "id": str(post.pk),
                "type": "blog",
                "locale": "en",
                "status": "draft",
                "url": post.path,
                "changedPaths": [],
            },
        )
        for post in posts
    ]

    few = count_queries(record_live_changes, events[:1])

    assert few > 1
    assert count_queries(record_live_changes, events[1:]) == few
