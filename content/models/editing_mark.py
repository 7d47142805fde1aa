"""Open editors of posts. Housekeeping: rows come and go with open pages, and no event tells of them."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

from content.models.draft import Layer
from content.models.post import Post

SOURCE = "source"


class EditingMark(models.Model):
    """One open page. `key` is what the page calls itself; `seen_at` is when it last said that it is open.

    A page that was closed is kept a while as closed: a report that it sent before and that comes later opens it not
    again.
    """

    post = models.ForeignKey(Post, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=36)
    layer = models.CharField(
        max_length=10, choices=[(SOURCE, SOURCE), (Layer.REVIEW, Layer.REVIEW)], default=SOURCE
    )
    is_closed = models.BooleanField(default=False, db_default=False)
    since = models.DateTimeField()
    seen_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["post", "key"], name="editing_once_per_page"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} at {self.post_id}"
