"""Terms of posts."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from content.models.post import Post
from proofroom.taxonomies.models import Term


class PostTerm(models.Model):
    """A live assignment. Staged ones stand in the drafts."""

    post = models.ForeignKey(Post, on_delete=models.CASCADE, related_name="post_terms")
    term = models.ForeignKey(Term, on_delete=models.CASCADE, related_name="post_terms")

    class Meta:
        db_table = "post_taxonomy_terms"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["post", "term"], name="post_term_once"),
        ]

    def __str__(self) -> str:
        return f"{self.term_id} on {self.post_id}"
