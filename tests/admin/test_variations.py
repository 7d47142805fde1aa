"""The page of variations: shares, confirmation of each step, and hidden actions for non-editors."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.test import Client

from content.models import Post
from content.posts.publish import set_status
from content.posts.variations import create_variation
from content.store.traffic import change_variation
from tests import make
from tests.admin.pages import url

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]


def varied(post: Post, name: str = "B", weight: int = 30, *, running: bool = False) -> Post:
    actor = make.actor()
    made = create_variation(post_id=post.pk, variation=name, actor=actor, weight=weight)
    make.edited(made, {"title": f"Title of {name}"})
    words = {"running": True} if running else {}
    return change_variation(post_id=post.pk, variation_id=made.pk, actor=actor, **words)


def text(response: Any) -> str:
    return unescape(response.content.decode())


def state(variation: Post) -> tuple[int | None, bool]:
    row = Post.objects.get(pk=variation.pk)
    return row.variation_weight, row.variation_running


def ask(post: Post, what: str, variation: Post) -> str:
    return f"{url(post, 'variations')}?ask={what}&variation={variation.pk}"


def test_without_variations_it_says_what_a_test_is(signed_in: SignedIn) -> None:
    page = text(signed_in("editor").get(url(make.post(), "variations")))

    assert "Test another version of this page" in page
    assert 'class="versions"' not in page
    assert 'name="variation"' in page


def test_the_picture_shows_who_is_shown_what(signed_in: SignedIn) -> None:
    post = make.post()
    varied(post, "B", 30, running=True)
    varied(post, "C", 10, running=True)
    varied(post, "D", 60)

    page = text(signed_in("editor").get(url(post, "variations")))

    bars = re.findall(r'<rect class="look-(\d)" x="(\d+)" width="(\d+)"', page)
    assert bars == [("0", "0", "60"), ("1", "60", "30"), ("2", "90", "10")]
    names = re.findall(r"<strong>(\w)</strong> (\d+) %", page)
    assert names == [("A", "60"), ("B", "30"), ("C", "10")]
    assert f'href="{post.path}?variation=B"' in page
    assert f"{post.path}?variation=D" not in page
    assert "Experiment results" in page


def test_starting_warns_where_no_goal_can_be_reached(signed_in: SignedIn) -> None:
    post = make.post()
    made = varied(post)
    client = signed_in("editor")
    warning = "no goal that a visitor can reach"

    assert f"Versions A, B have {warning}" in text(client.get(ask(post, "start", made)))
    make.added_module(
        made, type="callout", props={"title": "Buy", "ctaLabel": "Buy", "ctaUrl": "/buy"}
    )
    assert f"Version A has {warning}" in text(client.get(ask(post, "start", made)))
    form = make.form()
    make.added_module(post, type="form", props={"form": form.slug})
    assert warning not in text(client.get(ask(post, "start", made)))
    assert warning not in text(client.get(ask(post, "stop", made)))


def test_a_share_is_set_and_a_wrong_one_is_refused(signed_in: SignedIn) -> None:
    post = make.post()
    made = varied(post, running=True)
    varied(post, "C", 50, running=True)
    client, page = signed_in("editor"), url(post, "variations")

    client.post(page, {"do": "weigh", "value": str(made.pk), "weight": "40"})
    assert state(made) == (40, True)
    for weight in ("0", "101", "", "x", "1e1", "9" * 5000):
        sent = {"do": "weigh", "value": str(made.pk), "weight": weight}
        assert "from 1 to 100" in text(client.post(page, sent, follow=True))
    sent = {"do": "weigh", "value": str(made.pk), "weight": "51"}
    assert "B can get at most 50" in text(client.post(page, sent, follow=True))
    assert state(made) == (40, True)


def test_each_step_is_asked_first_and_done_then(signed_in: SignedIn) -> None:
    post = make.post("Filter coffee")
    varied(post, "C", 10, running=True)
    made = varied(post)
    client, page = signed_in("editor"), url(post, "variations")

    start = text(client.get(ask(post, "start", made)))
    assert "30 % of visitors to /blog/filter-coffee see “Title of B”" in start
    assert "60 % of visitors and all search engines see the original" in start
    assert "C keeps its 10 %" in start
    assert state(made) == (30, False)
    client.post(page, {"do": "start", "value": str(made.pk)})
    assert state(made) == (30, True)

    stop = text(client.get(ask(post, "stop", made)))
    assert "90 % of visitors will see the original" in stop
    assert state(made) == (30, True)
    client.post(page, {"do": "stop", "value": str(made.pk)})
    assert state(made) == (30, False)


def test_what_does_not_fit_has_no_button_to_start_it(signed_in: SignedIn) -> None:
    post = make.post()
    varied(post, "C", 80, running=True)
    made = varied(post)
    client = signed_in("editor")

    asked = text(client.get(ask(post, "start", made)))
    assert "leave 20 % of visitors, but B needs 30 %" in asked
    assert 'value="start"' not in asked
    sent = {"do": "start", "value": str(made.pk)}
    refused = text(client.post(url(post, "variations"), sent, follow=True))
    assert "B can get at most 20" in refused
    assert state(made) == (30, False)


def test_the_pages_of_a_variation_say_who_sees_what_is_saved_there(signed_in: SignedIn) -> None:
    post = make.post("Filter coffee")
    made = varied(post)
    client = signed_in("editor")

    page = text(client.get(url(made)))
    link = f'<a href="{url(post, "variations")}">Filter coffee</a>'
    assert f"variation B of {link} · not shown to visitors" in page
    assert "variation" not in text(client.get(url(post))).split('class="tabs"')[0].split("<h1>")[1]

    change_variation(post_id=post.pk, variation_id=made.pk, actor=make.actor(), running=True)
    page = text(client.get(url(made)))
    assert f"variation B of {link} · shown to 30 % of visitors" in page
    assert "Publish changes" in page
    assert "badge-draft" not in page


def test_a_promotion_shows_every_change_before_it_is_made(signed_in: SignedIn) -> None:
    post = make.post("Filter coffee")
    made = varied(post, running=True)
    client = signed_in("editor")

    asked = text(client.get(ask(post, "promote", made)))

    assert re.search(r"<del>.*Filter coffee.*</del>", asked)
    assert re.search(r"<ins>.*Title of B.*</ins>", asked)
    assert "The experiment ends" in asked
    assert Post.objects.get(pk=post.pk).title == "Filter coffee"
    client.post(url(post, "variations"), _sent(asked))
    assert Post.objects.get(pk=post.pk).title == "Title of B"
    assert state(made) == (30, False)


def _sent(page: str) -> dict[str, str]:
    """Return the confirmation form's data, as a browser sends it."""
    fields = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page)
    return {**dict(fields), "do": "promote"}


