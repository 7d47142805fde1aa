"""Links to the figures of a post on its pages in the editor."""

from __future__ import annotations

from collections.abc import Iterable

from django.http import HttpRequest

from analytics.admin.heatmap import heatmap_tabs
from analytics.admin.variations import variation_tabs
from content.models import Post
from proofroom_apps.editorial.posts.extensions import (
    PostPagesExtension,
    PostTab,
    post_pages_extensions,
)


class FiguresOnPostPages(PostPagesExtension):
    def tabs(self, request: HttpRequest, post: Post) -> Iterable[PostTab]:
        return heatmap_tabs(request, post)

    def variation_links(self, request: HttpRequest, post: Post) -> Iterable[PostTab]:
        return variation_tabs(request, post)


post_pages_extensions.register(FiguresOnPostPages(), name="analytics", order=1)
