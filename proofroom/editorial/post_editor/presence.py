"""An open form says that it is open, and hears who else has it open."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_POST

from content.posts.presence import close_editor, list_open_editors, mark_editing
from proofroom.core.admin.permissions import actor_of, answers_refusals, require
from proofroom.core.errors import RuleViolation
from proofroom.core.realtime.presence import presence_message
from proofroom.editorial.posts.post_pages import find_post


@require_POST
@answers_refusals
def report_presence(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Called every few seconds by an open form, and once more when it is closed."""
    require(request, "posts.edit", "posts.translate", "posts.review.save")
    post, actor = find_post(post_id), actor_of(request)
    key = request.POST.get("key", "")
    try:
        if "leave" in request.POST:
            close_editor(post_id=post.pk, key=key, actor=actor)
        else:
            layer = request.POST.get("layer", "")
            mark_editing(post_id=post.pk, key=key, actor=actor, layer=layer)
    except RuleViolation as error:
        return JsonResponse({"error": error.message}, status=error.status)
    pages = list_open_editors([post.pk]).get(post.pk, [])
    return JsonResponse({"editing": presence_message(actor.user.pk, pages)})
