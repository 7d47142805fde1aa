"""Saving the post form in place, restoring input, resolving conflicts, robots."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from content.models import Autosave, Layer, Post
from content.posts.edit import edit_post
from content.store import document_edits
from proofroom_apps.editorial.post_editor.form import new_module
from tests import make
from tests.admin.pages import fields, url

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
JSON = {"Accept": "application/json"}


def test_saving_in_place_returns_the_current_state_and_continues(
    signed_in: SignedIn,
) -> None:
    post, client = make.post(), signed_in()
    sent = fields(client.get(url(post)))

    first: Any = client.post(
        url(post), {**sent, "post.title": "One", "do": "save"}, headers=JSON
    ).json()
    post.refresh_from_db()
    assert (first["stays"], first["version"], post.title) == (True, post.version, "One")
    assert list(first["was"]) == ["post.title"]
    again = {**sent, "version": str(first["version"]), "post.title": "Two", "do": "save"}
    assert client.post(url(post), again, headers=JSON).json()["stays"] is True
    post.refresh_from_db()
    assert post.title == "Two"
    assert client.post(url(post), again, headers=JSON).status_code == 409


def test_saving_in_place_leads_on_where_the_page_would_show_something_else(
    signed_in: SignedIn,
) -> None:
    post, client = make.post(), signed_in()
    sent = fields(client.get(url(post)))

    made = client.post(url(post), {**sent, "add": "callout", "do": "add"})
    added: Any = client.post(url(post), {**fields(made), "do": "save"}, headers=JSON).json()
    sent = fields(client.get(url(post)))
    staged: Any = client.post(
        url(post), {**sent, "post.title": "Staged", "do": "save-review"}, headers=JSON
    ).json()

    assert added == {"stays": False, "url": url(post)}
    assert staged == {"stays": False, "url": url(post, "review", "?layer=review")}


def keep(client: Client, post: Post, typed: dict[str, Any]) -> dict[str, Any]:
    """Autosave the form; return the response that restores it."""
    assert client.post(url(post, "change/autosave"), typed).status_code == 200
    return {"copy": typed["copy"], "do": "restore"}


def test_a_draft_copy_is_restored_over_the_current_values(signed_in: SignedIn) -> None:
    post, client = make.post(excerpt="Old"), signed_in()
    kept = {**fields(client.get(url(post))), "post.title": "Typed before the crash"}
    restore = keep(client, post, kept)
    make.edited(post, {"excerpt": "By another"}, by=make.actor("admin"))
    before = make.live_hash()
    offer = client.get(url(post)).content.decode()
    assert "· Title</p>" in offer
    assert "Also changed since then" not in offer
    assert "Typed before the crash" not in offer

    page = client.post(url(post), restore)

    assert page.status_code == 200
    assert fields(page)["post.title"] == ["Typed before the crash"]
    assert fields(page)["post.excerpt"] == ["By another"]
    assert "<li>Excerpt</li>" in page.content.decode()
    assert make.live_hash() == before
    assert client.post(url(post), {**fields(page), "do": "save"}).status_code == 302
    post.refresh_from_db()
    assert (post.title, post.excerpt) == ("Typed before the crash", "By another")
    assert not Autosave.objects.exists()
    gone = client.post(url(post), restore, follow=True)
    assert "These changes were already saved or discarded." in gone.content.decode()


def test_the_offer_names_only_what_differs(signed_in: SignedIn) -> None:
    """The form sends terms ordered by name, and a copy may contain values that were saved meanwhile."""
    terms = [str(make.term(name).pk) for name in ("Espresso", "Filter", "Beans")]
    post, client = make.post(taxonomyTermIds=terms, excerpt="Old"), signed_in()
    stored = list(make.layers(post).live.taxonomy_term_ids)
    sent = fields(client.get(url(post)))
    sent |= {"post.taxonomyTermIds": stored[::-1], "post.title": ["Mine"], "post.excerpt": ["New"]}
    restore = keep(client, post, sent)
    make.edited(post, {"title": "By another", "excerpt": "New"})

    offer = client.get(url(post)).content.decode()
    page = client.post(url(post), restore).content.decode()

    assert "· Title<br>" in offer
    assert "Also changed since then: Title. You can choose what to restore." in offer
    assert re.findall(r'name="take\.([^"]+)" value="yours"', page) == ["post.title"]


def test_a_copy_that_was_not_decided_on_stays(signed_in: SignedIn) -> None:
    post, client = make.post(), signed_in()
    first = keep(client, post, {**fields(client.get(url(post))), "post.title": "First"})

    keep(client, post, {**fields(client.get(url(post))), "post.excerpt": "Second"})

    offer = client.get(url(post)).content.decode()
    assert ("· Title</p>" in offer, "· Excerpt</p>" in offer) == (True, True)
    saved = {**fields(client.get(url(post))), "post.metaTitle": "Third", "do": "save"}
    assert client.post(url(post), saved).status_code == 302
    assert Autosave.objects.count() == 2
    client.post(url(post), {**first, "do": "discard"})
    assert Autosave.objects.count() == 1


def test_a_restored_copy_goes_once_another_holds_it(signed_in: SignedIn) -> None:
    post, client = make.post(), signed_in()
    typed = {**fields(client.get(url(post))), "post.title": "First"}
    restore = keep(client, post, typed)

    restored = fields(client.post(url(post), restore))

    assert Autosave.objects.count() == 1  # nothing holds it yet
    assert restored["copy"] != typed["copy"]
    keep(client, post, {**restored, "post.excerpt": "More"})
    (copy,) = Autosave.objects.all()
    assert str(copy.pk) == restored["copy"][0]
    assert {tuple(pair) for pair in copy.entries} >= {
        ("post.title", "First"),
        ("post.excerpt", "More"),
    }
    assert client.post(url(post), {**restored, "do": "save"}).status_code == 302
    assert not Autosave.objects.exists()


def test_what_another_window_wrote_after_the_restoring_stays(signed_in: SignedIn) -> None:
    """The first window is still open and has newer input than the copy restored in the second."""
    post, client = make.post(), signed_in()
    first = {**fields(client.get(url(post))), "post.title": "First"}
    restored = fields(client.post(url(post), keep(client, post, first)))
    keep(client, post, {**first, "post.title": "First, and more"})

    keep(client, post, {**restored, "post.excerpt": "Of the second"})
    assert Autosave.objects.count() == 2
    assert client.post(url(post), {**restored, "do": "save"}).status_code == 302

    (copy,) = Autosave.objects.all()
    assert ["post.title", "First, and more"] in copy.entries


def test_words_in_a_removed_module_stay_in_the_copy(signed_in: SignedIn) -> None:
    post, client = make.post(), signed_in()
    module = make.layers(post).live.modules[1].id
    sent = fields(client.get(url(post)))
    name = next(name for name in sent if name.startswith(f"modules.{module}.") and "~" not in name)
    restore = keep(client, post, {**sent, name: ["Words of mine"]})
    edit_post(
        post_id=post.pk,
        actor=make.actor("admin"),
        edit=lambda d: document_edits.remove_module(d, module),
    )

    assert "Text in a module or field that was removed" in client.get(url(post)).content.decode()
    page = client.post(url(post), restore)
    assert "Words of mine" in page.content.decode()
    keep(client, post, {**fields(page), "post.title": "More"})

    assert Autosave.objects.filter(pk=restore["copy"][0]).exists()


def test_words_in_a_field_that_is_gone_stay_in_the_copy(signed_in: SignedIn) -> None:
    """The field was renamed in the definition after the input."""
    post, client = make.post(), signed_in()
    name = f"modules.{make.module_id(post, 'hero')}.props.tagline"
    sent = fields(client.get(url(post)))
    was = [*sent["was"], json.dumps({name: "stamp"})]
    restore = keep(client, post, {**sent, "was": was, name: ["Words of mine"]})

    assert "Text in a module or field that was removed" in client.get(url(post)).content.decode()
    page = client.post(url(post), restore)
    assert "Words of mine" in page.content.decode()


def test_a_refused_form_goes_on_with_its_own_copy(signed_in: SignedIn) -> None:
    post, client = make.post(), signed_in()
    typed = {**fields(client.get(url(post))), "post.excerpt": "Typed"}
    keep(client, post, typed)

    refused = client.post(url(post), {**typed, "post.title": "", "do": "save"})

    assert refused.status_code == 422
    assert "data-copy-offer" not in refused.content.decode()
    keep(client, post, fields(refused))
    assert [str(copy.pk) for copy in Autosave.objects.all()] == fields(refused)["copy"]


@pytest.mark.parametrize(("keep", "title"), [("theirs", "By another"), ("yours", "Mine")])
def test_who_saves_second_chooses_field_by_field(
    signed_in: SignedIn, keep: str, title: str
) -> None:
    post, client = make.post(), signed_in()
    sent = fields(client.get(url(post)))
    make.edited(post, {"title": "By another"}, by=make.actor("admin"))

    stale = client.post(
        url(post), {**sent, "post.title": "Mine", "post.excerpt": "Also mine", "do": "save"}
    )

    page = stale.content.decode()
    assert stale.status_code == 409
    assert page.count('class="choice"') == 1
    assert "By another" in page
    chosen = {**fields(stale), "take.post.title": keep, "do": "save"}
    # The page still shows both versions, so it does not continue from here.
    answer: Any = client.post(url(post), chosen, headers=JSON).json()
    assert answer == {"stays": False, "url": url(post)}
    post.refresh_from_db()
    assert (post.title, post.excerpt) == (title, "Also mine")


def test_a_locked_module_names_its_group(signed_in: SignedIn) -> None:
    page = signed_in().get(url(make.post())).content.decode()

    assert "Locked by the module group “Article”" in page


def test_a_search_hit_shows_the_layers_text(signed_in: SignedIn) -> None:
    post = make.post(metaTitle="Brew it", robotsJson={"index": False})
    make.staged(post, {"metaTitle": "Brew it slowly"}, layer=Layer.REVIEW)

    live = signed_in().get(url(post)).content.decode()
    staged = signed_in().get(url(post, query="?layer=review")).content.decode()

    assert "data-p-title>Brew it</p>" in live
    assert "data-p-title>Brew it slowly</p>" in staged
    assert '<li data-note="hidden">' in live


@pytest.mark.parametrize(
    ("typed", "rules"),
    [
        ({"noindex": "on"}, {"index": False}),
        ({"nofollow": "on", "more": '{"max-snippet": 50}'}, {"max-snippet": 50, "follow": False}),
        ({}, None),
    ],
)
def test_robots_directives_are_checkboxes(
    signed_in: SignedIn, typed: dict[str, str], rules: Any
) -> None:
    post, client = make.post(robotsJson={"index": False, "note": "x"}), signed_in()
    sent = fields(client.get(url(post)))
    assert (sent["post.robotsJson.noindex"], sent["post.robotsJson.more"]) == (
        ["on"],
        ['{\n  "note": "x"\n}'],
    )
    for name in ("noindex", "nofollow", "more"):
        sent.pop(f"post.robotsJson.{name}", None)

    named = {f"post.robotsJson.{name}": value for name, value in typed.items()}
    assert client.post(url(post), {**sent, **named, "do": "save"}).status_code == 302

    assert make.layers(post).live.fields["robotsJson"] == rules


def test_rules_that_are_no_rules_are_refused_where_they_stand(signed_in: SignedIn) -> None:
    post, client = make.post(), signed_in()
    sent = fields(client.get(url(post)))
    before = make.live_hash()

    listed = client.post(url(post), {**sent, "post.robotsJson.more": "[1]", "do": "save"})
    wrong = client.post(
        url(post), {**sent, "post.robotsJson.more": '{"index": "no"}', "do": "save"}
    )

    assert (listed.status_code, wrong.status_code) == (422, 422)
    assert "robotsJson" in listed.content.decode().split('id="f-post-robotsJson"')[1][:400]
    assert make.live_hash() == before


@pytest.mark.parametrize("value", ['"\\ud800"', '{"\\ud800": 1}'])
def test_half_a_character_is_refused_and_shown_as_none(signed_in: SignedIn, value: str) -> None:
    post, client = make.post(), signed_in()
    before = make.live_hash()
    sent = fields(client.get(url(post)))
    content = f"modules.{make.module_id(post, 'prose')}.props.content~doc"

    for typed in ({"post.jsonldOverrides": value}, {content: value}):
        kept = client.post(url(post), keep(client, post, {**sent, **typed}))
        stale = client.post(url(post), {**sent, **typed, "version": "0", "do": "save"})
        saved = client.post(url(post), {**sent, **typed, "do": "save"})
        shown = client.post(url(post, "preview/typed"), {**sent, **typed})

        answers = [answer.status_code for answer in (kept, stale, saved, shown)]
        assert answers == [200, 409, 422, 422]
    assert make.live_hash() == before


def test_a_new_module_goes_by_no_other_name_than_a_number() -> None:
    assert new_module("new-1:callout", {}) is not None
    for name in ('new-"><img src=x onerror=alert(1)>', "new-", "new-1.2", "new-12345", "new-٣"):
        assert new_module(f"{name}:callout", {}) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("post.featuredMediaId", "nothing"),
        ("post.featuredMediaId~other", "/a"),
        ("post.jsonldOverrides", "[1]"),
        ("post.robotsJson.more", "[1]"),
    ],
)
def test_the_live_preview_waits_for_what_cannot_be_saved(
    signed_in: SignedIn, name: str, value: str
) -> None:
    post, client = make.post(), signed_in()
    sent = {**fields(client.get(url(post))), name: value}

    answer = client.post(url(post, "preview/typed"), sent)

    assert answer.status_code == 422
    assert answer.json()["message"]


@pytest.mark.parametrize("do", ["save", "restore"])
def test_words_typed_into_a_module_that_others_removed_are_shown(
    signed_in: SignedIn, do: str
) -> None:
    post, client = make.post(), signed_in()
    prose = make.module_id(post, "prose")
    sent = fields(client.get(url(post)))
    edit_post(
        post_id=post.pk,
        actor=make.actor("admin"),
        edit=lambda document: document_edits.remove_module(document, prose),
    )

    typed = {**sent, f"modules.{prose}.props.content": "Long <b>words"}
    asked = {**typed, "do": do} if do == "save" else keep(client, post, typed)
    page = client.post(url(post), asked).content.decode()

    assert page.count("readonly rows=") == 1
    assert 'aria-label="Your text">Long &lt;b&gt;words</textarea>' in page


def test_fields_that_nobody_filled_name_nobody_who_wrote_them(signed_in: SignedIn) -> None:
    post = make.post(excerpt="Words")
    make.edited(post, {"excerpt": "", "metaTitle": "Typed"})

    page = signed_in().get(url(post)).content.decode()

    assert "Who wrote Meta title: Written by a person" in page
    assert "Who wrote Excerpt" not in page


def test_the_form_says_when_a_post_was_first_published(signed_in: SignedIn) -> None:
    published, draft, client = make.post(), make.post("Draft", status="draft"), signed_in()

    words = '<span class="label">First published</span>'
    assert words in client.get(url(published)).content.decode()
    assert words not in client.get(url(draft)).content.decode()


def test_a_description_from_the_excerpt_is_not_called_missing(signed_in: SignedIn) -> None:
    client = signed_in()
    notes = [
        client.get(url(make.post(f"P {n}", slug=f"p{n}", excerpt=text))).content.decode()
        for n, text in enumerate(("Words", ""))
    ]

    assert ['<li data-note="no-words">' in page for page in notes] == [True, False]
    assert ['<li data-note="nothing">' in page for page in notes] == [False, True]


def test_the_note_of_an_image_that_was_not_imported_is_warned_of(signed_in: SignedIn) -> None:
    post, client = make.post(), signed_in()
    prose = next(one.id for one in make.layers(post).live.modules if one.type == "prose")
    sent = {
        **fields(client.get(url(post))),
        f"modules.{prose}.props.content": "Words [Image not imported: x.png]",
        "do": "save",
    }

    page = client.post(url(post), sent, follow=True).content.decode()

    assert "Visitors can read a note about an image that was not imported." in page
    sent = {**fields(client.get(url(post))), "post.excerpt": "Other", "do": "save"}
    saved = client.post(url(post), sent, headers={"accept": "application/json"}).json()
    assert saved["notice"].startswith("Visitors can read a note about an image")
    sent = {**fields(client.get(url(post))), "do": "unpublish"}
    assert (
        "Visitors can read a note" not in client.post(url(post), sent, follow=True).content.decode()
    )
