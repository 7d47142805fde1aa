"""A month with an entry of each kind, a day apart."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from content.layers.schedule import schedule_approval
from content.models import Layer, Post
from proofroom.definitions import Step
from proofroom_apps.comments.services import comment_on_asset, comment_on_post
from proofroom_apps.releases.services import add_item, create_release
from proofroom_apps.steps.models import StepRound
from proofroom_apps.steps.services import advance
from tests import make
from tests.releases.scenes import digest_of
from tests.steps.taking import set_steps


def on(day: int, hour: int = 9) -> datetime:
    return datetime.fromisoformat(f"2099-01-{day:02}T{hour:02}:00:00+00:00")


def full_month() -> dict[str, Any]:
    """Plan one of each kind, a day apart."""
    editor = make.actor("editor")
    planned = make.post("Planned", slug="planned", status="draft")
    Post.objects.filter(pk=planned.pk).update(publish_at=on(2))
    ending = make.post("Ending", slug="ending")
    Post.objects.filter(pk=ending.pk).update(unpublish_at=on(3))
    changed = make.post("Changed", slug="changed")
    make.staged(changed, {"excerpt": "New"}, layer=Layer.REVIEW)
    approval = schedule_approval(
        post_id=changed.pk, actor=editor, digest=digest_of(changed), at=on(4)
    )
    release = create_release(name="Launch", actor=editor, at=on(5), time_zone="UTC")
    drafted = make.post("Drafted", slug="drafted", status="draft")
    add_item(release_id=release.pk, kind="post", object_id=drafted.pk, actor=editor)
    thread = comment_on_post(
        post_id=changed.pk, body="Check", actor=editor, due_at=on(6), assignee="admin"
    )
    about_file = comment_on_asset(
        asset_id=make.image("cup.png").pk, body="Dark", actor=editor, due_at=on(7)
    )
    return {
        "planned": planned,
        "ending": ending,
        "changed": changed,
        "approval": approval,
        "release": release,
        "thread": thread.comment,
        "about_file": about_file.comment,
    }


def due_step(monkeypatch: pytest.MonkeyPatch, *, at: datetime) -> Post:
    """Open the first step of a page, due at that time. It asks translators."""
    set_steps(monkeypatch, Step("Legal", role="translator"), type_="page")
    post = make.post("Terms of use", slug="terms", type="page", status="draft")
    advance(post_id=post.pk, actor=make.actor("editor"))
    StepRound.objects.filter(post=post).update(due_at=at)
    return post
