"""The address that a new post would get, shown in its form while the title is typed."""

from __future__ import annotations

from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from content.document.post_fields import SLUG_MAX, TITLE_MAX
from content.models import Post
from content.store.post_paths import check_paths_are_free, path_for
from proofroom.core.admin.permissions import actor_of, require, service_errors_as_http
from proofroom.core.errors import CmsError
from proofroom.core.title_slugs import slug_of_title
from proofroom.core.validation.slugs import clean_slug
from proofroom_apps.editorial.post_editor.new_post import find_parent, offer_choices


@require_safe
@service_errors_as_http
def new_address(request: HttpRequest) -> JsonResponse:
    """Return the slug that the title gives, and the path of `slug`, or of that one if it is empty.

    `problem` says why the post could not have the path. Stores nothing.
    """
    require(request, "posts.create")
    actor, choices = actor_of(request), offer_choices(actor_of(request))
    title = request.GET.get("title", "")[:TITLE_MAX].strip()
    type_ = request.GET.get("type", "")
    parent = find_parent(request, choices, request.GET.get("parent", ""), type_)
    type_ = parent.type if parent is not None else type_
    locale = parent.locale if parent is not None else request.GET.get("locale", "")
    is_offered = type_ in dict(choices.types) and locale in dict(choices.locales)
    typed = request.GET.get("slug", "")
    if not is_offered or not (title or typed):
        return JsonResponse({"slug": "", "path": "", "problem": ""})
    slug = slug_of_title(title, locale)
    path = problem = ""
    try:
        chosen = clean_slug(typed, SLUG_MAX) if typed else slug
        # Never saved: only its path is needed.
        post = Post(
            type=type_, locale=locale, slug=chosen, parent=parent, created_at=timezone.now()
        )
        post.path = path = path_for(post)
        check_paths_are_free([post], actor)
    except CmsError as error:
        problem = next((texts[0] for texts in error.details.values() if texts), error.message)
    return JsonResponse({"slug": slug if title else "", "path": path, "problem": problem})
