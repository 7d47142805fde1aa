"""Reads of global modules: which there are, and which posts place them."""

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
    """The numbers of posts that place a global module: live, only in a draft, or in the trash."""

    live: int
    staged: int
    trashed: int

    @property
    def total(self) -> int:
        return self.live + self.staged + self.trashed

    @property
    def sentence(self) -> str:
        """In words, for whoever wants to delete it."""
        number = ngettext("used in %(n)s post", "used in %(n)s posts", self.total)
        number %= {"n": self.total}
        parts = [_("%(n)s of them only in drafts") % {"n": self.staged}] if self.staged else []
        parts += [_("%(n)s in the trash") % {"n": self.trashed}] if self.trashed else []
        return f"{number} ({', '.join(parts)})" if parts else number


def globals_list(q: str = "", type: str = "") -> QuerySet[ModuleInstance]:
    """Global modules by slug, each with `affected`: how many posts place it live."""
    alive = Q(placements__post__deleted_at__isnull=True)
    found = ModuleInstance.objects.globals()
    if type:
        found = found.filter(type=type)
    if q:
        found = found.filter(Q(label__icontains=q) | Q(global_slug__icontains=q))
    affected = Count("placements__post", distinct=True, filter=alive)
    return found.annotate(affected=affected).order_by("global_slug")


def placed_by_slug(slugs: Collection[str]) -> dict[str, tuple[UUID, int]]:
    """The ids of global modules by slug, and how many posts place each live. One query, none without slugs."""
    if not slugs:
        return {}
    alive = Q(placements__post__deleted_at__isnull=True)
    found = ModuleInstance.objects.globals().filter(global_slug__in=slugs)
    rows = found.annotate(posts=Count("placements__post", distinct=True, filter=alive))
    return {
        str(slug): (pk, posts) for slug, pk, posts in rows.values_list("global_slug", "pk", "posts")
    }


def find_global(slug: str, *, locked: bool = False) -> ModuleInstance:
    """The global module of that slug. Raises `NotFound`."""
    rows = ModuleInstance.objects.globals()
    if locked:
        rows = rows.select_for_update(of=("self",))
    # PostgreSQL would refuse to look for a text with NUL.
    found = rows.filter(global_slug=slug).first() if "\x00" not in slug else None
    if found is None:
        raise NotFound(_("There is no global module %(slug)r.") % {"slug": slug[:100]})
    return found


def usage(module: ModuleInstance) -> QuerySet[Post]:
    """The posts that place the module live or in a draft, the latest changed first.

    `layer` is `source` where it is placed live, else the layer that proposes it.
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
    """Return how many posts place the module, wherever they stand. Three queries."""
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
    """Return how many posts show the module when they are visited. One query."""
    placed = PostModule.objects.filter(instance=module, post__deleted_at__isnull=True)
    return placed.values("post_id").distinct().count()


def _drafts_with(module: ModuleInstance) -> QuerySet[Draft]:
    """Drafts whose document names the instance: its id stands nowhere else in one."""
    drafts = Draft.objects.filter(is_empty=False)
    drafts = drafts.annotate(written=Cast("document", TextField()))
    return drafts.filter(written__contains=str(module.pk))
