"""The page of a post in the frame of its heatmap: the live page or an earlier one, without scripts."""

from __future__ import annotations

import re
from typing import Final
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.templatetags.static import static
from django.utils.html import format_html

from content.document.document import PostDocument
from content.models import Post
from content.store import post_repository
from content.store.scopes import require_visible
from proofroom.core.admin.permissions import actor_of, require, service_errors_as_http
from proofroom.core.middleware import allow_admin_frame
from proofroom_apps.editorial.posts.post_pages import get_post_or_404
from proofroom_apps.editorial.posts.revisions import find_revision
from proofroom_apps.website.layer_pages import preview_page

STYLESHEET: Final = "cms/analytics/heatmap-frame.css"
_SCRIPT: Final = re.compile(r"<script\b[^>]*\ssrc=[^>]*></script>")
"""A script tag as templates write it. Escaped text cannot match."""


@service_errors_as_http
@allow_admin_frame
def heatmap_frame(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Return the live page, or the one of `?revisionId=`; never a draft."""
    require(request, "analytics.read")
    post = get_post_or_404(request, post_id)
    require_visible(post, actor_of(request))
    revision_id = request.GET.get("revisionId", "")
    if not revision_id:
        document = post_repository.load(post)
    else:
        document = PostDocument.from_json(find_revision(post, revision_id).document)
    response = HttpResponse(still_page(post, document))
    response["Cache-Control"] = "no-store"
    response["X-Robots-Tag"] = "noindex, nofollow"
    response["Referrer-Policy"] = "no-referrer"
    return response


def still_page(post: Post, document: PostDocument) -> str:
    """Return the page without scripts, with the layout for visitors. Its links open outside of the frame."""
    page = _SCRIPT.sub("", preview_page(post, document, ""))
    added = format_html(
        '<base target="_blank"><link rel="stylesheet" href="{}" data-heat-page>\n</head>',
        static(STYLESHEET),
    )
    return page.replace("</head>", added, 1)
