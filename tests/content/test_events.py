"""Content changes are recorded and rolled back with their events, and invalidate cached answers."""

from __future__ import annotations

import pytest
from django.db import transaction

from content.models import Post
from content.posts.edit import edit_post
from content.store import document_edits
from proofroom.core.caching.content_version import content_version
from proofroom.core.models import Event
from tests import make
from tests.conftest import RunOnCommit

pytestmark = pytest.mark.django_db


def rename(post: Post, title: str = "New") -> None:
    edit_post(
        post_id=post.pk,
        actor=make.actor(),
        edit=lambda document: document_edits.patch_fields(document, {"title": title}),
    )


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
