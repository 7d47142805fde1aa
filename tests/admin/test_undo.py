"""Undo in messages: the button, its permission, and its end after a later change."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.core import signing
from django.test import Client
from django.utils import timezone

from content.models import Post, Status, UrlPattern
from content.posts.publish import set_status
from content.posts.undo import undo_status
from content.posts.variations import create_variation
from content.store.traffic import change_variation, running_variations
from proofroom.core.errors import Conflict, NotAllowed
from tests import make
from tests.admin.pages import fields

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
_BUTTON = re.compile(r'name="undo" value="([^"]+)"')


def _offered(page: str) -> str:
    found = _BUTTON.search(page)
    assert found is not None
    return html.unescape(found[1])


def _delete(client: Client, post: Post) -> str:
    response = client.post(f"/admin/content/post/{post.pk}/delete/", follow=True)
    return str(response.content.decode())


def test_a_deleted_post_is_restored_and_deleted_again(signed_in: SignedIn) -> None:
    post, client = make.post(), signed_in("editor")
    offered = _offered(_delete(client, post))

    page = client.post("/admin/undo/", {"undo": offered}, follow=True)

    post.refresh_from_db()
    assert post.deleted_at is None
    assert "was restored." in page.content.decode()
    stale = client.post("/admin/undo/", {"undo": offered}, follow=True).content.decode()
    assert "This could not be undone. The post is no longer in the trash." in stale
    assert 'class="error"' in stale


def test_a_post_that_came_back_goes_into_the_trash_again(signed_in: SignedIn) -> None:
    post, client = make.post(), signed_in("editor")
    _delete(client, post)
    page = client.post("/admin/content/post/trash/", {"one": str(post.pk)}, follow=True)

    client.post("/admin/undo/", {"undo": _offered(page.content.decode())})

    post.refresh_from_db()
    assert post.deleted_at is not None


def test_undo_belongs_to_the_person_who_saw_it(signed_in: SignedIn) -> None:
    post = make.post()
    offered = _offered(_delete(signed_in("editor"), post))

    page = signed_in("admin").post("/admin/undo/", {"undo": offered}, follow=True)

    post.refresh_from_db()
    assert post.deleted_at is not None
    assert "This can no longer be undone." in page.content.decode()


@pytest.mark.parametrize(
    "sent",
    ["", "x", signing.dumps({"kind": "post.delete"})],
    ids=["nothing", "no_signature", "another_signature"],
)
def test_what_nobody_signed_undoes_nothing(signed_in: SignedIn, sent: str) -> None:
    page = signed_in("editor").post("/admin/undo/", {"undo": sent}, follow=True)

    assert page.status_code == 200
    assert "This can no longer be undone." in page.content.decode()


def test_an_archived_post_is_published_again_at_its_address() -> None:
    post, actor = make.post(), make.actor("editor")
    path = Post.objects.get(pk=post.pk).path
    archived = set_status(post_id=post.pk, status=Status.ARCHIVED, actor=actor)

    undo_status(
        post_id=post.pk,
        version=archived.version,
        status=Status.PUBLISHED,
        publish_at=None,
        actor=actor,
    )

    post.refresh_from_db()
    assert (post.status, post.path) == (Status.PUBLISHED, path)


def test_an_undone_first_publication_leaves_no_date(signed_in: SignedIn) -> None:
    UrlPattern.objects.create(type="blog", locale="en", pattern="/blog/{yyyy}/{slug}")
    post, client = make.post(status=Status.DRAFT), signed_in("editor")
    path = Post.objects.get(pk=post.pk).path
    url = f"/admin/content/post/{post.pk}/change/"
    sent = {**fields(client.get(url), "was"), "do": "publish"}
    page = client.post(url, sent, follow=True).content.decode()
    assert Post.objects.get(pk=post.pk).published_at is not None

    client.post("/admin/undo/", {"undo": _offered(page)})

    post.refresh_from_db()
    assert (post.status, post.published_at, post.path) == (Status.DRAFT, None, path)


def test_a_later_publication_that_is_undone_keeps_the_first_date() -> None:
    post, actor = make.post(), make.actor("editor")
    first = Post.objects.get(pk=post.pk).published_at
    set_status(post_id=post.pk, status=Status.DRAFT, actor=actor)
    published = set_status(post_id=post.pk, status=Status.PUBLISHED, actor=actor)

    undo_status(
        post_id=post.pk,
        version=published.version,
        status=Status.DRAFT,
        publish_at=None,
        actor=actor,
    )

    post.refresh_from_db()
    assert post.published_at == first is not None


def test_a_scheduled_draft_that_was_published_is_scheduled_again() -> None:
    actor, at = make.actor("editor"), timezone.now() + timedelta(days=2)
    post = make.post(status=Status.DRAFT)
    published = set_status(post_id=post.pk, status=Status.PUBLISHED, actor=actor)

    undo_status(
        post_id=post.pk,
        version=published.version,
        status=Status.DRAFT,
        publish_at=at,
        actor=actor,
    )

    post.refresh_from_db()
    assert (post.status, post.publish_at) == (Status.DRAFT, at)


def test_what_was_changed_since_or_by_who_may_not_stays() -> None:
    post, actor = make.post(), make.actor("editor")
    archived = set_status(post_id=post.pk, status=Status.ARCHIVED, actor=actor)
    before = make.live_hash()

    with pytest.raises(Conflict, match="changed in the meantime"):
        undo_status(
            post_id=post.pk,
            version=archived.version - 1,
            status=Status.PUBLISHED,
            publish_at=None,
            actor=actor,
        )
    with pytest.raises(NotAllowed):
        undo_status(
            post_id=post.pk,
            version=archived.version,
            status=Status.PUBLISHED,
            publish_at=None,
            actor=make.actor("translator"),
        )

    assert make.live_hash() == before


def test_a_restored_version_is_taken_back(signed_in: SignedIn) -> None:
    post, client = make.post(), signed_in("editor")
    first = post.revisions.get()
    make.edited(post, {"title": "Second"})
    url = f"/admin/content/post/{post.pk}/revisions/{first.pk}/restore/"
    page = client.post(url, follow=True).content.decode()

    client.post("/admin/undo/", {"undo": _offered(page)})

    post.refresh_from_db()
    assert post.title == "Second"


def test_errors_stay_above_the_page_and_what_happened_is_a_toast(signed_in: SignedIn) -> None:
    post, client = make.post(), signed_in("editor")

    page = _delete(client, post)

    toast = re.search(r"<section class=\"toasts\".*?</section>", page, re.S)
    assert toast is not None
    assert "was moved to the trash." in toast[0]
    assert page.count("was moved to the trash.") == 1


def test_an_undone_end_of_publication_starts_its_test_again() -> None:
    post, actor = make.post(), make.actor("editor")
    variation = create_variation(post_id=post.pk, variation="B", actor=actor)
    change_variation(post_id=post.pk, variation_id=variation.pk, actor=actor, running=True)
    running = running_variations(post)
    draft = set_status(post_id=post.pk, status=Status.DRAFT, actor=actor)
    assert running == [variation.pk]
    assert running_variations(post) == []

    undo_status(
        post_id=post.pk,
        version=draft.version,
        status=Status.PUBLISHED,
        publish_at=None,
        actor=actor,
        running=running,
    )

    assert running_variations(post) == [variation.pk]


def test_no_undo_publishes_words_that_were_saved_as_the_post_was_unpublished(
    signed_in: SignedIn,
) -> None:
    post = make.post(excerpt="What visitors read")
    client, address = signed_in("editor"), f"/admin/content/post/{post.pk}/change/"
    sent = {**fields(client.get(address)), "post.excerpt": "Half written", "do": "unpublish"}

    page = client.post(address, sent, follow=True).content.decode()

    post.refresh_from_db()
    assert (post.status, post.excerpt) == (Status.DRAFT, "Half written")
    assert "Back to draft." in page
    assert _BUTTON.search(page) is None
