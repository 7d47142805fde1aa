from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from content.models import Layer, Post, Status
from content.posts.edit import edit_post
from content.store import document_edits
from tests import make
from tests.admin.pages import fields, url

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]


def save(client: Client, post: Post, do: str = "save", query: str = "", **typed: Any) -> Any:
    """Open the form, fill it in, press a button."""
    sent = fields(client.get(url(post, query=query)))
    return client.post(url(post, query=query), {**sent, **typed, "do": do})


def test_saving_untouched_changes_nothing(signed_in: SignedIn) -> None:
    post = make.post(
        markdown="# A\n\n- one\n- two **bold** [l](https://example.com)\n\n> q", excerpt="E"
    )
    before = make.live_hash()

    answer = save(signed_in(), post)

    assert answer.status_code == 302
    assert make.live_hash() == before


def test_saving_live_changes_just_what_was_typed(signed_in: SignedIn) -> None:
    post = make.post()
    prose, faq = make.module_id(post, "prose"), make.module_id(post, "faq")

    answer = save(
        signed_in(),
        post,
        **{
            "post.title": "Typed",
            f"modules.{prose}.props.content": "Typed *text*",
            f"modules.{faq}.props.heading": "Questions",
        },
    )

    assert answer.status_code == 302
    revision = post.revisions.order_by("-version").first()
    assert revision is not None
    assert sorted(revision.changed_paths) == sorted(
        ["post.title", f"modules.{prose}.props.content", f"modules.{faq}.props.heading"]
    )
    assert revision.by_name == "editor"


def test_saving_to_review_leaves_live_content_and_shows_the_review(signed_in: SignedIn) -> None:
    post = make.post()
    before = make.live_hash()

    answer = save(signed_in(), post, "save-review", **{"post.title": "Staged"})

    assert answer.url == url(post, "review", "?layer=review")
    assert make.live_hash() == before
    assert make.layers(post).review.changes.paths == ("post.title",)


def test_a_live_post_is_saved_without_publishing(signed_in: SignedIn) -> None:
    post, draft, client = make.post(), make.post(status="draft", slug="draft"), signed_in()
    long_ago = timezone.now() - timedelta(days=9)
    Post.objects.filter(pk=post.pk).update(updated_at=long_ago)
    before = make.live_hash()
    page = client.get(url(post)).content.decode()
    button = re.search(r'<button[^>]*value="save-pending"[^>]*>([^<]+)', page)

    answer = save(client, post, "save-pending", **{"post.title": "Next week"})
    editor = client.get(answer.url).content.decode()
    again = save(client, post, "save-pending")

    assert button is not None
    assert button[1] == "Save without publishing"
    # Enabled by the script as soon as there is something to save.
    assert "data-needs-changes" in button[0]
    assert answer.url == url(post, "change", "?layer=review")
    assert "Saved without publishing: Title. Visitors see the published version." in editor
    assert 'value="Next week"' in editor
    saved = [re.findall(r'data-saved-at="([^"]+)', one)[0] for one in (page, editor)]
    assert saved[0] < saved[1]
    assert again.url == url(post)
    assert make.live_hash() == before
    assert make.layers(post).review.changes.paths == ("post.title",)
    assert "save-pending" not in client.get(url(draft)).content.decode()


def test_words_that_wait_in_review_are_not_overwritten_from_the_live_form(
    signed_in: SignedIn,
) -> None:
    post = make.post()
    make.staged(post, {"title": "By a colleague"}, layer=Layer.REVIEW)

    answer = save(signed_in(), post, "save-review", **{"post.title": "Mine", "post.excerpt": "New"})

    assert answer.status_code == 409
    page = answer.content.decode()
    assert "Other changes are already waiting in Review for: Title" in page
    assert "Mine" in page
    assert make.layers(post).review.changes.paths == ("post.title",)
    assert make.layers(post).review.document.fields["title"] == "By a colleague"


def test_what_is_staged_is_edited_in_review(signed_in: SignedIn) -> None:
    post = make.post()
    make.staged(post, {"title": "Staged"}, layer=Layer.REVIEW)

    save(signed_in(), post, "save-review", "?layer=review", **{"post.excerpt": "More"})

    review = make.layers(post).review.document.fields
    assert (review["title"], review["excerpt"]) == ("Staged", "More")


