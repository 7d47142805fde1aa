"""The trash: listed, restored unchanged, emptied after its days."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone

from cms_project.celery import app
from content.models import Draft, ModuleInstance, Post, PostModule, Revision
from content.posts import trash as trash_module
from content.posts.create import create_post
from content.posts.schedule import run_due_dates
from content.posts.trash import delete_post, purge_trash, restore_post
from content.posts.variations import create_variation
from content.tasks import purge_trash as purge_trash_task
from proofroom.accounts.models import User
from proofroom.core.errors import NotAllowed
from proofroom.core.independent_steps import StepsFailed
from proofroom.core.json import Json, JsonObject
from proofroom.core.models import Event
from proofroom_apps.previews.models import PreviewLink
from proofroom_apps.previews.services import create_preview_link
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db


def trash(post: Post, days: float = 0) -> None:
    delete_post(post_id=post.pk, actor=make.actor())
    Post.objects.filter(pk=post.pk).update(deleted_at=timezone.now() - timedelta(days=days))


def purge(days: int = 30) -> int:
    return purge_trash(actor=make.actor("admin"), days=days)


def page(title: str, **fields: Json) -> Post:
    return create_post(actor=make.actor(), type="page", fields={"title": title, **fields})


def now(post: Post) -> Post:
    return Post.objects.get(pk=post.pk)


def test_the_list_shows_what_was_deleted_last_first() -> None:
    first, second = make.post("First", slug="first"), make.post("Second", slug="second")
    make.post("Kept", slug="kept")
    variation = create_variation(post_id=second.pk, variation="B", actor=make.actor())
    trash(first, days=2)
    trash(variation, days=1)
    trash(second)

    answer = ApiClient("editor").read("/api/posts/trash")

    assert answer["meta"]["total"] == 3
    assert [row["id"] for row in answer["data"]] == [
        str(post.pk) for post in (second, variation, first)
    ]
    row = answer["data"][1]
    assert (row["variationOf"], row["variation"]) == (str(second.pk), "B")
    assert set(row) == {
        "id",
        "type",
        "locale",
        "slug",
        "title",
        "status",
        "variationOf",
        "variation",
        "deletedAt",
    }


@pytest.mark.parametrize("status", ["draft", "archived", "published"])
def test_restore_keeps_the_status(status: str) -> None:
    post = make.post()
    Post.objects.filter(pk=post.pk).update(status=status)
    trash(post)
    Event.objects.all().delete()

    restore_post(post_id=post.pk, actor=make.actor())

    assert now(post).status == status
    live = ["post.published"] if status == "published" else []
    names = Event.objects.order_by("pk").values_list("name", flat=True)
    assert list(names) == ["post.restored", *live]


def test_restore_does_not_publish_what_was_due_in_the_trash() -> None:
    post = make.post(status="draft")
    trash(post)
    due = timezone.now() - timedelta(hours=1)
    Post.objects.filter(pk=post.pk).update(publish_at=due)
    assert run_due_dates(make.actor("admin")) == 0

    restore_post(post_id=post.pk, actor=make.actor())

    assert now(post).publish_at is None
    assert run_due_dates(make.actor("admin")) == 0
    assert now(post).status == "draft"


def test_restore_destroys_nothing_that_is_live() -> None:
    post, other = make.post(), make.post("Other", slug="other")
    make.edited(post, {"excerpt": "Later"})
    make.staged(post, {"metaTitle": "Waits"})
    before, layers = make.layers(post).live, make.layers(post).ai_review.document
    trash(post)

    restore_post(post_id=post.pk, actor=make.actor())

    assert make.layers(now(post)).live == before
    assert make.layers(now(post)).ai_review.document == layers
    assert make.layers(other).live.order == make.layers(now(other)).live.order
    assert PostModule.objects.filter(post=other).count() == 3


def test_children_of_a_deleted_page_keep_their_address_and_it_comes_back_above_them() -> None:
    parent = page("Services")
    child = page("Repairs", parentId=str(parent.pk))

    trash(parent)

    assert now(child).path == "/services/repairs"
    make.edited(child, {"excerpt": "Still editable"})
    assert now(child).path == "/services/repairs"
    restore_post(post_id=parent.pk, actor=make.actor())
    assert (now(parent).path, now(child).parent_id) == ("/services", parent.pk)


def test_what_moved_above_it_meanwhile_moves_it_too() -> None:
    parent = page("Services")
    child = page("Repairs", parentId=str(parent.pk))
    trash(child)
    make.edited(parent, {"slug": "offers"})

    restore_post(post_id=child.pk, actor=make.actor())

    assert now(child).path == "/offers/repairs"


def test_what_is_old_enough_is_gone_for_good_with_all_that_belonged_to_it() -> None:
    old, young = make.post("Old", slug="old"), make.post("Young", slug="young")
    kept = make.post("Kept", slug="kept")
    shared = make.global_module()
    make.added_module(old, type="callout", shared=("newsletter", str(shared.pk)))
    make.staged(old, {"excerpt": "Waits"})
    create_preview_link(post_id=old.pk, layer="source", actor=make.actor())
    create_variation(post_id=old.pk, variation="B", actor=make.actor())
    trash(old, days=31)
    trash(young, days=29)

    assert purge() == 1

    assert set(Post.objects.values_list("pk", flat=True)) == {young.pk, kept.pk}
    for model in (Draft, PreviewLink):
        assert not model.objects.exists()
    assert not Revision.objects.exclude(post__in=[young, kept]).exists()
    assert ModuleInstance.objects.filter(scope="local").count() == 6  # three of each that is left
    assert ModuleInstance.objects.filter(pk=shared.pk).exists()
    event = Event.objects.get(name="post.purged")
    assert (event.post_id, event.payload["title"]) == (old.pk, "Old")
    assert purge() == 0


def test_with_0_days_nothing_is_deleted() -> None:
    trash(make.post(), days=4000)

    assert purge(days=0) == 0
    assert Post.objects.count() == 1


def test_a_page_with_children_is_not_deleted() -> None:
    parent = page("Services")
    child = page("Repairs", parentId=str(parent.pk))
    trash(parent, days=40)

    assert purge() == 0
    assert now(child).path == "/services/repairs"
    trash(child, days=40)
    assert [purge(), purge(), purge()] == [1, 1, 0]
    assert not Post.objects.exists()


def test_a_translation_outlives_its_source() -> None:
    post = make.post()
    german = make.post("Filterkaffee", locale="de", translation_of=post)
    trash(post, days=40)

    assert purge() == 1

    assert now(german).translated_from_id is None
    answer = ApiClient("editor").read(f"/api/posts/{german.pk}/translations")
    assert answer["data"] == []


@pytest.mark.parametrize("role", ["translator", "ai_agent"])
def test_nobody_else_empties_it(role: str) -> None:
    trash(make.post(), days=40)

    with pytest.raises(NotAllowed):
        purge_trash(actor=make.actor(role), days=30)
    assert Post.objects.count() == 1


def test_the_scheduler_knows_the_work_by_its_name_and_does_it(monkeypatch: Any) -> None:
    make.user("admin")
    old = make.post()
    trash(old, days=8)
    link, _ = create_preview_link(
        post_id=make.post("B", slug="b").pk, layer="source", actor=make.actor()
    )
    PreviewLink.objects.filter(pk=link.pk).update(expires_at=timezone.now() - timedelta(days=31))
    env = SimpleNamespace(**{**settings.CMS_ENV.model_dump(), "trash_days": 7})
    monkeypatch.setattr(settings, "CMS_ENV", env)
    schedule = settings.CELERY_BEAT_SCHEDULE
    names = ("content.tasks.purge_trash", "previews.tasks.forget_old_links")
    entries = [schedule[name] for name in names]

    app.loader.import_default_modules()  # as a worker does

    for entry in [*entries, *entries]:
        app.tasks[entry["task"]].apply().get()

    assert not Post.objects.filter(pk=old.pk).exists()
    assert not PreviewLink.objects.exists()


def test_without_an_admin_nothing_is_emptied() -> None:
    trash(make.post(), days=400)
    Post.objects.update(author=None)
    User.objects.filter(role="admin").update(is_active=False)

    assert purge_trash_task.apply().get() == 0
    assert Post.objects.count() == 1


def test_a_post_that_cannot_be_purged_keeps_no_other_one(monkeypatch: pytest.MonkeyPatch) -> None:
    broken, other = make.post("Broken", slug="broken"), make.post("Other", slug="other")
    trash(broken, days=40)
    trash(other, days=31)
    payload_of = vars(trash_module)["event_payload"]

    def failing(post: Post) -> JsonObject:
        if post.pk == broken.pk:
            raise ZeroDivisionError
        found: JsonObject = payload_of(post)
        return found

    monkeypatch.setattr(trash_module, "event_payload", failing)

    with pytest.raises(StepsFailed, match=str(broken.pk)):
        purge()

    assert list(Post.objects.values_list("pk", flat=True)) == [broken.pk]
    assert [event.post_id for event in Event.objects.filter(name="post.purged")] == [other.pk]
