"""The links that visitors can follow."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, Q, QuerySet

from content.models import ContentLink, PostModule
from content.store.post_queries import published_posts


def live_links() -> QuerySet[ContentLink]:
    """Return the links of published posts, and of global modules that stand on one."""
    published = published_posts().filter(pk=OuterRef("post_id"))
    placed = PostModule.objects.filter(
        instance_id=OuterRef("module_id"), post__in=published_posts().values("pk")
    )
    return ContentLink.objects.filter(Q(Exists(published)) | Q(Exists(placed)))
