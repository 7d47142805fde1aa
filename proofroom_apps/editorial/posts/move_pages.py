"""Moving pages in the admin: target, changed addresses, and the move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from content.models import Post
from content.posts.move import MAX_MOVED, MovePlan, Place, move_posts, plan_move
from content.store.scopes import changeable_by, visible_to
from proofroom.core.admin.permissions import actor_of, require, service_errors_as_http
from proofroom.core.content_scope import Scoped
from proofroom.core.errors import CmsError
from proofroom.core.json import JsonObject
from proofroom.core.validation.input_validation import parse_uuid
from proofroom_apps.editorial.posts.post_pages import page

TOP: Final = "top"
"""Target value for the top level."""
_MAX_CHOICES: Final = 12
_QUERY_LENGTH: Final = 200


@service_errors_as_http
def move_pages(request: HttpRequest) -> HttpResponse:
    """GET asks for the target and shows the changes, POST moves the pages."""
    require(request, "posts.edit")
    sent = request.POST if request.method == "POST" else request.GET
    posts = chosen_pages(sent.getlist("page"), actor_of(request))
    target = sent.get("to", "")
    if request.method == "POST" and target:
        return _move(request, posts, target)
    return _form(request, posts, target)


def chosen_pages(ids: Sequence[str], who: Scoped) -> list[Post]:
    """Return the pages of these ids, in order. Raises `Http404` if there are none."""
    # One more than allowed, so that the service reports the limit.
    wanted = [_id_of(id_) for id_ in ids[: MAX_MOVED + 1]]
    seen = visible_to(Post.objects.alive(), who)
    found = {post.pk: post for post in seen.filter(pk__in=wanted)}
    posts = [found[id_] for id_ in dict.fromkeys(wanted) if id_ in found]
    if not posts:
        raise Http404(_("Page not found."))
    return posts


def tree_url(post: Post) -> str:
    """Return the address of the page tree for the page's type and language."""
    query = urlencode({"type": post.type, "locale": post.locale})
    return f"{reverse('admin:content_post_tree')}?{query}"


def wants_json(request: HttpRequest) -> bool:
    """Return whether a script sent the request and shows the answer itself."""
    return request.headers.get("Accept") == "application/json"


def _id_of(text: str) -> UUID:
    id_ = parse_uuid(text)
    if id_ is None:
        raise Http404(_("Page not found."))
    return id_


def _parent_of(target: str) -> UUID | None:
    return None if target == TOP else _id_of(target)


def _form(
    request: HttpRequest, posts: Sequence[Post], target: str, problem: str = "", status: int = 200
) -> HttpResponse:
    sent = request.POST if request.method == "POST" else request.GET
    plan: MovePlan | None = None
    if target and not problem:
        try:
            plan = plan_move(
                post_ids=[post.pk for post in posts],
                parent_id=_parent_of(target),
                actor=actor_of(request),
            )
        except CmsError as error:
            if error.status in (403, 404):
                raise
            problem = error.message
    text = sent.get("q", "")[:_QUERY_LENGTH].strip()
    title = (
        _("Move “%(title)s”") % {"title": posts[0].title}
        if len(posts) == 1
        else ngettext("Move %(number)s page", "Move %(number)s pages", len(posts))
        % {"number": len(posts)}
    )
    context: dict[str, Any] = {
        "posts": posts,
        "target": target,
        "before": sent.get("before", ""),
        "query": text,
        "choices": _choices(posts, text, target, actor_of(request)),
        "plan": plan,
        "more": plan.total - len(plan.changes) if plan else 0,
        "problem": problem,
        "back": tree_url(posts[0]),
    }
    return page(request, "admin/posts/move.html", context, title=title, status=status)


def _choices(posts: Sequence[Post], text: str, target: str, who: Scoped) -> list[Post]:
    """Return matching pages of the type and language by path, without the moved ones. One query."""
    seen = changeable_by(Post.objects.alive(), who)
    rows = seen.filter(type=posts[0].type, locale=posts[0].locale)
    rows = rows.filter(is_placeholder=False).exclude(pk__in=[post.pk for post in posts])
    for post in posts:
        # A page cannot move below itself. Without a path the prefix would exclude every page.
        if post.path.strip("/"):
            rows = rows.exclude(path__startswith=f"{post.path}/")
    if text:
        rows = rows.filter(Q(title__icontains=text) | Q(path__icontains=text))
    found = list(rows.order_by("path", "id").only("title", "path")[:_MAX_CHOICES])
    # The chosen target stays available even if the search doesn't match it.
    if target not in ("", TOP) and target not in {str(post.pk) for post in found}:
        found = [*seen.filter(pk=_id_of(target)).only("title", "path"), *found]
    return found


def _move(request: HttpRequest, posts: Sequence[Post], target: str) -> HttpResponse:
    before = request.POST.get("before", "")
    place = Place(_parent_of(target), _before_of(before))
    versions = zip(request.POST.getlist("page"), request.POST.getlist("version"), strict=False)
    # Before the move, while the page is still in its old place.
    undo = _way_back(posts[0], actor_of(request)) if len(posts) == 1 else None
    try:
        moved = move_posts(
            post_ids=[post.pk for post in posts],
            place=place,
            actor=actor_of(request),
            expected_versions={
                UUID(id_): int(version)
                for id_, version in versions
                if version.isdecimal() and len(version) < 10
            },
        )
    except CmsError as error:
        if wants_json(request):
            return JsonResponse({"message": error.message}, status=error.status)
        if error.status in (403, 404):
            raise
        return _form(request, posts, target, error.message, error.status)
    message = _sentence(posts, moved)
    if wants_json(request):
        if undo is not None:
            undo["version"] = moved[0].version
        return JsonResponse({"message": message, "undo": undo})
    messages.success(request, message)
    return HttpResponseRedirect(tree_url(moved[0]))


def _before_of(text: str) -> UUID | Literal["end"] | None:
    if text == "end":
        return "end"
    return _id_of(text) if text else None


def _way_back(post: Post, who: Scoped) -> JsonObject:
    """Return the arguments that move the page back, as far as `who` may see its siblings."""
    siblings = visible_to(Post.objects.alive(), who).filter(
        type=post.type, locale=post.locale, parent=post.parent_id
    )
    ids = list(siblings.order_by("order_index", "title", "id").values_list("pk", flat=True))
    at = ids.index(post.pk) + 1
    return {
        "page": str(post.pk),
        "to": str(post.parent_id) if post.parent_id else TOP,
        "before": str(ids[at]) if at < len(ids) else "end",
    }


def _sentence(posts: Sequence[Post], moved: Sequence[Post]) -> str:
    if len(moved) > 1:
        return ngettext("%(number)s page moved.", "%(number)s pages moved.", len(moved)) % {
            "number": len(moved)
        }
    words = {"title": moved[0].title, "path": moved[0].path}
    if moved[0].path == posts[0].path:
        return _("“%(title)s” moved.") % words
    return _("“%(title)s” moved to %(path)s.") % words
