"""Webhooks receive an event for each post whose live content or URL changes, in every interface."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from content.find_replace.services import find_and_replace
from content.migration_operations.derived_data import follow_content_migrations
from content.models import ContentMigration, Post
from content.modules.global_modules import edit_global
from content.paths import tree_changes
from content.paths.url_patterns import create_pattern
from content.posts.create import create_post
from content.posts.trash import delete_post, restore_post
from content.store.indirect_updates import follow_cause
from proofroom.core.models import Event
from proofroom.core.site_urls import absolute
from proofroom.webhooks.models import Delivery
from tests import make
from tests.conftest import RunOnCommit

pytestmark = pytest.mark.django_db
EVENTS = ["post.created", "post.updated", "post.published", "post.deleted", "post.restored"]


def page(slug: str, parent: Post | None = None) -> Post:
    values: dict[str, Any] = {"title": slug.title(), "slug": slug}
    if parent is not None:
        values["parentId"] = str(parent.pk)
    return create_post(actor=make.actor("admin"), type="page", fields=values, status="published")


def listen() -> None:
    """Create a webhook for all events from now on."""
    Event.objects.update(dispatched_at=timezone.now())
    make.webhook(events=EVENTS)


def told() -> list[tuple[str, str, list[str]]]:
    """Return the event, URL and changed paths of deliveries."""
    return sorted(
        (row.event.name, row.event.payload["url"], row.event.payload["changedPaths"])
        for row in Delivery.objects.select_related("event")
    )


@pytest.mark.parametrize(
    ("status", "names"),
    [
        ("published", ["post.deleted", "post.published", "post.restored"]),
        ("draft", ["post.deleted", "post.restored"]),
    ],
)
def test_restoring_a_live_post_publishes_the_published_event(
    run_on_commit: RunOnCommit, status: str, names: list[str]
) -> None:
    post = make.post(status=status)
    listen()

    with run_on_commit():
        delete_post(post_id=post.pk, actor=make.actor())
        restore_post(post_id=post.pk, actor=make.actor())

    assert [name for name, _url, _paths in told()] == names


@pytest.mark.parametrize("in_request", [True, False])
def test_each_post_below_a_moved_page_has_an_event(
    run_on_commit: RunOnCommit, monkeypatch: pytest.MonkeyPatch, in_request: bool
) -> None:
    if not in_request:
        monkeypatch.setattr(tree_changes, "BATCH_SIZE", 1)
    top = page("about")
    team = page("team", top)
    page("ann", team)
    trashed = page("bob", team)
    delete_post(post_id=trashed.pk, actor=make.actor("admin"))
    listen()

    with run_on_commit():
        make.edited(top, {"slug": "us"})

    assert told() == [
        ("post.updated", "/us", ["post.slug"]),
        ("post.updated", "/us/team", ["post.url"]),
        ("post.updated", "/us/team/ann", ["post.url"]),
    ]


def test_a_canonical_url_changed_by_a_move_is_reported(run_on_commit: RunOnCommit) -> None:
    top = page("about")
    team = page("team", top)
    make.edited(team, {"canonicalUrl": absolute(team.path)})
    listen()

    with run_on_commit():
        make.edited(top, {"slug": "us"})

    assert Post.objects.get(pk=team.pk).canonical_url == absolute("/us/team")
    assert told()[1] == ("post.updated", "/us/team", ["post.url", "post.canonicalUrl"])


def test_each_post_of_a_url_pattern_has_an_event(run_on_commit: RunOnCommit) -> None:
    make.post("One", slug="one")
    make.post("Two", slug="two", status="draft")
    listen()

    with run_on_commit():
        create_pattern(actor=make.actor("admin"), type="blog", locale="en", pattern="/news/{slug}")

    assert told() == [
        ("post.updated", "/news/one", ["post.url"]),
        ("post.updated", "/news/two", ["post.url"]),
    ]


def test_each_post_with_a_global_module_has_an_event_unless_overridden(
    run_on_commit: RunOnCommit,
) -> None:
    module = make.global_module("letter")
    first, own, trashed = (make.post(slug=slug) for slug in ("first", "own", "trashed"))
    make.post(slug="without")
    placement = make.placed(first, module)
    make.placed(own, module, title="Its own")
    make.placed(trashed, module)
    delete_post(post_id=trashed.pk, actor=make.actor())
    listen()

    with run_on_commit():
        edit_global(actor=make.actor(), slug="letter", props={"title": "Changed"})

    path = f"modules.{placement}.props.title"
    assert told() == [("post.updated", first.path, [path])]


def test_a_label_of_a_global_module_changes_no_post(run_on_commit: RunOnCommit) -> None:
    make.placed(make.post(), make.global_module("letter"))
    listen()

    with run_on_commit():
        edit_global(actor=make.actor(), slug="letter", label="Another")

    assert told() == []


def test_find_and_replace_in_a_global_module_tells_of_its_posts(run_on_commit: RunOnCommit) -> None:
    post = make.post()
    placement = make.placed(post, make.global_module("letter", title="Old words"))
    listen()

    with run_on_commit():
        find_and_replace(
            actor=make.actor("admin"), find="Old words", replace="New", tables=["global_modules"]
        )

    assert told() == [("post.updated", post.path, [f"modules.{placement}.props.title"])]


def test_a_content_migration_tells_of_its_posts(run_on_commit: RunOnCommit) -> None:
    post = make.post()
    ContentMigration.objects.create(type="callout", post_ids=[str(post.pk)], changed={"modules": 1})
    listen()

    with run_on_commit():
        follow_content_migrations()

    assert told() == [("post.updated", post.path, [])]


def test_a_cause_that_is_handled_twice_tells_of_each_post_once(run_on_commit: RunOnCommit) -> None:
    module = make.global_module("letter")
    make.placed(make.post(), module)
    listen()
    with run_on_commit():
        edit_global(actor=make.actor(), slug="letter", props={"title": "Changed"})

    with run_on_commit():
        follow_cause(Event.objects.filter(name="content.changed").latest("pk"))

    assert len(told()) == 1
    assert Event.objects.filter(name="post.updated").latest("pk").actor_name == "editor"
