"""Webhooks and workflows that choose `content.changed`."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from content.posts.trash import delete_post, restore_post
from proofroom.core.admin.labels import kind_label, public_kind_label
from proofroom.core.event_kinds import CONTENT_CHANGED, LIVE_CHANGED
from proofroom.core.models import Event
from proofroom.webhooks.delivery_channels import event_body
from proofroom.webhooks.dispatch import concerns
from proofroom.webhooks.models import Delivery, Webhook
from proofroom.webhooks.rules import webhook_events
from proofroom.webhooks.services.replay import queue_replays, replay_since
from proofroom_apps.menus.services import create_menu
from tests import make
from tests.conftest import RunOnCommit

pytestmark = pytest.mark.django_db
BLOG = "type:blog:en"


def names() -> list[str]:
    return list(Delivery.objects.order_by("created_at").values_list("event_name", flat=True))


def test_the_choices_include_changes_and_restored_posts() -> None:
    assert {CONTENT_CHANGED, "post.restored"} <= set(webhook_events())
    assert LIVE_CHANGED not in webhook_events()


def test_a_delivery_has_the_label_that_was_chosen() -> None:
    for name, label in webhook_events().items():
        assert public_kind_label(name) == label
    assert public_kind_label("media.uploaded") == kind_label("media.uploaded")


def test_a_change_is_called_by_its_public_name(run_on_commit: RunOnCommit) -> None:
    make.webhook(events=[CONTENT_CHANGED])

    with run_on_commit():
        post = make.post(slug="brew")

    [delivery] = Delivery.objects.select_related("event")
    body = event_body(delivery.event)
    assert (delivery.event_name, body["event"]) == (CONTENT_CHANGED, CONTENT_CHANGED)
    assert body["data"] == {
        "cause": "post",
        "tags": [f"post:{post.pk}", BLOG],
        "paths": ["/blog/brew"],
        "gone": [],
        "pathsTotal": 1,
        "more": False,
    }


def test_a_restored_post_can_be_chosen(run_on_commit: RunOnCommit) -> None:
    post = make.post()
    delete_post(post_id=post.pk, actor=make.actor())
    make.webhook(events=["post.restored"])
    Event.objects.update(dispatched_at=timezone.now())

    with run_on_commit():
        restore_post(post_id=post.pk, actor=make.actor())

    assert names() == ["post.restored"]


@pytest.mark.parametrize(
    ("tags", "types", "locales", "is_wanted"),
    [
        (["post:1", BLOG], [], [], True),
        (["post:1", BLOG], ["blog"], ["en"], True),
        (["post:1", BLOG], ["page"], [], False),
        (["post:1", BLOG], ["blog"], ["de"], False),
        ([BLOG, "type:page:de"], ["page"], ["de"], True),
        # Of one tag, not of two.
        ([BLOG, "type:page:de"], ["page"], ["en"], False),
        (["menu:main"], ["page"], ["de"], True),
        ([BLOG, "redirects"], ["page"], [], True),
        (["site"], ["page"], [], True),
        (["form:contact"], ["page"], [], True),
        ([], ["page"], [], True),
    ],
)
def test_filters_match_the_tags(
    tags: list[str], types: list[str], locales: list[str], is_wanted: bool
) -> None:
    assert concerns({"tags": [*tags]}, types, locales) is is_wanted


def test_a_filter_by_language_lets_menus_pass(run_on_commit: RunOnCommit) -> None:
    make.webhook(events=[CONTENT_CHANGED], locales=["de"])

    with run_on_commit():
        make.post()
    assert names() == []
    with run_on_commit():
        create_menu(actor=make.actor("admin"), name="Main", slug="main", locale="en", items=[])

    assert names() == [CONTENT_CHANGED]


def test_changes_are_sent_again_with_a_replay(run_on_commit: RunOnCommit) -> None:
    since = timezone.now() - timedelta(minutes=1)
    with run_on_commit():
        make.post()
    hook: Webhook = make.webhook(events=[CONTENT_CHANGED])

    with run_on_commit():
        replay_since(webhook_id=hook.pk, since=since, actor=make.actor("admin"))
        queue_replays()

    assert names() == [CONTENT_CHANGED]


def test_an_activity_log_does_not_list_it(run_on_commit: RunOnCommit, client: Any) -> None:
    with run_on_commit():
        make.post()
    assert Event.objects.filter(name=LIVE_CHANGED).exists()
    client.force_login(make.user("admin"))

    listed = client.get("/api/activity").json()["data"]

    assert "post.created" in {entry["event"] for entry in listed}
    assert LIVE_CHANGED not in {entry["event"] for entry in listed}
