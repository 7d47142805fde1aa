"""Every permission has a label, on the form of a token and on its page."""

from __future__ import annotations

from typing import Final

import pytest
from django.test import Client

from proofroom.accounts.permission_labels import GROUP_LABELS, LABELS, permission_choices
from proofroom.accounts.roles import PERMISSIONS
from proofroom.accounts.services.tokens import create_token
from proofroom.core.content_scope import WHOLE_SITE
from tests import make

pytestmark = pytest.mark.django_db


def test_every_permission_has_a_label_and_no_label_is_left_over() -> None:
    assert set(LABELS) == PERMISSIONS
    assert set(GROUP_LABELS) == {name.partition(".")[0] for name in PERMISSIONS}
    assert len({str(label) for label in LABELS.values()}) == len(LABELS)
    offered = [name for _, group in permission_choices() for name, _ in group]
    assert sorted(offered) == sorted(PERMISSIONS)


def test_a_token_says_in_words_what_it_may() -> None:
    admin = Client()
    admin.force_login(make.user("admin"))
    token, _ = create_token(
        name="Nightly", permissions=["posts.publish"], actor=make.actor("admin")
    )

    form = admin.get("/admin/proofroom_accounts/apitoken/add/").content.decode()
    page = admin.get(f"/admin/proofroom_accounts/apitoken/{token.pk}/change/").content.decode()

    assert 'value="posts.publish"' in form
    assert "Approve changes in Review" in form
    assert "<li>Publish and unpublish posts</li>" in page
    assert "posts.publish" not in page


LOOKS_AT_CONTENT: Final = {
    "comments.view", "comments.write",
    "agents.dropdown", "agents.field", "agents.global", "agents.view", "analytics.read", "analytics.view",
    "content.replace", "feedback.create", "feedback.delete", "feedback.moderate", "feedback.resolve", "feedback.view",
    "forms.edit", "forms.submissions", "globals.edit", "lists.share", "media.delete", "media.edit", "media.upload",
    "media.view", "menus.edit", "posts.ai-review.approve", "posts.ai-review.save", "posts.archive", "posts.create",
    "posts.delete", "posts.edit", "posts.preview", "posts.publish", "posts.restore", "posts.review.approve",
    "posts.review.save", "posts.revisions.manage", "posts.translate", "posts.unlock", "posts.view",
    "reviewers.invite", "taxonomies.edit",
}  # fmt: skip
"""Their services check the row, or tests of scopes show that they change nothing outside."""


def test_every_permission_is_limited_by_content_or_is_of_the_whole_site() -> None:
    # A permission in neither list could be given to a limited role and would apply everywhere.
    assert PERMISSIONS == LOOKS_AT_CONTENT | WHOLE_SITE
    assert LOOKS_AT_CONTENT.isdisjoint(WHOLE_SITE)
