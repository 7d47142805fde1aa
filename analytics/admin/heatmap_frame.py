"""The page of a post in the frame of its heatmap: as visitors see it, or saw it, but nothing of it runs."""

from __future__ import annotations

import re
from typing import Final
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.templatetags.static import static
from django.utils.html import format_html

from content import store
from content.admin.pages import find_post
from content.admin.revisions import find_revision
from content.document import PostDocument
from content.models import Post
from content.site.layer_pages import preview_page
from core.admin.rights import answers_refusals, require
from core.framing import framed_by_the_admin

STYLESHEET: Final = "cms/analytics/heatmap-frame.css"
_SCRIPT: Final = re.compile(r"<script\b[^>]*\ssrc=[^>]*></script>")
"""As templates write it. Texts cannot look like it: they are escaped."""


@answers_refusals
@framed_by_the_admin
def heatmap_frame(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """What is live, or with `?revisionId=` what was: never what waits in a layer."""
    require(request, "analytics.view")
    post = find_post(post_id)
    response = HttpResponse(still_page(post, _document(post, request.GET.get("revisionId", ""))))
    response["Cache-Control"] = "no-store"
    response["X-Robots-Tag"] = "noindex, nofollow"
    response["Referrer-Policy"] = "no-referrer"
    return response


def _document(post: Post, revision_id: str) -> PostDocument:
    if not revision_id:
        return store.load(post)
    return PostDocument.from_json(find_revision(post, revision_id).document)


def still_page(post: Post, document: PostDocument) -> str:
    """The page without its scripts, whose links lead out of the frame. It is laid out as for visitors."""
    page = _SCRIPT.sub("", preview_page(post, document, ""))
    added = format_html(
        '<base target="_blank"><link rel="stylesheet" href="{}" data-heat-page>\n</head>',
        static(STYLESHEET),
    )
    return page.replace("</head>", added, 1)