def test_a_stale_save_keeps_what_was_typed_and_names_what_others_changed(
    signed_in: SignedIn,
) -> None:
    post = make.post(excerpt="Old")
    client = signed_in()
    sent = fields(client.get(url(post)))
    make.edited(post, {"excerpt": "By another"}, by=make.actor("admin"))

    answer = client.post(url(post), {**sent, "post.title": "Typed", "do": "save"})

    assert answer.status_code == 409
    again = fields(answer)
    assert again["post.title"] == ["Typed"]
    assert again["post.excerpt"] == ["By another"]
    assert "<li>Excerpt</li>" in answer.content.decode()
    assert client.post(url(post), {**again, "do": "save"}).status_code == 302
    post.refresh_from_db()
    assert (post.title, post.excerpt) == ("Typed", "By another")


def test_lane_22_a_refused_save_keeps_every_typed_value_and_points_at_the_field(
    signed_in: SignedIn,
) -> None:
    post = make.post()
    hero, faq = make.module_id(post, "hero"), make.module_id(post, "faq")
    before = make.live_hash()
    client = signed_in()
    one_more = client.post(
        url(post), {**fields(client.get(url(post))), "do": f"item-add:modules.{faq}.props.items"}
    )
    typed = {
        f"modules.{hero}.props.ctaUrl": "javascript:alert(1)",
        f"modules.{faq}.props.items.0.question": "Q" * 301,
        "post.excerpt": "Typed excerpt",
    }

    answer = client.post(url(post), {**fields(one_more), **typed, "do": "save"})

    assert answer.status_code == 422
    again = fields(answer)
    assert {name: again[name] for name in typed} == {name: [value] for name, value in typed.items()}
    page = answer.content.decode()
    assert f'id="f-modules-{hero}-props-ctaUrl-errors"' in page
    assert make.live_hash() == before


def test_a_bad_slug_is_an_error_of_its_field(signed_in: SignedIn) -> None:
    make.post("Other", slug="taken")
    post = make.post()

    answer = save(signed_in(), post, **{"post.slug": "taken"})

    assert answer.status_code == 422
    assert 'id="f-post-slug-errors"' in answer.content.decode()


def test_a_refusal_is_said_once_at_its_field_in_the_words_of_the_form(signed_in: SignedIn) -> None:
    post = make.post()
    client = signed_in()
    sent = {**fields(client.get(url(post))), "post.title": " ", "do": "save"}
    before = make.live_hash()

    english = client.post(url(post), sent).content.decode()
    german = client.post(url(post), sent, headers={"Accept-Language": "de"}).content.decode()

    assert english.count("“Title” must not be empty.") == 1
    assert '<a href="#f-post-title">Title</a>' in english
    assert "title must not be empty" not in english
    assert german.count("„Titel“ darf nicht leer sein.") == 1
    assert make.live_hash() == before


def test_json_that_is_none_is_an_error_and_stays_typed(signed_in: SignedIn) -> None:
    answer = save(signed_in(), make.post(), **{"post.robotsJson.more": "{no"})

    assert answer.status_code == 422
    assert fields(answer)["post.robotsJson.more"] == ["{no"]


def test_modules_are_added_moved_and_removed_without_saving_until_saved(
    signed_in: SignedIn,
) -> None:
    post = make.post()
    client = signed_in()
    faq, prose = make.module_id(post, "faq"), make.module_id(post, "prose")
    before = make.live_hash()

    page = client.post(
        url(post),
        {**fields(client.get(url(post))), "post.title": "Typed", "add": "callout", "do": "add"},
    )
    page = client.post(
        url(post),
        {**fields(page), "modules.new-1.props.title": "A callout", "do": "up:new-1"},
    )
    page = client.post(url(post), {**fields(page), "do": f"remove:{faq}"})
    assert make.live_hash() == before
    assert fields(page)["post.title"] == ["Typed"]
    assert client.post(url(post), {**fields(page), "do": "save"}).status_code == 302

    live = make.layers(post).live
    assert [module.type for module in live.modules] == ["hero", "prose", "callout"]
    assert live.modules[2].props["title"] == "A callout"
    assert live.modules[1].id == prose
    assert live.fields["title"] == "Typed"


def test_threat_52_a_locked_module_is_neither_removed_nor_moved_by_a_forged_form(
    signed_in: SignedIn,
) -> None:
    post = make.post()
    client = signed_in()
    hero = make.module_id(post, "hero")
    sent = fields(client.get(url(post)))
    before = make.live_hash()

    gone = {**sent, "order": [id_ for id_ in sent["order"] if id_ != hero], "do": "save"}
    moved = {**sent, "order": sent["order"][::-1], "do": "save"}
    for form in (gone, moved):
        answer = client.post(url(post), form)
        assert answer.status_code == 422
        assert "is locked by the module group" in answer.content.decode()

    assert make.live_hash() == before


