"""Rows of the post list: content, menu, and number of queries."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from content.models import Layer, Post, Status
from content.posts.publish import set_status
from proofroom_apps.editorial.post_admin import PostAdmin
from tests import make

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
LIST = "/admin/content/post/"
HOSTILE = "<b>\"T'&</b> @title@ {{ x }} 00000000-0000-0000-0000-000000000000"


def rows(client: Client, query: str = "", language: str = "en") -> dict[str, str]:
    """Return the HTML of each row, by the id of its post."""
    answer = client.get(f"{LIST}{query}", headers={"accept-language": language})
    page = answer.content.decode()
    table = page.partition("<tbody>")[2].partition("</tbody>")[0]
    return {re.findall(r"([^/]{36})/change/", row)[0]: row for row in table.split("<tr>")[1:]}


def links(row: str) -> list[str]:
    return [link.removeprefix(LIST) for link in re.findall(r'href="([^"#]+)"', row)]


def test_each_row_has_its_own_texts_and_links(signed_in: SignedIn) -> None:
    first, second = make.post(HOSTILE, slug="first"), make.post("Second")
    make.staged(first, {"excerpt": "Other"}, layer=Layer.REVIEW)
    make.staged(first, {"excerpt": "Another"}, layer=Layer.AI_REVIEW)

    shown = rows(signed_in("editor"))

    assert {*shown} == {str(first.pk), str(second.pk)}
    row = shown[str(first.pk)]
    assert f'<span>{escape(HOSTILE)}<span class="row-path">{first.path}</span></span>' in row
    assert f'aria-label="Select {escape(HOSTILE)}"' in row
    assert f">Actions for {escape(HOSTILE)}<" in row
    of_first = f"{first.pk}/"
    assert links(row) == [
        f"{of_first}change/",
        f"{of_first}review/?layer=ai-review",
        f"{of_first}review/?layer=review",
        f"{of_first}change/",
        f"{of_first}review/?layer=review",
        first.path,
        f"{of_first}translations/",
        f"{of_first}revisions/",
        f"tree/copy/?page={first.pk}",
        f"{of_first}delete/",
    ]
    assert links(shown[str(second.pk)]) == [
        f"{second.pk}/change/",
        f"{second.pk}/change/",
        second.path,
        f"{second.pk}/translations/",
        f"{second.pk}/revisions/",
        f"tree/copy/?page={second.pk}",
        f"{second.pk}/delete/",
    ]


def test_a_menu_has_what_its_reader_may_do_in_their_language(signed_in: SignedIn) -> None:
    post = make.post("Tea")
    editor, translator = signed_in("editor"), signed_in("translator")

    before, after = rows(editor)[str(post.pk)], rows(translator)[str(post.pk)]

    assert f"{post.pk}/delete/" in links(before)
    assert f"{post.pk}/delete/" not in links(after)
    # Cached by language.
    in_german = rows(editor, language="de")[str(post.pk)]
    assert "Revisionen" in in_german
    assert rows(editor)[str(post.pk)] == before


def test_a_row_links_back_to_the_filtered_list(signed_in: SignedIn) -> None:
    post = make.post("Tea")

    row = rows(signed_in("editor"), "?status__exact=published&o=-name")[str(post.pk)]

    kept = "_changelist_filters=status__exact%3Dpublished%26o%3D-name"
    assert f'<a href="{LIST}{post.pk}/change/?{kept}">' in row


def test_what_was_taken_down_has_a_word_and_a_filter_of_its_own(signed_in: SignedIn) -> None:
    posts = {title: make.post(title, slug=title.lower()) for title in ("Live", "Down", "New")}
    set_status(post_id=posts["Down"].pk, status=Status.DRAFT, actor=make.actor("editor"))
    Post.objects.filter(pk=posts["New"].pk).update(status=Status.DRAFT, published_at=None)
    client = signed_in("editor")

    shown = rows(client)

    words = {
        title: re.findall(r'badge-(\w+)">(\w+)<', shown[str(post.pk)])
        for title, post in posts.items()
    }
    assert words == {
        "Live": [("published", "Published")],
        "Down": [("unpublished", "Unpublished")],
        "New": [("draft", "Draft")],
    }
    assert list(rows(client, "?status__exact=unpublished")) == [str(posts["Down"].pk)]
    assert list(rows(client, "?status__exact=draft")) == [str(posts["New"].pk)]
    page = client.get(f"{LIST}?status__exact=unpublished").content.decode()
    assert "status__exact=unpublished" in page
    editor = client.get(f"{LIST}{posts['Down'].pk}/change/").content.decode()
    assert re.search(r"badge-unpublished[^>]*>\s*Unpublished", editor)


def test_the_filters_of_a_list_ask_one_question_for_their_choices(signed_in: SignedIn) -> None:
    make.post("Tea")
    make.post("Kanne", locale="de")
    client = signed_in("editor")
    client.get(LIST)

    with CaptureQueriesContext(connection) as asked:
        page = client.get(LIST).content.decode()

    assert sum("RECURSIVE" in query["sql"] for query in asked) == 1
    assert not any("DISTINCT" in query["sql"] for query in asked)
    choices = page.partition('id="changelist-filter"')[2].partition("</nav>")[0]
    assert re.findall(r'href="\?locale=(\w+)"', choices) == ["de", "en"]
    assert re.findall(r'href="\?type=(\w+)"', choices) == ["blog"]


def test_every_post_is_on_a_page_of_the_list(
    signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PostAdmin, "list_per_page", 2)
    for number in range(7):
        make.post(f"Post {number}")
    Post.objects.filter(title__in=["Post 2", "Post 3", "Post 4"]).update(updated_at=timezone.now())
    editor = signed_in("editor")

    for order in ("", "name", "-name", "changed", "-state"):
        lists = [editor.get(f"{LIST}?o={order}&p={n}").context["cl"] for n in range(1, 5)]
        titles = [post.title for page in lists for post in page.result_list]
        assert sorted(titles) == [f"Post {number}" for number in range(7)]
        assert {page.paginator.num_pages for page in lists} == {4}
