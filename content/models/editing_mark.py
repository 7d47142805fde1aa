"""Open editors of posts. Rows come and go with open pages and cause no events."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

from content.models.draft import Layer
from content.models.post import Post

SOURCE = "source"


class EditingMark(models.Model):
    """One open page. `key`: the id that the page chose. `seen_at`: time of its last report.

    A closed page keeps its row for a while, so that an earlier report that arrives late does not reopen it.
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
