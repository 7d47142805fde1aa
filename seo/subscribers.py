"""What redirects do when posts move, in the transaction of the move."""

from __future__ import annotations

from typing import Final

from content.models import Post
from core.models import Event
from seo.services.redirects import drop_at, follow_move

MOVED: Final = ("post.moved",)
ARRIVED: Final = ("post.published", "post.restored")


def lead_on(event: Event) -> None:
    """The old address of a post that was published once leads to the new one."""
    before, after = str(event.payload["from"]), str(event.payload["to"])
    known = Post.objects.filter(pk=str(event.payload["id"]), published_at__isnull=False)
    if before and after and known.exists():
        follow_move(before=before, after=after)


def make_room(event: Event) -> None:
    """A post that is live again takes its address back."""
    if event.payload["status"] == "published" and event.payload["url"]:
        drop_at(str(event.payload["url"]))
