"""Permissions to publish posts. For permissions to change them see `change_permissions.py`."""

from __future__ import annotations

from typing import Final

from content.models import Layer, Status

PUBLISH: Final = "posts.publish"
"""Permission to publish, unpublish and schedule posts, and to start and stop variations."""
APPROVE_AND_PUBLISH: Final[dict[Layer, tuple[str, ...]]] = {
    Layer.REVIEW: ("posts.review.approve", PUBLISH),
    Layer.AI_REVIEW: ("posts.ai-review.approve", "posts.review.approve", PUBLISH),
}
"""Permissions for "Approve and publish" by reviewed layer."""


def status_permission(status: str) -> str:
    """Return the permission to give posts a status."""
    # Unpublishing changes what visitors see, so it needs the permission to publish.
    return "posts.archive" if status == Status.ARCHIVED else PUBLISH
