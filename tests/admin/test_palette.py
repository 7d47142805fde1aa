"""The command palette lists what the user may open, with a constant number of queries."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from content.models import Layer
from tests import make
from tests.queries import count_queries

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]


def found(client: Client, words: str) -> dict[str, list[str]]:
    groups = client.get("/admin/palette/", {"q": words}).json()["groups"]
    return {group["label"]: [item["label"] for item in group["items"]] for group in groups}


def test_it_finds_posts_and_people_by_the_beginning_of_a_word(signed_in: SignedIn) -> None:
    make.post("How to brew coffee")
    make.post("Kettles compared")

    assert found(signed_in("admin"), "coff") == {"Posts": ["How to brew coffee"]}
    assert found(signed_in("admin"), "edito").get("People") is None
    make.user("editor")
    assert found(signed_in("admin"), "edito")["People"] == ["editor"]


def test_without_words_it_lists_where_one_can_go(signed_in: SignedIn) -> None:
    of_admin, of_translator = found(signed_in("admin"), ""), found(signed_in("translator"), "")

    assert "Webhooks" in of_admin["Pages"]
    assert "New post" in of_admin["Actions"]
    assert "Webhooks" not in of_translator["Pages"]
    assert "New post" not in of_translator["Actions"]
    assert "Posts" in of_translator["Pages"]


def test_a_new_post_of_a_type_is_an_action_for_who_creates_posts(signed_in: SignedIn) -> None:
    groups = signed_in("editor").get("/admin/palette/", {"q": "new blog"}).json()["groups"]
    (action,) = next(group["items"] for group in groups if group["label"] == "Actions")

    assert action["label"] == "New post: Blog post"
    assert action["url"] == "/admin/content/post/add/?type=blog"
    assert "Actions" not in found(signed_in("translator"), "new blog")


def test_pages_that_begin_with_the_words_come_first(signed_in: SignedIn) -> None:
    pages = found(signed_in("admin"), "re")["Pages"]

    assert pages.index("Redirects") < pages.index("Find and replace")


def test_who_may_not_see_accounts_finds_none(signed_in: SignedIn) -> None:
    make.user("translator")

    assert "People" not in found(signed_in("editor"), "translat")
    assert found(signed_in("admin"), "translat")["People"] == ["agent:translator", "translator"]


def test_what_only_waits_in_a_layer_is_no_title(signed_in: SignedIn) -> None:
    make.staged(make.post("Kettles"), {"title": "Secretword"}, layer=Layer.REVIEW)

    assert "Posts" not in found(signed_in("admin"), "secretword")


@pytest.mark.parametrize("words", ["%", "'\"<script>", "x" * 5_000, "*", "a OR b AND (", "NEAR/2"])
def test_hostile_words_are_only_words(signed_in: SignedIn, words: str) -> None:
    make.post("Kettles")

    assert signed_in("admin").get("/admin/palette/", {"q": words}).status_code == 200


def test_it_asks_as_often_for_many_as_for_one(signed_in: SignedIn) -> None:
    client = signed_in("admin")
    make.post("Kettle one")

    def count() -> int:
        client.get("/admin/palette/", {"q": "kettle"})
        return count_queries(client.get, "/admin/palette/", {"q": "kettle"})

    before = count()
    for number in range(9):
        make.post(f"Kettle {number}", slug=f"kettle-{number}")

    assert count() == before


def test_on_a_post_it_runs_the_agents_that_one_may_run(signed_in: SignedIn) -> None:
    post = make.post()

    def agents(role: str, post_id: str) -> dict[str, str]:
        groups = signed_in(role).get("/admin/palette/", {"q": "seo", "post": post_id}).json()
        return {
            item["label"]: item["url"]
            for group in groups["groups"]
            if group["label"] == "Agents"
            for item in group["items"]
        }

    assert agents("editor", str(post.pk)) == {
        "Run SEO specialist on this post": (
            f"/admin/agents_app/agentrun/start/{post.pk}/?agent=seo-specialist"
        )
    }
    assert agents("translator", str(post.pk)) == {}
    assert agents("editor", "") == agents("editor", "no-id") == {}
    assert agents("editor", "00000000-0000-4000-8000-000000000000") == {}
