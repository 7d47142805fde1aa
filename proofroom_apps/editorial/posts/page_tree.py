"""The tree of pages in a language: hierarchy, states, and translations without a translated parent."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.core.paginator import Page, Paginator
from django.db.models import Count, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from content.models import JobKind, JobState, Layer, Post, PostJob, QueuedChange
from content.store.scopes import visible_to
from proofroom.core.admin.permissions import actor_of, may, require
from proofroom.core.content_scope import Scoped, allowed_names, reading_scopes, scopes_for
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.i18n import in_words
from proofroom.core.i18n.languages import site_languages
from proofroom.definitions import post_types
from proofroom_apps.editorial.posts.job_admin import describe_job, job_url
from proofroom_apps.editorial.posts.post_pages import (
    page,
    post_url,
    review_url,
    title_of,
    with_proposed_titles,
)

MAX_WHOLE: Final = 500
"""Largest number of pages of a tree shown as a whole; larger trees are shown level by level."""
_PAGE_SIZE: Final = 200
_MAX_FOUND: Final = 100
_QUERY_LENGTH: Final = 200


@dataclass(slots=True)
class PageNode:
    """A page of the tree. `below` is the number of its children; `children` are the ones shown."""

    post: Post
    title: str
    url: str
    waiting: tuple[tuple[str, int, str], ...]
    """Layer, number of changes, and address of the review."""
    below: int = 0
    children: list[PageNode] = field(default_factory=list)

    @property
    def is_below_trash(self) -> bool:
        return self.post.parent is not None and self.post.parent.deleted_at is not None

    @property
    def is_orphan(self) -> bool:
        """True for a translation at the top level whose source's parent has no translation."""
        source = self.post.translated_from
        return self.post.parent_id is None and source is not None and source.parent_id is not None


def page_tree(request: HttpRequest) -> HttpResponse:
    """Show a small tree as a whole, of a large one the level below the page `below`; `q` searches it.

    `part=rows` returns only one level, for the script that opens it in place.
    """
    require(request, "posts.view")
    types = [definition for definition in post_types if definition.hierarchical]
    if not types:
        raise Http404(_("This site has no post types with a page tree."))
    actor = actor_of(request)
    scopes = reading_scopes(actor)
    inside = allowed_names(scopes, "types", [definition.name for definition in types])
    # The page needs a type and a language even if the user's scopes allow none. It is empty then.
    types = [definition for definition in types if definition.name in inside] or types
    names = {definition.name: definition for definition in types}
    shown = names.get(request.GET.get("type", ""), types[0])
    locales = allowed_names(scopes, "locales", settings.CMS_ENV.locales) or settings.CMS_ENV.locales
    locale = request.GET.get("locale", "")
    if locale not in locales:
        usual = settings.CMS_ENV.default_locale
        locale = usual if usual in locales else locales[0]
    address = {"type": shown.name, "locale": locale}
    own = scopes_for("posts.create", actor.scopes)
    can_be_created = allowed_names(own, "types", [shown.name]) and allowed_names(
        own, "locales", [locale]
    )
    seen = visible_to(Post.objects.alive(), actor)
    posts = seen.filter(type=shown.name, locale=locale)
    context: dict[str, Any] = {
        "level_query": urlencode(address),
        "may_edit": may(request, "posts.edit"),
        "may_create": may(request, "posts.create") and bool(can_be_created),
        "is_limited": bool(scopes),
    }
    if request.GET.get("part") == "rows":
        above = _find_above(posts, request.GET.get("below", ""))
        found = _level(posts.filter(parent=above), request, _PAGE_SIZE)
        context |= {
            "nodes": list(_nodes(list(found), actor).values()),
            "page_obj": found,
            "above": above,
        }
        return render(request, "admin/posts/tree_rows.html", context)
    total = posts.count()
    text = request.GET.get("q", "")[:_QUERY_LENGTH].strip()
    is_whole = total <= MAX_WHOLE
    # The whole tree and a search are not limited to a level.
    above = None if is_whole or text else _find_above(posts, request.GET.get("below", ""))
    if text:
        matching = Q(title__icontains=text) | Q(path__icontains=text)
        found = _level(posts.filter(matching), request, _MAX_FOUND, "path", "id")
    elif is_whole:
        found = _level(posts, request, MAX_WHOLE)
    elif above is not None:
        found = _level(posts.filter(parent=above), request, _PAGE_SIZE)
    else:
        # Pages below one in the trash are listed at the top: their parent is not in the tree.
        at_top = Q(parent=None) | Q(parent__deleted_at__isnull=False)
        # A user limited to a section may not view the parent of its first page.
        if scopes:
            at_top |= ~Q(parent__in=seen.values("pk"))
        found = _level(posts.filter(at_top), request, _PAGE_SIZE)
    nodes = _nodes(list(found), actor)
    if text:
        top = list(nodes.values())
    else:
        top = [node for node in nodes.values() if node.post.parent_id not in nodes]
        for node in nodes.values():
            if node.post.parent_id in nodes:
                nodes[node.post.parent_id].children.append(node)
    running = PostJob.objects.filter(kind=JobKind.COPY, state=JobState.RUNNING)
    context |= {
        "jobs": [
            (job, describe_job(job), job_url(job))
            for job in running.filter(by=request.user.pk).order_by("created_at")
        ],
        "nodes": top,
        "total": total,
        "query": text,
        "is_whole": is_whole,
        "above": above,
        "page_obj": found,
        "type_name": shown.name,
        "locale": locale,
        "types": [
            (in_words(one.label), f"?{urlencode({**address, 'type': one.name})}", one is shown)
            for one in types
        ],
        "locales": [
            (label, f"?{urlencode({**address, 'locale': name})}", name == locale)
            for name, label in site_languages()
            if name in locales
        ],
    }
    return page(request, "admin/posts/tree.html", context, title=_("Page tree"))


def _find_above(posts: QuerySet[Post], text: str) -> Post | None:
    return find_by_id(posts.select_related("parent"), text)


def _level(posts: QuerySet[Post], request: HttpRequest, size: int, *ordering: str) -> Page[Post]:
    ordered = with_proposed_titles(
        posts.select_related("parent", "translated_from")
        .defer("jsonld_overrides", "custom_fields")
        .order_by(*(ordering or ("order_index", "title", "id")))
    )
    return Paginator(ordered, size).get_page(request.GET.get("page"))


def _nodes(posts: list[Post], who: Scoped) -> dict[UUID, PageNode]:
    """Return the nodes of posts in order. Two queries."""
    ids = [post.pk for post in posts]
    below = Counter[UUID | None]()
    counted = (
        visible_to(Post.objects.alive(), who).filter(parent__in=ids).order_by().values("parent")
    )
    for row in counted.annotate(number=Count("pk")):
        below[row["parent"]] = row["number"]
    waiting: dict[UUID, list[tuple[str, int, str]]] = {}
    queued = QueuedChange.objects.filter(post__in=ids).order_by("post_id", "layer")
    for change in queued.values("post_id", "layer").annotate(number=Count("pk")):
        layer = Layer(change["layer"])
        place = (layer.value, change["number"], review_url(str(change["post_id"]), layer))
        waiting.setdefault(change["post_id"], []).append(place)
    return {
        post.pk: PageNode(
            post,
            title_of(post, post),
            post_url("change", post),
            tuple(waiting.get(post.pk, ())),
            below[post.pk],
        )
        for post in posts
    }
