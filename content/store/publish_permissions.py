"""Who may publish: permissions for what visitors see the outcome of. Who may change what: `change_permissions.py`."""

from __future__ import annotations

from typing import Final

from content.models import Layer, Status

PUBLISH: Final = "posts.publish"
"""Publish and unpublish posts, schedule them, and start and stop variations."""
APPROVE_AND_PUBLISH: Final[dict[Layer, tuple[str, ...]]] = {
    Layer.REVIEW: ("posts.review.approve", PUBLISH),
    Layer.AI_REVIEW: ("posts.ai-review.approve", "posts.review.approve", PUBLISH),
}
"""What "Approve and publish" needs, by the layer that is reviewed."""


def status_permission(status: str) -> str:
    """Return what it needs to give posts that status. To take one from visitors is to publish, too."""
    return "posts.archive" if status == Status.ARCHIVED else PUBLISH
