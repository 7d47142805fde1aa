"""The link from a page of the site to the editor of its post, for people who may edit that post."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from proofroom.core.admin.permissions import may, require, service_errors_as_http
from proofroom_apps.editorial.posts.post_pages import get_post_or_404, may_edit_live, post_url


@require_safe
@service_errors_as_http
def edit_link(request: HttpRequest, post_id: UUID) -> JsonResponse:
    """Return the address of the editor, empty for people who may only view the post.

    A request of its own, because the page is the same for everybody.
    """
    require(request, "posts.view")
    post = get_post_or_404(request, post_id)
    may_edit = may_edit_live(request, post) or may(request, "posts.review.save", post)
    return JsonResponse({"url": post_url("change", post) if may_edit else ""})
