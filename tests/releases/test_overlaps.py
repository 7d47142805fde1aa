"""What gets in the way of an item while its release waits: other schedules, other releases, expiry, the trash."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

import pytest
from django.test import Client
from django.urls import reverse

from content.models import Layer, Post, ScheduledApproval
from content.posts.trash import delete_post
from proofroom_apps.releases.models import ReleaseItem
from tests import make
from tests.api_client import ApiClient
from tests.releases.scenes import add, add_changes, changed_post, create, digest_of, items, publish

pytestmark = pytest.mark.django_db
AT = "2098-06-01T08:00:00.000Z"
EARLIER, LATER = (datetime.fromisoformat(f"2098-0{month}-01T08:00:00+00:00") for month in (5, 7))


def found(release: str) -> list[str]:
    return [row["conflict"]["message"] if row["conflict"] else "" for row in items(release)]


def test_changes_that_are_scheduled_or_in_another_release_too_are_named_at_once() -> None:
    post, other = changed_post(excerpt="New"), changed_post("Other", "other")
    release, second = create(), create("Second")
    add_changes(release, post, "post.title")
    add_changes(release, other)
    assert found(release) == ["", ""]
    body = {"digest": digest_of(post), "at": AT, "paths": ["post.excerpt"]}
    address = f"/api/posts/{post.pk}/review/schedule"
    ApiClient("editor").write("POST", address, body, expect=201)
    assert found(release) == ["", ""]

    ApiClient("editor").write("POST", address, {**body, "paths": ["post.title"]}, expect=201)
    row = ReleaseItem.objects.get(object_id=other.pk)
    # Two people can't add it twice: this stands in for data of an earlier version.
    ReleaseItem.objects.create(
        release_id=UUID(second.rpartition("/")[2]), kind="changes", object_id=other.pk,
        title="Other", paths=row.paths, digest=row.digest,
    )  # fmt: skip

    first, last = found(release)
    assert first.startswith("The same changes are scheduled for 2098-06-01")
    assert last == "This is in the release “Second” already. Remove it there first."
    assert ApiClient("editor").write("POST", f"{release}/publish", expect=409)["code"] == (
        "release_conflict"
    )
    ScheduledApproval.objects.all().delete()
    ApiClient("editor").write("DELETE", f"{second}/items/changes/{other.pk}")
    assert found(release) == ["", ""]


def test_a_post_that_is_not_on_the_site_at_the_time_is_named_at_once() -> None:
    draft, changed = make.post("Draft", slug="draft", status="draft"), changed_post()
    early = make.post("Early", slug="early", status="draft")
    release = create(at=AT)
    add(release, "post", draft.pk)
    add_changes(release, changed)
    add(release, "post", early.pk)
    Post.objects.filter(pk__in=[draft.pk, changed.pk]).update(unpublish_at=LATER)
    Post.objects.filter(pk=early.pk).update(publish_at=LATER)
    assert found(release) == [""] * 3

    Post.objects.filter(pk__in=[draft.pk, changed.pk]).update(unpublish_at=EARLIER)
    Post.objects.filter(pk=early.pk).update(publish_at=EARLIER)

    assert [text.partition(", at 2098-05-01")[0] for text in found(release)] == [
        "The post expires before the release",
        "The post expires before the release",
        "The post is published before the release",
    ]
    client = Client()
    client.force_login(make.user("editor"))
    address = reverse("admin:proofroom_releases_release_change", args=[release.rpartition("/")[2]])
    assert client.get(address).content.decode().count("before the release, at") == 3
    # Now, none of these times has come.
    publish(release)


def test_changes_that_move_the_expiry_are_no_conflict() -> None:
    post = make.post(slug="offer")
    Post.objects.filter(pk=post.pk).update(unpublish_at=EARLIER)
    make.staged(post, {"unpublishAt": "2099-01-01T08:00:00.000Z"}, layer=Layer.REVIEW)
    release = create(at=AT)
    add_changes(release, post)

    assert found(release) == [""]


def test_a_post_in_the_trash_is_named_and_costs_no_query_for_each_item(
    django_assert_num_queries: Any,
) -> None:
    from proofroom_apps.releases.kinds import find_conflicts

    posts = [changed_post(f"Title {n}", f"post-{n}") for n in range(3)]
    release = create()
    for post in posts:
        add_changes(release, post)
    delete_post(post_id=posts[0].pk, actor=make.actor())

    assert found(release) == ["The post is in the trash.", "", ""]
    rows = list(ReleaseItem.objects.select_related("release").order_by("pk"))
    with django_assert_num_queries(7):
        find_conflicts(rows)
    with django_assert_num_queries(7):
        find_conflicts(rows[1:2])
