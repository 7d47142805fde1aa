"""The form of a new post: users with a content scope can choose only values inside of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from content.models import Post, PostTerm
from proofroom.core.content_scope import ContentScope
from proofroom_apps.editorial.post_editor.new_post import offer_choices
from tests import make

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
ADD = "/admin/content/post/add/"
NOTHING = "Your role does not allow new posts in the content that it is limited to."


def desk(**scope: Any) -> None:
    parts = {name: frozenset(ids) for name, ids in scope.items()}
    make.site_role("desk", "posts.view", "posts.create", scope=ContentScope(**parts))


def options(page: str, name: str) -> list[str]:
    found = re.search(rf'<select id="{name}".*?</select>', page)
    return re.findall(r'value="([^"]*)"', found[0]) if found else []


def section(title: str = "Services", **fields: Any) -> Post:
    return make.post(title, type="page", slug=title.lower(), **fields)


def test_without_limits_everything_is_offered_without_a_statement(
    signed_in: SignedIn, django_assert_num_queries: Any
) -> None:
    page = signed_in("editor").get(f"{ADD}?type=page&locale=de").content.decode()
    actor = make.actor("editor")
    with django_assert_num_queries(0):
        choices = offer_choices(actor)

    assert {"blog", "page"} < {*options(page, "type")}
    assert options(page, "locale") == ["en", "de"]
    assert re.findall(r'value="(\w+)" selected', page) == ["page", "de"]
    assert options(page, "term") == options(page, "parent") == []
    assert (choices.terms, choices.parents) == ([], [])


def test_a_role_of_a_term_chooses_among_its_terms_and_makes_posts_that_carry_one(
    signed_in: SignedIn,
) -> None:
    coffee, tea = make.term("Coffee"), make.term("Tea")
    make.term("Cake")
    desk(types={"blog"}, locales={"en"}, terms={coffee.pk, tea.pk})
    client = signed_in("desk")

    page = client.get(f"{ADD}?type=page&locale=de").content.decode()
    made = client.post(
        ADD, {"title": "Cold brew", "type": "blog", "locale": "en", "term": str(tea.pk)}
    )

    assert options(page, "type") == ["blog"]
    assert options(page, "locale") == ["en"]
    assert options(page, "term") == [str(coffee.pk), str(tea.pk)]
    post = Post.objects.get()
    assert made["Location"] == f"/admin/content/post/{post.pk}/change/"
    assert [*PostTerm.objects.values_list("post", "term")] == [(post.pk, tea.pk)]


def test_a_refusal_by_the_limits_keeps_the_form_and_what_was_typed(signed_in: SignedIn) -> None:
    coffee, cake = make.term("Coffee"), make.term("Cake")
    desk(terms={coffee.pk})

    answer = signed_in("desk").post(
        ADD, {"title": "Cold brew overnight", "type": "blog", "locale": "en", "term": str(cake.pk)}
    )

    page = answer.content.decode()
    assert answer.status_code == 403
    assert "Your role does not cover this post." in page
    assert 'value="Cold brew overnight"' in page
    assert options(page, "term") == [str(coffee.pk)]
    assert not Post.objects.exists()


def test_a_role_of_a_section_chooses_the_page_above(signed_in: SignedIn) -> None:
    services = section()
    below = make.post("Repair", type="page", slug="repair", parentId=str(services.pk))
    section("Canary")
    desk(sections={services.pk})
    client = signed_in("desk")

    page = client.get(f"{ADD}?type=page&locale=de").content.decode()
    refused = client.post(ADD, {"title": "", "parent": str(below.pk)})
    made = client.post(ADD, {"title": "Bikes", "parent": str(below.pk)})

    assert options(page, "parent") == [str(services.pk), str(below.pk)]
    assert options(page, "type") == options(page, "locale") == []
    assert refused.status_code == 422
    assert f'value="{below.pk}" selected' in refused.content.decode()
    post = Post.objects.get(slug="bikes")
    assert made["Location"] == f"/admin/content/post/{post.pk}/change/"
    assert (post.type, post.locale, post.parent_id) == ("page", "en", below.pk)


def test_types_whose_addresses_are_in_the_section_need_no_page_above(signed_in: SignedIn) -> None:
    blog = section("Blog")
    desk(sections={blog.pk})
    client = signed_in("desk")

    page = client.get(ADD).content.decode()
    post = {"title": "News", "type": "blog", "locale": "en", "parent": str(blog.pk)}
    made = client.post(ADD, post)
    client.post(ADD, {**post, "title": "Imprint", "type": "page"})

    assert options(page, "type") == ["blog", "page"]
    assert options(page, "parent") == [str(blog.pk)]
    assert made.status_code == 302
    assert Post.objects.get(slug="news").path == "/blog/news"
    assert Post.objects.get(slug="imprint").path == "/blog/imprint"


def test_where_nothing_new_can_be_inside_the_page_says_so(signed_in: SignedIn) -> None:
    desk(types={"page"}, terms={make.term("Coffee").pk})  # pages have no topics

    page = signed_in("desk").get(ADD).content.decode()

    assert NOTHING in page
    assert 'name="title"' not in page


def test_the_address_follows_the_title_and_says_what_is_in_the_way(signed_in: SignedIn) -> None:
    parent = make.post("Services", type="page", slug="services")
    make.post("Taken", slug="taken")
    client = signed_in("editor")
    before = make.live_hash()

    def ask(**query: str) -> tuple[str, str, str]:
        found = client.get(f"{ADD}address/", {"type": "blog", "locale": "en", **query}).json()
        return found["slug"], found["path"], found["problem"]

    assert ask(title="Cold brew, overnight") == (
        "cold-brew-overnight",
        "/blog/cold-brew-overnight",
        "",
    )
    assert ask(title="Kanne", locale="de") == ("kanne", "/de/blog/kanne", "")
    assert ask(title="Kanne", slug="mine") == ("kanne", "/blog/mine", "")
    assert ask(title="Prices", parent=str(parent.pk)) == ("prices", "/services/prices", "")
    assert ask(title="") == ask(title="x", type="unknown") == ("", "", "")
    slug, path, problem = ask(title="Taken")
    assert (slug, path) == ("taken", "/blog/taken")
    assert "already uses the address /blog/taken" in problem
    assert ask(title="x", slug="No Slug")[2]
    assert "reserved" in ask(title="Admin", type="page")[2]
    assert make.live_hash() == before
    assert signed_in("translator").get(f"{ADD}address/?title=x").status_code == 403
    # The form starts in the title, and after an error in the field to correct.
    page = client.get(ADD).content.decode()
    assert re.findall(r'id="(\w+)"[^>]* autofocus', page) == ["title"]
    refused = client.post(ADD, {"title": "Taken", "slug": "taken", "type": "blog", "locale": "en"})
    assert re.findall(r'id="(\w+)"[^>]* autofocus', refused.content.decode()) == ["slug"]
