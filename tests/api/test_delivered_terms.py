"""Frontends read terms with their descriptions, without an account, and never an outdated one."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from proofroom.taxonomies.models import Term
from proofroom.taxonomies.services import change_term, create_term
from tests import make

pytestmark = pytest.mark.django_db
TERMS = "/api/public/terms"


def read(query: str = "") -> Any:
    return Client().get(f"{TERMS}{query}")


def publish(*terms: Term, **fields: Any) -> None:
    """Make a published post for each term, in its language."""
    for term in terms:
        values = {"locale": term.locale or "en", **fields}
        make.post(f"About {term.name}", taxonomyTermIds=[str(term.pk)], **values)


def slugs(query: str = "") -> list[str]:
    return [row["slug"] for row in read(query).json()["data"]]


def test_terms_are_listed_with_their_descriptions() -> None:
    drinks = create_term(
        actor=make.actor(), taxonomy="topics", name="Drinks", description="All of them"
    )
    coffee = create_term(actor=make.actor(), taxonomy="topics", name="Coffee", parent_id=drinks.pk)
    publish(coffee)

    answer = read()

    assert answer["Cache-Control"] == "public, max-age=60, stale-while-revalidate=60"
    assert answer["ETag"]
    by_slug = {row["slug"]: row for row in answer.json()["data"]}
    assert by_slug["drinks"] == {
        "id": str(drinks.pk),
        "taxonomy": "topics",
        "slug": "drinks",
        "name": "Drinks",
        "description": "All of them",
        "parentId": None,
        "locale": "en",
        "orderIndex": 0,
        # A post may have the term below it only.
        "url": None,
        "count": 0,
    }
    assert (by_slug["coffee"]["url"], by_slug["coffee"]["count"]) == ("/blog/topics/coffee", 1)
    assert by_slug["coffee"]["parentId"] == str(drinks.pk)
    assert read(f"/{coffee.pk}").json() == by_slug["coffee"]


def test_filters_narrow_the_list() -> None:
    made = [
        create_term(actor=make.actor(), taxonomy=taxonomy, name=name, locale=locale)
        for taxonomy, name, locale in (
            ("topics", "Tea", "en"),
            ("topics", "Tee", "de"),
            ("tags", "Hot", ""),
        )
    ]
    publish(*made)

    assert set(slugs()) == {"tea", "tee", "hot"}
    assert slugs("?taxonomy=tags") == ["hot"]
    assert set(slugs("?locale=de")) == {"tee", "hot"}
    assert slugs("?slug=tea") == ["tea"]
    assert set(slugs(f"?ids={made[0].pk},{made[2].pk}")) == {"tea", "hot"}
    assert slugs(f"?ids={uuid4()}") == []


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("?taxonomy=none", "taxonomy"),
        ("?locale=xx", "locale"),
        ("?ids=1", "ids"),
        ("?ids=", "ids"),
        (f"?ids={','.join([str(uuid4())] * 101)}", "ids"),
        ("?page=0", "page"),
    ],
)
def test_wrong_filters_are_refused(query: str, field: str) -> None:
    answer = read(query)

    assert answer.status_code == 422
    assert set(answer.json()["details"]) == {field}


def test_terms_of_drafts_alone_are_not_delivered() -> None:
    secret = make.term("Launch")
    publish(secret, status="draft")

    assert slugs() == []
    assert read(f"/{secret.pk}").status_code == 404


def test_unknown_terms_are_not_found() -> None:
    for id_ in (str(uuid4()), "x", "%00"):
        assert read(f"/{id_}").status_code == 404
    assert slugs("?slug=%00") == []


def test_a_change_is_delivered_at_once(run_on_commit: Any) -> None:
    tea = make.term("Tea")
    publish(tea)
    assert read(f"/{tea.pk}").json()["description"] == ""
    with run_on_commit():
        change_term(term_id=tea.pk, actor=make.actor(), description="Leaves")

    assert read(f"/{tea.pk}").json()["description"] == "Leaves"


@pytest.mark.parametrize("number", [1, 8])
def test_a_list_takes_the_same_number_of_queries(number: int) -> None:
    for one in range(number):
        publish(make.term(f"Term {one}"))
    read("?slug=warm")
    with CaptureQueriesContext(
        connection,
    ) as queries:
        read("?per_page=50")

    assert len(queries) <= 4


def test_counts_and_lists_are_those_of_the_language_that_is_asked_for() -> None:
    hot = create_term(actor=make.actor(), taxonomy="tags", name="Hot", locale="")
    publish(hot, slug="one")
    publish(hot, slug="two")
    publish(hot, locale="de", slug="heiss")
    make.post("Draft", status="draft", slug="draft", taxonomyTermIds=[str(hot.pk)])

    def row(query: str) -> tuple[str | None, int]:
        [found] = read(query).json()["data"]
        return found["url"], found["count"]

    assert row("?slug=hot") == ("/blog/tags/hot", 3)
    assert row("?slug=hot&locale=en") == ("/blog/tags/hot", 2)
    assert row("?slug=hot&locale=de") == ("/de/blog/tags/hot", 1)
    for url in ("/blog/tags/hot", "/de/blog/tags/hot"):
        assert Client().get(url).status_code == 200


def test_a_wrong_id_is_not_called_too_many() -> None:
    wrong = read("?ids=1").json()
    many = read(f"?ids={','.join([str(uuid4())] * 101)}").json()

    assert (wrong["code"], many["code"]) == ("invalid", "cost_exceeded")
    assert "IDs (UUIDs) of terms" in wrong["details"]["ids"][0]
