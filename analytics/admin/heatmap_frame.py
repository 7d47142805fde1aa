"""The page of a post in the frame of its heatmap: as visitors see it, or saw it, but nothing of it runs."""

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
from proofroom.core.admin.permissions import actor_of, answers_refusals, require
from proofroom.core.middleware import allow_admin_frame
from proofroom_apps.editorial.posts.post_pages import get_post_or_404
from proofroom_apps.editorial.posts.revisions import find_revision
from proofroom_apps.website.layer_pages import preview_page

STYLESHEET: Final = "cms/analytics/heatmap-frame.css"
_SCRIPT: Final = re.compile(r"<script\b[^>]*\ssrc=[^>]*></script>")
"""As templates write it. Texts cannot look like it: they are escaped."""


@answers_refusals
@allow_admin_frame
def heatmap_frame(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Return what is live, or with `?revisionId=` what was: never what waits in a layer."""
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
    """The page without its scripts, whose links lead out of the frame. It is laid out as for visitors."""
    page = _SCRIPT.sub("", preview_page(post, document, ""))
    added = format_html(
        '<base target="_blank"><link rel="stylesheet" href="{}" data-heat-page>\n</head>',
        static(STYLESHEET),
    )
    return page.replace("</head>", added, 1)
