"""The page lock and the authors of a post in the admin."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from content.models import Post
from content.posts.page_lock import lock_page
from proofroom.accounts.models import User
from proofroom.core.actor import Actor
from tests import make
from tests.admin.pages import fields, url
from tests.content.test_page_locks import later

pytestmark = pytest.mark.django_db


def test_a_page_is_locked_seen_and_broken(signed_in: Any) -> None:
    editor, admin, translator = (signed_in(name) for name in ("editor", "admin", "translator"))
    post = make.post()
    address = reverse("admin:content_post_lock", args=[post.pk])

    assert 'id="page-lock"' in editor.get(url(post)).content.decode()
    for duration in ("", "1y"):
        editor.post(address, {"do": "lock", "duration": duration})
        assert Post.objects.get(pk=post.pk).locked_by_id is None
    editor.post(address, {"do": "lock", "duration": "1d"})

    own = editor.get(url(post)).content.decode()
    assert "You locked this page until" in own
    assert "Change lock…" in own
    assert 'value="save"' in own
    seen = admin.get(url(post)).content.decode()
    assert "Locked by editor until" in seen
    assert 'id="break-lock"' in seen
    assert 'value="save"' not in seen
    assert "Move to trash" not in seen
    assert "Break lock" not in translator.get(url(post)).content.decode()
    listed = admin.get(reverse("admin:content_post_changelist")).content.decode()
    assert "Locked by editor" in listed
    # A form that was open before keeps its text and names the holder.
    sent = {**fields(editor.get(url(post))), "post.excerpt": "Typed", "do": "save"}
    refused = admin.post(url(post), sent)
    assert refused.status_code == 409
    assert "is locked by editor until" in refused.content.decode()
    assert "Typed" in refused.content.decode()

    admin.post(address, {"do": "unlock"})
    assert "Locked by editor" not in admin.get(url(post)).content.decode()
    listed = admin.get(reverse("admin:content_post_changelist")).content.decode()
    assert "Locked by" not in listed


def test_authors_are_found_ordered_and_filtered(signed_in: Any) -> None:
    editor = signed_in("editor")
    anna, tom = make.user("editor", "anna"), make.user("editor", "tom")
    gone = make.user("editor", "gone")
    post, other = make.post(authors=[anna.pk, tom.pk, gone.pk]), make.post("Other", slug="other")
    type(gone).objects.filter(pk=gone.pk).update(is_active=False)
    make.user("ai_agent", "annabot")

    found = editor.get(reverse("admin:content_post_targets"), {"kind": "people", "q": "ann"})
    assert [one["title"] for one in found.json()["results"]] == ["anna"]
    page = editor.get(url(post))
    control = page.content.decode().split('data-many="people"')[1]
    places = [control.index(f"<span>{name}</span>") for name in ("anna", "tom", "gone", "editor")]
    assert places == sorted(places)
    sent = fields(page)
    assert sent["post.authors"] == [str(one.pk) for one in (anna, tom, gone)]

    editor.post(url(post), {**sent, "post.authors": [gone.pk, anna.pk], "do": "save"})

    assert Post.objects.get(pk=post.pk).authors == [gone.pk, anna.pk]
    listed = reverse("admin:content_post_changelist")
    text = editor.get(listed, {"author": anna.pk}).content.decode()
    assert "gone, anna" in text
    assert other.title not in text


def test_a_lock_ends_with_the_rights_of_its_holder() -> None:
    post = make.post()
    holder = Actor(user=make.user("editor", "anna"), via="admin")
    lock_page(post_id=post.pk, until=later(), actor=holder)
    User.objects.filter(pk=holder.user.pk).update(role="ai_agent")

    make.staged(post, {"excerpt": "From an agent"})

    assert make.layers(post).ai_review.changes.paths == ("post.excerpt",)
