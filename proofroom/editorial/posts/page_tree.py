"""The tree of pages in a language: what stands below what, its states, and translations without their parent."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from content.models import Layer, Post, QueuedChange
from proofroom.core.admin.permissions import require
from proofroom.core.i18n import in_words
from proofroom.core.i18n.languages import site_languages
from proofroom.definitions import post_types
from proofroom.editorial.posts.post_pages import (
    page,
    post_url,
    review_url,
    title_of,
    with_proposed_titles,
)

MAX_WHOLE: Final = 500
"""Pages of a tree that is shown whole; a larger one is shown a level at a time."""
_PAGE_SIZE: Final = 200


@dataclass(slots=True)
class PageNode:
    """A page of the tree. `below` says how many stand directly below it; `children` has those that are shown."""

    post: Post
    title: str
    url: str
    waiting: tuple[tuple[str, int, str], ...]
    """Layer, number of changes and where they are decided."""
    below: int = 0
    children: list[PageNode] = field(default_factory=list)

    @property
    def is_below_trash(self) -> bool:
        return self.post.parent is not None and self.post.parent.deleted_at is not None

    @property
    def is_orphan(self) -> bool:
        """A translation at the top, because the page above its source has no translation."""
        source = self.post.translated_from
        return self.post.parent_id is None and source is not None and source.parent_id is not None


def page_tree(request: HttpRequest) -> HttpResponse:
    """The whole tree where it is small, else the level below the page that `below` names."""
    require(request, "posts.view")
    types = [definition for definition in post_types if definition.hierarchical]
    if not types:
        raise Http404(_("No post type of this site has a hierarchy."))
    names = {definition.name: definition for definition in types}
    shown = names.get(request.GET.get("type", ""), types[0])
    locale = request.GET.get("locale", "")
    if locale not in settings.CMS_ENV.locales:
        locale = settings.CMS_ENV.default_locale
    posts = Post.objects.alive().filter(type=shown.name, locale=locale)
    total = posts.count()
    is_whole = total <= MAX_WHOLE
    above = None if is_whole else _find_above(request.GET.get("below", ""))
    rows = posts
    if not is_whole and above is not None:
        rows = posts.filter(parent=above)
    elif not is_whole:
        rows = posts.filter(Q(parent=None) | Q(parent__deleted_at__isnull=False))
    ordered = with_proposed_titles(
        rows.select_related("parent", "translated_from")
        .defer("jsonld_overrides", "custom_fields")
        .order_by("order_index", "title", "id")
    )
    found = Paginator(ordered, MAX_WHOLE if is_whole else _PAGE_SIZE).get_page(
        request.GET.get("page")
    )
    nodes = _nodes(list(found))
    top = [node for node in nodes.values() if node.post.parent_id not in nodes]
    for node in nodes.values():
        if node.post.parent_id in nodes:
            nodes[node.post.parent_id].children.append(node)
    address = {"type": shown.name, "locale": locale}
    context = {
        "nodes": top,
        "total": total,
        "is_whole": is_whole,
        "above": above,
        "page_obj": found,
        "level_query": urlencode(address),
        "types": [
            (in_words(one.label), f"?{urlencode({**address, 'type': one.name})}", one is shown)
            for one in types
        ],
        "locales": [
            (label, f"?{urlencode({**address, 'locale': name})}", name == locale)
            for name, label in site_languages()
        ],
    }
    return page(request, "admin/posts/tree.html", context, title=_("Page tree"))


def _find_above(text: str) -> Post | None:
    try:
        return Post.objects.alive().filter(pk=UUID(text)).select_related("parent").first()
    except ValueError:
        return None


def _nodes(posts: list[Post]) -> dict[UUID, PageNode]:
    """The nodes of posts, in their order. Two queries."""
    ids = [post.pk for post in posts]
    below = Counter[UUID | None]()
    counted = Post.objects.alive().filter(parent__in=ids).order_by().values("parent")
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