def test_items_of_a_list_are_added_moved_and_removed(signed_in: SignedIn) -> None:
    post = make.post()
    client = signed_in()
    faq = make.module_id(post, "faq")
    path = f"modules.{faq}.props.items"
    page = client.get(url(post))
    for question in ("First", "Second", "Third"):
        at = int(fields(page)[f"{path}.count"][0])
        page = client.post(url(post), {**fields(page), "do": f"item-add:{path}"})
        page = client.post(
            url(post), {**fields(page), f"{path}.{at}.question": question, "do": "none"}
        )
    page = client.post(url(post), {**fields(page), "do": f"item-up:{path}.2"})
    page = client.post(url(post), {**fields(page), "do": f"item-remove:{path}.0"})

    client.post(url(post), {**fields(page), f"{path}.0.answer": "Because.", "do": "save"})

    module = make.layers(post).live.module(faq)
    assert module is not None
    items: Any = module.props["items"]
    assert [item["question"] for item in items] == ["Third", "Second"]
    assert items[0]["answer"]["content"][0]["content"][0]["text"] == "Because."


def test_a_shared_module_is_overridden_for_this_post_only(signed_in: SignedIn) -> None:
    shared = make.global_module(body={"type": "doc", "content": []})
    post = make.post()
    client = signed_in()

    page = client.post(
        url(post), {**fields(client.get(url(post))), "add": "callout@newsletter", "do": "add"}
    )
    page = client.post(
        url(post), {**fields(page), "modules.new-1.overrides.title": "Only here", "do": "save"}
    )

    shared.refresh_from_db()
    assert shared.props["title"] == "Subscribe"
    module = make.layers(post).live.modules[-1]
    assert (module.global_slug, dict(module.overrides)) == ("newsletter", {"title": "Only here"})


def test_publishing_needs_its_right_and_goes_through_the_service(signed_in: SignedIn) -> None:
    post = make.post(status="draft")

    save(signed_in(), post, status="published")

    post.refresh_from_db()
    assert post.status == Status.PUBLISHED
    assert post.published_at is not None


def test_threat_11_a_translator_can_neither_save_live_nor_forge_a_field(
    signed_in: SignedIn,
) -> None:
    original = make.post()
    german = make.post("Filterkaffee", locale="de", translation_of=original)
    client = signed_in("translator")
    before = make.live_hash()

    page = client.get(url(german)).content.decode()
    assert 'value="save"' not in page
    assert save(client, german, **{"post.title": "Gefälscht"}).status_code == 403
    assert save(client, german, "save-review", **{"post.orderIndex": "7"}).status_code == 403
    assert save(client, original, "save-review", **{"post.title": "x"}).status_code == 403
    assert make.live_hash() == before
    assert save(client, german, "save-review", **{"post.title": "Kaffee"}).status_code == 302
    assert make.layers(german).review.changes.paths == ("post.title",)


def test_words_of_a_refusal_are_escaped(signed_in: SignedIn) -> None:
    answer = save(signed_in(), make.post(), **{"post.title": "<script>alert(1)</script>" * 20})

    assert answer.status_code == 422
    assert "<script>alert" not in answer.content.decode()


def test_a_fields_author_is_shown_beneath_it(signed_in: SignedIn) -> None:
    from content.layers import approve, digest_of, submit

    post = make.post()
    make.staged(post, {"title": "By the agent"}, by=make.agent_actor(run_id="r1"))
    submit(post_id=post.pk, actor=make.actor("editor"))
    digest = digest_of(make.layers(post).review.changes)
    approve(post_id=post.pk, actor=make.actor("admin"), digest=digest)

    page = signed_in().get(url(post)).content.decode()

    assert "AI: SEO specialist, approved by admin" in page


def test_the_form_of_a_long_post_takes_few_queries(
    signed_in: SignedIn, django_assert_max_num_queries: Any
) -> None:
    post = make.post()

    def add(document: Any) -> Any:
        for _ in range(40):
            document, _ = document_edits.add_module(document, type="hero", props={"title": "x"})
        return document

    edit_post(post_id=post.pk, actor=make.actor("admin"), edit=add)
    client = signed_in()

    with django_assert_max_num_queries(22):
        assert client.get(url(post)).status_code == 200