def test_what_moved_since_the_question_is_named_and_nothing_promoted(signed_in: SignedIn) -> None:
    post = make.post("Filter coffee")
    made = varied(post, running=True)
    client = signed_in("editor")
    old = _sent(text(client.get(ask(post, "promote", made))))
    make.edited(post, {"excerpt": "Moved on"})
    before = make.live_hash()

    for late, named in (
        (old, "<li>Filter coffee: Excerpt</li>"),
        ({**old, "version": "2", "variation_version": "1"}, "<li>Title of B: Title</li>"),
        ({**old, "version": "-1", "variation_version": "9" * 99}, "<li>Title of B</li>"),
    ):
        answer = client.post(url(post, "variations"), late)
        assert (answer.status_code, named in text(answer)) == (409, True)
        assert make.live_hash() == before
        assert state(made) == (30, True)
    client.post(url(post, "variations"), _sent(text(answer)))
    assert Post.objects.get(pk=post.pk).title == "Title of B"


def test_what_is_not_published_offers_no_start(signed_in: SignedIn) -> None:
    post = make.post()
    made = varied(post)
    set_status(post_id=post.pk, status="draft", actor=make.actor())
    client = signed_in("editor")

    page = text(client.get(url(post, "variations")))

    assert "Publish the original before you start a variation." in page
    assert "ask=start" not in page
    sent = {"do": "start", "value": str(made.pk)}
    assert "Publish the original first" in text(
        client.post(url(post, "variations"), sent, follow=True)
    )


def test_a_translator_looks_and_does_nothing(signed_in: SignedIn) -> None:
    post = make.post()
    made = varied(post, running=True)
    before = make.live_hash()
    client, page = signed_in("translator"), url(post, "variations")

    shown = text(client.get(page))

    assert "Title of B" in shown
    for offered in ("ask=", 'name="weight"', "Experiment results"):
        assert offered not in shown
    for what in ("start", "stop", "promote"):
        assert client.get(ask(post, what, made)).status_code == 403
    for sent in ({"do": "stop"}, {"do": "start"}, {"do": "weigh", "weight": "1"}):
        client.post(page, {**sent, "value": str(made.pk)})
    assert state(made) == (30, True)
    assert make.live_hash() == before


def test_threat_04_another_posts_variation_is_not_there(signed_in: SignedIn) -> None:
    post, other = make.post(), make.post("Other", slug="other")
    foreign = varied(other)
    client = signed_in("editor")

    for value in (str(foreign.pk), str(post.pk), "nonsense", ""):
        asked = f"{url(post, 'variations')}?ask=promote&variation={value}"
        assert client.get(asked).status_code == 404
        sent = {"do": "start", "value": value}
        assert client.post(url(post, "variations"), sent, follow=True).status_code in (200, 404)
    assert state(foreign) == (30, False)
