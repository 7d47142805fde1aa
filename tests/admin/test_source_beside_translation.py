"""Mismatches of a translation with its source, on the pages of reviews and translations."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse_lazy

from content.models import Layer, Post
from content.store import document_edits
from content.translations.translate import create_translation, propose_translation
from proofroom.core.content_scope import ContentScope
from tests import make

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
MATRIX = reverse_lazy("admin:content-translations")


def proposed(source: Post, **fields: str) -> Post:
    made = propose_translation(
        post_id=source.pk,
        locale="de",
        actor=make.agent_actor(),
        fields={"title": "Zwei Wege hinein", **fields},
    )
    return made.post


def german(source: Post, **fields: str) -> Post:
    post = create_translation(post_id=source.pk, locale="de", actor=make.actor("admin"))
    make.edited(post, fields)
    post.refresh_from_db()
    return post


def review_of(client: Client, post: Post, layer: str = "ai-review") -> str:
    answer = client.get(f"/admin/content/post/{post.pk}/review/?layer={layer}")
    assert answer.status_code == 200
    return answer.content.decode()


def card(html: str, path: str) -> str:
    return unescape(html.partition(f'id="c-{path}"')[2].partition("</article>")[0])


def test_a_card_of_a_translation_has_the_source_beside_the_proposal(signed_in: SignedIn) -> None:
    post = proposed(make.post("Two ways in"))

    shown = card(review_of(signed_in(), post), "post.title")

    source, own = shown.split('class="card-proposal"')
    assert 'lang="en"' in source
    assert "Two ways in" in source
    assert "Zwei Wege hinein" in own
    assert "source-mismatches" not in shown


def test_a_card_names_only_what_does_not_agree(signed_in: SignedIn) -> None:
    source = make.post("Two ways in", excerpt="Yes, it costs 20 euros.")
    post = proposed(source, title="Drei Wege hinein", excerpt="Nein, es kostet 20 Euro.")

    html = review_of(signed_in(), post)

    assert "Number: Two in the source, Drei here" in card(html, "post.title")
    excerpt = card(html, "post.excerpt")
    assert "1 thing does not agree with the source" in excerpt
    assert "Yes or no: Yes in the source, Nein here" in excerpt


def test_a_module_card_shows_the_source_text(signed_in: SignedIn) -> None:
    source = make.post(markdown="## When\n\nIt takes [two weeks](https://a.example).")
    prose = make.module_id(source, "prose")
    made = propose_translation(
        post_id=source.pk,
        locale="de",
        actor=make.agent_actor(),
        modules={prose: {"content": "Es dauert zwei Tage."}},
    )

    shown = card(review_of(signed_in(), made.post), f"modules.{made.modules[prose]}")

    assert "It takes two weeks." in shown.split('class="card-proposal"')[0]
    for text in (
        "Headings: 1 in the source, 0 here",
        "1 · Paragraph: Unit: two weeks in the source, zwei Tage here",
        "1 · Paragraph: Link missing here: https://a.example",
    ):
        assert text in shown


def test_facts_that_agree_with_the_source_are_not_named(signed_in: SignedIn) -> None:
    source = make.post("Two ways in", excerpt="It costs 20 euros.")
    agreeing = proposed(source, excerpt="Es kostet 20 Euro.")
    own = make.post("Coffee")
    make.staged(own, {"excerpt": "It costs 20 euros."})
    client = signed_in()

    assert "Price added" not in card(review_of(client, agreeing), "post.excerpt")
    assert "Price added" in card(review_of(client, own), "post.excerpt")


def test_the_source_is_shown_whole(signed_in: SignedIn) -> None:
    source = make.post(markdown="\n\n".join(f"Paragraph {at}" for at in range(20)))
    post = proposed(source)
    [copy] = [one for one in make.layers(post).ai_review.document.modules if one.type == "prose"]

    shown = card(review_of(signed_in(), post), f"modules.{copy.id}").split("card-proposal")[0]

    assert all(f"Paragraph {at}" in shown for at in range(20))
    assert "same-blocks" not in shown


def test_words_of_the_source_are_escaped(signed_in: SignedIn) -> None:
    post = proposed(make.post("Two <script>alert(1)</script> ways"), title="Drei Wege")

    html = review_of(signed_in(), post)

    assert "<script>alert(1)" not in html


def test_a_source_out_of_sight_is_not_shown(signed_in: SignedIn) -> None:
    post = proposed(make.post("Two ways in"), title="Drei Wege hinein")
    make.site_role(
        "german", "posts.view", "posts.edit", "posts.review.approve",
        "posts.ai-review.approve", scope=ContentScope(locales=frozenset({"de"})),
    )  # fmt: skip

    html = review_of(signed_in("german"), post)

    assert "Drei Wege hinein" in html
    assert "with-source" not in html
    assert "source-mismatches" not in html


def test_a_post_that_is_no_translation_has_no_source(signed_in: SignedIn) -> None:
    post = make.post("Coffee")
    make.staged(post, {"title": "Tea"})

    assert "with-source" not in review_of(signed_in(), post)


def test_a_module_that_is_removed_is_named(signed_in: SignedIn) -> None:
    post = german(make.post(markdown="Two cats"))
    prose = make.module_id(post, "prose")
    make.staged(
        post,
        layer=Layer.REVIEW,
        edit=lambda document: document_edits.remove_module(document, prose),
    )

    shown = card(review_of(signed_in(), post, "review"), f"modules.{prose}")

    assert "Module missing here:" in shown
    assert "Two cats" in shown


def test_the_page_beside_the_source_names_what_does_not_agree(signed_in: SignedIn) -> None:
    post = german(
        make.post("Two ways in", excerpt="20 cats"), title="Drei Wege hinein", excerpt="20 Katzen"
    )

    html = unescape(signed_in().get(f"/admin/content/post/{post.pk}/translate/").content.decode())

    assert "1 field does not agree with the source" in html
    assert re.search(
        r'<a href="#t-post-title">Title</a>: Number: Two in the source, Drei here', html
    )
    row = html.partition('id="t-post-title"')[2].partition('class="beside-row"')[0]
    assert "Does not agree with the source" in row
    row = html.partition('id="t-post-excerpt"')[2].partition('class="beside-row"')[0]
    assert "Does not agree with the source" not in row


def test_the_list_of_translations_counts_and_names_them(signed_in: SignedIn) -> None:
    source = make.post("Two ways in")
    post = german(source, title="Drei Wege hinein")
    client = signed_in()

    own = unescape(client.get(f"/admin/content/post/{post.pk}/translations/").content.decode())
    other = unescape(client.get(f"/admin/content/post/{source.pk}/translations/").content.decode())
    matrix = unescape(client.get(MATRIX).content.decode())

    assert "1 not as in the source" in own
    assert "Title: Number: Two in the source, Drei here" in own
    assert "1 not as in the source" in other
    assert "1 not as in the source" in matrix

    make.edited(post, {"title": "Zwei Wege hinein"})

    assert "not as in the source" not in client.get(MATRIX).content.decode()


def test_texts_that_are_not_translated_yet_are_only_said_to_be_that(signed_in: SignedIn) -> None:
    text = "This is a text that is long enough to say which language it is written in."
    post = german(make.post(excerpt=text))
    client = signed_in()

    html = client.get(f"/admin/content/post/{post.pk}/translate/").content.decode()

    assert "Not translated yet" in html
    assert "should be in" not in html
    assert "not as in the source" not in client.get(MATRIX).content.decode()
