"""A release is one change of the live content for caches."""

from __future__ import annotations

import pytest

from proofroom.core.caching.content_version import content_version
from tests import make
from tests.api_client import ApiClient
from tests.releases.scenes import add, add_changes, changed_post, create, publish, undo

pytestmark = pytest.mark.django_db


def test_a_release_changes_the_content_version_once() -> None:
    post, draft = changed_post(), make.post("Draft", slug="draft", status="draft")
    release = create()
    add_changes(release, post)
    add(release, "post", draft.pk)
    client, address = ApiClient(), f"/api/public/posts/{post.pk}"
    assert client.read(address)["title"] == post.title
    before = content_version()

    publish(release)
    assert content_version() == before + 1
    assert client.read(address)["title"] == "New title"

    undo(release)
    assert content_version() == before + 2
    assert client.read(address)["title"] == post.title
