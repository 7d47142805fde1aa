"""The events of each operation: exactly these, in this order, in its transaction."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

import pytest
from django.db import transaction
from django.utils import timezone

from content.find_replace.services import find_and_replace
from content.inbox.rejections import undo_rejections
from content.layers import approve, digest_of, reject, submit
from content.layers.revert import revert_to_revision
from content.models import Layer, Post
from content.posts.create import propose_post
from content.posts.edit import edit_post
from content.posts.publish import set_status
from content.posts.schedule import run_due_dates
from content.posts.trash import delete_post, purge_trash, restore_post
from content.posts.variations import create_variation, promote_variation
from content.presenters.canonical_json import import_post
from content.store import document_edits
from content.translations.translate import create_translation, propose_translation
from proofroom.core.actor import Actor
from proofroom.core.caching.content_version import content_version
from proofroom.core.models import Event
from proofroom.core.outbox.events import find_kind
from tests import make
from tests.conftest import RunOnCommit

pytestmark = pytest.mark.django_db

Work = Callable[[], object]

POST_KEYS: Final = {"id", "type", "locale", "slug", "title", "status", "url", "changedPaths"}


def person() -> Actor:
    return make.actor("admin", via="admin")


def edit(post: Post, **fields: Any) -> Work:
    return lambda: make.edited(post, fields, by=person())


def staged(layer: Layer, *, live: str = "published", **fields: Any) -> Post:
    post = make.post(status=live)
    make.staged(post, fields or {"title": "Proposed", "excerpt": "Proposed"}, layer=layer)
    return post


def approving(paths: tuple[str, ...] | None = None) -> Work:
    post = staged(Layer.REVIEW)
    digest = digest_of(make.layers(post).review.changes)
    return lambda: approve(post_id=post.pk, actor=person(), digest=digest, paths=paths)


def of_status(before: str, after: str) -> Work:
    post = make.post(status="draft" if before == "archived" else before)
    if before == "archived":
        set_status(post_id=post.pk, status="archived", actor=person())
    return lambda: set_status(post_id=post.pk, status=after, actor=person())


def edit_and_publish() -> Work:
    post = make.post(status="draft")
    return lambda: edit_post(
        post_id=post.pk,
        actor=person(),
        status="published",
        edit=lambda document: document_edits.patch_fields(document, {"title": "Both"}),
    )


def publish_on_schedule() -> Work:
    post = make.post(status="draft")
    Post.objects.filter(pk=post.pk).update(publish_at=timezone.now() - timedelta(minutes=1))
    return lambda: run_due_dates(make.actor("admin", via="system"))


def unpublish_on_schedule() -> Work:
    post = make.post()
    Post.objects.filter(pk=post.pk).update(unpublish_at=timezone.now() - timedelta(minutes=1))
    return lambda: run_due_dates(make.actor("admin", via="system"))


def import_json() -> Work:
    document = make.layers(make.post()).live
    return lambda: import_post(actor=person(), document=document, slug="imported")


def translate() -> Work:
    post = make.post()
    return lambda: create_translation(post_id=post.pk, locale="de", actor=person())


def translate_as_agent() -> Work:
    post = make.post()
    return lambda: propose_translation(post_id=post.pk, locale="de", actor=make.agent_actor())


def vary() -> Work:
    post = make.post()
    return lambda: create_variation(post_id=post.pk, variation="B", actor=person())


def promote() -> Work:
    post = make.post()
    variation = create_variation(post_id=post.pk, variation="B", actor=person())
    edit(variation, title="Wins")()
    return lambda: promote_variation(post_id=post.pk, variation_id=variation.pk, actor=person())


def revert() -> Work:
    post = make.post()
    first = post.revisions.get()
    edit(post, title="Later")()
    return lambda: revert_to_revision(post_id=post.pk, revision_id=first.pk, actor=person())


def replace() -> Work:
    make.post()
    return lambda: find_and_replace(
        actor=person(), find="beans", replace="leaves", tables=["posts", "modules"]
    )


def restore(status: str = "published") -> Work:
    post = make.post(status=status)
    delete_post(post_id=post.pk, actor=person())
    return lambda: restore_post(post_id=post.pk, actor=person())


def purge() -> Work:
    post = make.post()
    delete_post(post_id=post.pk, actor=person())
    Post.objects.update(deleted_at=timezone.now() - timedelta(days=90))
    return lambda: purge_trash(actor=person(), days=30)


def deleting() -> Work:
    post = make.post()
    return lambda: delete_post(post_id=post.pk, actor=person())


def staging(layer: Layer) -> Work:
    post = make.post()
    return lambda: make.staged(post, {"title": "Proposed"}, layer=layer)


def staging_nothing() -> Work:
    post = make.post()
    return lambda: make.staged(post, {"title": post.title})


def submitting() -> Work:
    post = staged(Layer.AI_REVIEW)
    return lambda: submit(post_id=post.pk, actor=person())


def rejecting(layer: Layer) -> Work:
    post = staged(layer)
    return lambda: reject(post_id=post.pk, layer=layer, actor=person())


def reconsidering(layer: Layer) -> Work:
    post = staged(layer)
    done = reject(post_id=post.pk, layer=layer, actor=person())
    ids = [done.rejection]
    return lambda: undo_rejections(post_id=post.pk, rejections=ids, actor=person())


def submit_form() -> Work:
    make.form()
    return lambda: make.submission(email="visitor@example.com", message="Hello")


def proposing() -> Work:
    return lambda: propose_post(
        actor=make.agent_actor(), type="blog", fields={"title": "From an agent"}
    )


LIVE: Final = ["post.updated", "post.approve"]

PUBLISHED: Final = ["post.published", "post.publish"]

CAUSES: Final[dict[str, tuple[Callable[[], Work], list[str]]]] = {
    "create a draft": (lambda: lambda: make.post(status="draft"), ["post.created"]),
    "create published": (lambda: make.post, ["post.created", *PUBLISHED]),
    "create as an agent": (proposing, ["post.created", "post.ai-review.save"]),
    "import": (import_json, ["post.created"]),
    "translate": (translate, ["post.created", "post.create-translation"]),
    "translate as an agent": (
        translate_as_agent,
        ["post.created", "post.ai-review.save", "post.create-translation"],
    ),
    "vary": (vary, ["post.created"]),
    "promote": (promote, LIVE),
    "edit a draft": (lambda: edit(make.post(status="draft"), title="New"), LIVE),
    "edit live": (lambda: edit(make.post(), title="New"), LIVE),
    "edit without a change": (lambda: edit(make.post(title="Same"), title="Same"), []),
    "move": (lambda: edit(make.post(), slug="elsewhere"), [*LIVE, "post.moved"]),
    "edit and publish": (edit_and_publish, [*LIVE, *PUBLISHED]),
    "publish": (lambda: of_status("draft", "published"), PUBLISHED),
    "publish on schedule": (publish_on_schedule, PUBLISHED),
    "unpublish on schedule": (unpublish_on_schedule, ["post.updated"]),
    "publish what is published": (lambda: of_status("published", "published"), []),
    "unpublish": (lambda: of_status("published", "draft"), ["post.updated"]),
    "archive": (lambda: of_status("published", "archived"), ["post.updated"]),
    "archive a draft": (lambda: of_status("draft", "archived"), ["post.updated"]),
    "take out of the archive": (lambda: of_status("archived", "draft"), ["post.updated"]),
    "stage in Review": (lambda: staging(Layer.REVIEW), ["post.review.save"]),
    "stage in AI Review": (lambda: staging(Layer.AI_REVIEW), ["post.ai-review.save"]),
    "stage nothing": (staging_nothing, []),
    "submit": (submitting, ["post.ai-review.approve"]),
    "reject AI Review": (lambda: rejecting(Layer.AI_REVIEW), ["post.ai-review.reject"]),
    "reject Review": (lambda: rejecting(Layer.REVIEW), ["post.review.reject"]),
    "reconsider AI Review": (
        lambda: reconsidering(Layer.AI_REVIEW),
        ["post.ai-review.reconsider"],
    ),
    "reconsider Review": (lambda: reconsidering(Layer.REVIEW), ["post.review.reconsider"]),
    "approve": (approving, [*LIVE, "post.review.approve"]),
    "approve in part": (lambda: approving(("post.title",)), [*LIVE, "post.review.approve"]),
    "revert": (revert, LIVE),
    "find and replace": (replace, [*LIVE, "database.replaced"]),
    "delete": (deleting, ["post.deleted"]),
    "restore": (restore, ["post.restored", "post.published"]),
    "restore-draft": (lambda: restore("draft"), ["post.restored"]),
    "purge": (purge, ["post.purged"]),
    "submit a form": (submit_form, ["form.submitted", "form.submit"]),
}


@pytest.mark.parametrize("cause", list(CAUSES))
def test_an_operation_records_its_events_and_one_that_is_undone_none(cause: str) -> None:
    prepare, expected = CAUSES[cause]
    work = prepare()
    last = Event.objects.order_by("-id").values_list("id", flat=True).first() or 0

    with transaction.atomic():
        work()
        transaction.set_rollback(True)
    assert not Event.objects.filter(id__gt=last).exists()

    work()
    found = list(Event.objects.filter(id__gt=last).order_by("id"))

    assert [event.name for event in found] == expected
    for event in found:
        assert (event.version, event.actor_name != "", event.via != "") == (1, True, True)
        kind = find_kind(event.name)
        assert kind is not None
        if event.name.startswith("form."):
            assert (event.post_id, set(event.payload)) == (
                None,
                {"formSlug", "submissionId", "payload"},
            )
        elif kind.is_webhook:
            assert set(event.payload) - {"variationOf", "cause"} == POST_KEYS
            assert event.payload["id"] == str(event.post_id)
        elif kind.is_trigger:
            assert event.post_id is not None


def test_webhook_payload_of_a_post() -> None:
    post = make.post(slug="brew")
    edit(post, title="New", excerpt="Short")()

    event = Event.objects.get(name="post.updated")
    assert event.payload == {
        "id": str(post.pk),
        "type": "blog",
        "locale": "en",
        "slug": "brew",
        "title": "New",
        "status": "published",
        "url": "/blog/brew",
        "changedPaths": ["post.title", "post.excerpt"],
    }
    assert (event.actor_name, event.via, event.cause_id, event.hop) == ("admin", "admin", None, 0)


def test_notifications_of_a_variation_name_its_original() -> None:
    post = make.post()
    variation = create_variation(post_id=post.pk, variation="B", actor=make.actor())
    edit(variation, title="New")()

    event = Event.objects.get(name="post.updated", post_id=variation.pk)
    assert event.payload["variationOf"] == str(post.pk)


def test_what_an_agent_causes_says_which_event_made_it_run() -> None:
    post = make.post()
    first = Event.objects.get(name="post.published")
    agent = make.agent_actor(run_id="run-1")
    actor = Actor(
        user=agent.user, via="agent", agent_id=agent.agent_id, run_id="run-1",
        event_id=first.pk, hop=2,
    )  # fmt: skip
    last = Event.objects.latest("id").pk

    make.staged(post, {"title": "Proposed"}, by=actor)
    submit(post_id=post.pk, actor=actor)
    propose_translation(post_id=post.pk, locale="de", actor=actor)

    rows = Event.objects.filter(id__gt=last)
    assert sorted(rows.values_list("name", flat=True)) == [
        "post.ai-review.approve",
        "post.ai-review.save",
        "post.ai-review.save",
        "post.create-translation",
        "post.created",
    ]
    said = set(rows.values_list("cause_id", "hop", "agent_id", "run_id", "via", "actor_id"))
    assert said == {(first.pk, 2, agent.agent_id, "run-1", "agent", agent.user.pk)}


def rename(post: Post, title: str = "New") -> None:
    make.edited(post, {"title": title})


def test_an_event_goes_with_the_change_that_was_rolled_back(run_on_commit: RunOnCommit) -> None:
    post = make.post()
    before, version = Event.objects.count(), content_version()

    @transaction.atomic
    def rename_and_fail() -> None:
        rename(post)
        raise RuntimeError("after the write")

    with run_on_commit() as callbacks, pytest.raises(RuntimeError):
        rename_and_fail()

    assert callbacks == []
    assert Post.objects.get().title != "New"
    assert (Event.objects.count(), content_version()) == (before, version)


def test_staging_moves_no_content_version_and_live_writes_do() -> None:
    post = make.post()
    version = content_version()

    make.staged(post, {"title": "Waits"})
    assert content_version() == version
    rename(post)

    assert content_version() > version
