"""The lists of a renamed term redirect to their new addresses."""

from __future__ import annotations

import pytest
from django.test import Client

from proofroom.taxonomies.models import Term
from proofroom.taxonomies.services import change_term, create_term
from tests import make
from tests.api_client import ApiClient
from tests.seo.leading import leads

pytestmark = pytest.mark.django_db


def used(name: str, *, locale: str = "en", status: str = "published") -> Term:
    term = create_term(actor=make.actor(), taxonomy="topics", name=name, locale=locale)
    make.post(
        locale=locale, slug=f"about-{name}".lower(), status=status, taxonomyTermIds=[str(term.pk)]
    )
    return term


def rename(term: Term, slug: str) -> None:
    change_term(term_id=term.pk, actor=make.actor(), slug=slug)


def test_the_old_list_leads_to_the_new_one(client: Client) -> None:
    rename(used("Tea"), "teas")

    assert leads() == {"/blog/topics/tea": "/blog/topics/teas"}
    assert client.get("/blog/topics/tea")["Location"] == "/blog/topics/teas"
    assert client.get("/blog/topics/teas").status_code == 200
    found = ApiClient().read("/api/public/resolve?path=/blog/topics/tea")
    assert found["redirect"] == {"toPath": "/blog/topics/teas", "status": 301}


def test_each_language_with_posts_has_its_own() -> None:
    term = create_term(actor=make.actor(), taxonomy="tags", name="Hot", locale="")
    for locale in ("en", "de"):
        make.post(locale=locale, slug=f"in-{locale}", taxonomyTermIds=[str(term.pk)])

    rename(term, "warm")

    assert leads() == {
        "/blog/tags/hot": "/blog/tags/warm",
        "/de/blog/tags/hot": "/de/blog/tags/warm",
    }


def test_back_and_forth_leaves_no_loop_and_no_chain(client: Client) -> None:
    term = used("Tea")
    rename(term, "teas")
    rename(term, "infusions")
    assert set(leads().values()) == {"/blog/topics/infusions"}

    rename(term, "tea")

    assert leads() == {
        "/blog/topics/teas": "/blog/topics/tea",
        "/blog/topics/infusions": "/blog/topics/tea",
    }
    assert client.get("/blog/topics/tea").status_code == 200


def test_what_nobody_could_open_leaves_nothing() -> None:
    rename(used("Secret", status="draft"), "hidden")
    rename(create_term(actor=make.actor(), taxonomy="topics", name="Unused"), "unneeded")
    change_term(term_id=used("Tea").pk, actor=make.actor(), name="Teas")

    assert leads() == {}
