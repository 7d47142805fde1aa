"""Permissions that can be limited to a content scope. A new permission must be added to one of two lists."""

from __future__ import annotations

from typing import Final

from proofroom.accounts.roles import PERMISSIONS
from proofroom.core.content_scope import WHOLE_SITE

LOOKS_AT_CONTENT: Final = {
    "agents.dropdown", "agents.field", "agents.global", "agents.view", "analytics.read", "analytics.view",
    "content.replace", "feedback.create", "feedback.delete", "feedback.moderate", "feedback.resolve", "feedback.view",
    "forms.edit", "forms.submissions", "globals.edit", "lists.share", "media.delete", "media.edit", "media.upload",
    "media.view", "menus.edit", "posts.ai-review.approve", "posts.ai-review.save", "posts.archive", "posts.create",
    "posts.delete", "posts.edit", "posts.preview", "posts.publish", "posts.restore", "posts.review.approve",
    "posts.review.save", "posts.revisions.manage", "posts.translate", "posts.view", "taxonomies.edit",
}  # fmt: skip
"""Their services check the row, or tests of scopes show that they change nothing outside."""


def test_every_permission_is_limited_by_content_or_is_of_the_whole_site() -> None:
    # A permission in neither list could be given to a limited role and would apply everywhere.
    assert PERMISSIONS == LOOKS_AT_CONTENT | WHOLE_SITE
    assert LOOKS_AT_CONTENT.isdisjoint(WHOLE_SITE)
