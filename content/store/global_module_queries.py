"""Queries for global modules and the posts that place them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db.models import (
    Case,
    CharField,
    Count,
    Exists,
    OuterRef,
    Q,
    QuerySet,
    TextField,
    Value,
    When,
)
from django.db.models.functions import Cast
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from content.models import Draft, Layer, ModuleInstance, Post, PostModule
from proofroom.core.errors import NotFound

USAGE_COLUMNS: Final = ("id", "title", "type", "locale", "status", "path", "layer")


@dataclass(frozen=True, slots=True)
class Placements:
    """Numbers of posts that place a global module: live, only in a draft, and in the trash."""

    live: int
    staged: int
    trashed: int

    @property
    def total(self) -> int:
        return self.live + self.staged + self.trashed

    @property
    def sentence(self) -> str:
        """A sentence for the user who wants to delete the module."""
        number = ngettext("used in %(n)s post", "used in %(n)s posts", self.total)
        number %= {"n": self.total}
        parts = [_("%(n)s of them only in drafts") % {"n": self.staged}] if self.staged else []
        parts += [_("%(n)s in the trash") % {"n": self.trashed}] if self.trashed else []
        return f"{number} ({', '.join(parts)})" if parts else number


def globals_list(q: str = "", type: str = "") -> QuerySet[ModuleInstance]:
    """Return global modules by slug, annotated with `affected`, the number of posts that place it live."""
    alive = Q(placements__post__deleted_at__isnull=True)
    found = ModuleInstance.objects.globals()
    if type:
        found = found.filter(type=type)
    if q:
        found = found.filter(Q(label__icontains=q) | Q(global_slug__icontains=q))
    affected = Count("placements__post", distinct=True, filter=alive)
    return found.annotate(affected=affected).order_by("global_slug")


def count_placements_by_slug(slugs: Collection[str]) -> dict[str, tuple[UUID, int]]:
    """Return (id, number of posts that place it live) of global modules by slug. One query, none without slugs."""
    if not slugs:
        return {}
    alive = Q(placements__post__deleted_at__isnull=True)
    found = ModuleInstance.objects.globals().filter(global_slug__in=slugs)
    rows = found.annotate(posts=Count("placements__post", distinct=True, filter=alive))
    return {
        str(slug): (pk, posts) for slug, pk, posts in rows.values_list("global_slug", "pk", "posts")
    }


def find_global(slug: str, *, locked: bool = False) -> ModuleInstance:
    """Return the global module with the slug. Raises `NotFound`."""
    rows = ModuleInstance.objects.globals()
    if locked:
        rows = rows.select_for_update(of=("self",))
    # PostgreSQL raises an error for a text parameter with NUL.
    found = rows.filter(global_slug=slug).first() if "\x00" not in slug else None
    if found is None:
        raise NotFound(_("There is no global module %(slug)r.") % {"slug": slug[:100]})
    return found


def usage(module: ModuleInstance) -> QuerySet[Post]:
    """Return the posts that place the module live or in a draft, the latest change first.

    Each is annotated with `layer`: `source` if it places the module live, else the layer that proposes it.
    """
    live = PostModule.objects.filter(post=OuterRef("pk"), instance=module)
    review = _drafts_with(module).filter(post=OuterRef("pk"), layer=Layer.REVIEW)
    layer = Case(
        When(Exists(live), then=Value("source")),
        When(Exists(review), then=Value(Layer.REVIEW.value)),
        default=Value(Layer.AI_REVIEW.value),
        output_field=CharField(),
    )
    staged = _drafts_with(module).filter(post=OuterRef("pk"))
    posts = Post.objects.filter(deleted_at__isnull=True)
    found = posts.filter(Q(Exists(live)) | Q(Exists(staged)))
    return found.annotate(layer=layer).order_by("-updated_at", "id")


def placements_of(module: ModuleInstance) -> Placements:
    """Return the numbers of posts that place the module. Three queries."""
    live = PostModule.objects.filter(post=OuterRef("pk"), instance=module)
    staged = _drafts_with(module).filter(post=OuterRef("pk"))
    alive = Post.objects.filter(deleted_at__isnull=True)
    trashed = Post.objects.filter(deleted_at__isnull=False)
    return Placements(
        live=alive.filter(Exists(live)).count(),
        staged=alive.filter(~Exists(live), Exists(staged)).count(),
        trashed=trashed.filter(Q(Exists(live)) | Q(Exists(staged))).count(),
    )


def affected_posts(module: ModuleInstance) -> int:
    """Return the number of posts that show the module to visitors. One query."""
    placed = PostModule.objects.filter(instance=module, post__deleted_at__isnull=True)
    return placed.values("post_id").distinct().count()


def _drafts_with(module: ModuleInstance) -> QuerySet[Draft]:
    drafts = Draft.objects.filter(is_empty=False)
    # The document is matched as text: the id of an instance occurs nowhere else in it.
    drafts = drafts.annotate(written=Cast("document", TextField()))
    return drafts.filter(written__contains=str(module.pk))
