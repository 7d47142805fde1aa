"""The pages that show a global module, a menu or a term."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django.conf import settings
from django.db.models import Case, Exists, IntegerField, OuterRef, Q, QuerySet, Value, When
from django.http import HttpRequest
from django.urls import reverse

from content.models import ModuleInstance, Post, PostModule, PostTerm, Status
from content.store.scopes import visible_to
from proofroom.core.admin.permissions import actor_of
from proofroom.core.content_scope import Scoped
from proofroom.shared_content.shared_types import SharedKind, SharedRow
from proofroom.taxonomies.models import Term
from proofroom_apps.menus.models import Menu
from proofroom_apps.menus.places import MENU_PLACES

MAX_OFFERED: Final = 20
"""Number of pages that the preview beside the form offers."""


def pages_showing(row: SharedRow, who: Scoped) -> QuerySet[Post]:
    """Return the visible posts whose pages show the row, published ones first. No query yet."""
    # Placeholders have no page yet, and a variation is shown at the address of its original.
    posts = visible_to(Post.objects.alive(), who).filter(is_placeholder=False, variation_of=None)
    if isinstance(row, ModuleInstance):
        placed = PostModule.objects.filter(post=OuterRef("pk"), instance=row)
        posts = posts.filter(Exists(placed))
    elif isinstance(row, Term):
        posts = posts.filter(Exists(PostTerm.objects.filter(post=OuterRef("pk"), term=row)))
    elif isinstance(row, Menu):
        # A menu that no template asks for is on no page.
        posts = posts.filter(_in_locales_of(row)) if row.slug in MENU_PLACES else posts.none()
    published_first = Case(
        When(status=Status.PUBLISHED, then=Value(0)), default=Value(1), output_field=IntegerField()
    )
    return posts.order_by(published_first, "-updated_at", "id")


def _in_locales_of(menu: Menu) -> Q:
    """Return the condition for posts whose pages show the menu: posts of its locale.

    The default language's menu is the fallback for locales without one.
    """
    if menu.locale != settings.CMS_ENV.default_locale:
        return Q(locale=menu.locale)
    others = Menu.objects.filter(slug=menu.slug, locale=OuterRef("locale")).exclude(pk=menu.pk)
    return Q(~Exists(others))


@dataclass(frozen=True, slots=True)
class ShownPages:
    """The number and first pages that show a row, for its form. Two queries."""

    published: int
    offered: list[Post]
    all_url: str
    preview_url: str


def shown_pages(request: HttpRequest, kind: SharedKind, row: SharedRow) -> Mapping[str, object]:
    """Return `shown_on` for the page with the form."""
    pages = pages_showing(row, actor_of(request))
    found = ShownPages(
        published=pages.filter(status=Status.PUBLISHED).order_by().count(),
        offered=list(
            pages.only("title", "path", "locale", "status", "published_at", "publish_at")[
                :MAX_OFFERED
            ]
        ),
        all_url=reverse("admin:shared-pages", args=[kind.name, row.pk]),
        preview_url=reverse("admin:shared-preview", args=[kind.name, row.pk]),
    )
    return {"shown_on": found}
