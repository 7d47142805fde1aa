"""Posts whose addresses still have to follow that of a post above them."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from content.models.post import Post


class TreeMove(models.Model):
    """A post that moved, while what stands below it still has its old addresses.

    The row is the truth of the work that is left, and goes when it is done. `version` grows when the post moves
    again meanwhile.
    """

    post = models.OneToOneField(Post, on_delete=models.CASCADE, primary_key=True, related_name="+")
    total = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    version = models.PositiveIntegerField(default=1)
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.done} of {self.total} below {self.post_id}"
