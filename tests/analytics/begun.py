"""Running experiments."""

from __future__ import annotations

from datetime import timedelta

from content.models import Post, Revision
from content.posts.variations import create_variation
from content.store.traffic import change_variation
from proofroom.core.models import Event
from tests import make


def begun(*names: str, weight: int = 50, days: int = 0) -> tuple[Post, list[Post]]:
    """Create a published post whose variations started that many days ago."""
    editor = make.actor("editor")
    post = make.post()
    rows = []
    for name in names or ("B",):
        row = create_variation(post_id=post.pk, variation=name, weight=weight, actor=editor)
        rows.append(
            change_variation(post_id=post.pk, variation_id=row.pk, running=True, actor=editor)
        )
    if days:
        moved(days)
    return post, rows


def moved(days: int) -> None:
    """Move all events so far into the past."""
    by = timedelta(days=days)
    for event in Event.objects.all():
        Event.objects.filter(pk=event.pk).update(created_at=event.created_at - by)
    for revision in Revision.objects.all():
        Revision.objects.filter(pk=revision.pk).update(created_at=revision.created_at - by)
