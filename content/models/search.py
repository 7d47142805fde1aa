"""The search entry of a post: the words of its live content, in columns and tables of `proofroom.core.search`."""

from __future__ import annotations

from django.db import models

from content.models.post import Post


class SearchEntry(models.Model):
    """The post's entry. Its words are no column of the model: each database keeps them in its own way."""

    id = models.BigAutoField(primary_key=True)
    post = models.OneToOneField(Post, on_delete=models.CASCADE, related_name="+")

    def __str__(self) -> str:
        return f"words of {self.post_id}"
