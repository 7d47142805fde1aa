"""The modules that can be added to a post, grouped by their role on a page, each with a drawing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final
from uuid import UUID

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from content.document.labels import module_label
from content.models import ModuleInstance, Post, PostModule
from proofroom.core.admin.permissions import require, service_errors_as_http
from proofroom.core.i18n import in_words
from proofroom.definitions import Module, allowed_modules, find_module, modules
from proofroom_apps.editorial.post_editor.form_fields import EditorField, fields_of
from proofroom_apps.editorial.post_editor.module_cards import icon_of
from proofroom_apps.editorial.posts.post_pages import get_post_or_404
from proofroom_apps.snippets.models import Snippet
from proofroom_apps.snippets.services import list_snippets

WIDTH: Final = 128
HEIGHT: Final = 80
SNIPPET: Final = "snippet:"
"""Beginning of the form value of a snippet, before its id."""
OFTEN_SHOWN: Final = 6
OFTEN_SAMPLE: Final = 200
"""Number of posts in which modules are counted, so that the picker opens as fast on a large site."""
_LEFT: Final = 10
_BOTTOM: Final = 72


@dataclass(frozen=True, slots=True)
class WireframeBox:
    """A rectangle of the drawing. `kind` is a CSS class: title, line, image, button, box."""

    kind: str
    x: int
    y: int
    width: int
    height: int


@cache
def wireframe_of(type_name: str) -> tuple[WireframeBox, ...]:
    """Return the drawing of a module, top to bottom."""
    module = find_module(type_name)
    fields = fields_of(module.Props)
    has_image = any(field.kind == "media" for field in fields)
    width = 54 if has_image else WIDTH - 2 * _LEFT
    shapes: list[WireframeBox] = []
    y, texts = 12, 0
    for field in fields:
        if field.kind == "text" and texts < 2 and not field.name.endswith("Label"):
            # The first line is the headline.
            kind, height = ("line", 3) if texts else ("title", 6)
            drawn = [WireframeBox(kind, _LEFT, y, width - 12 * (1 + texts), height)]
            texts += 1
        else:
            drawn = list(_draw_field(field, y, width))
        drawn = [shape for shape in drawn if shape.y + shape.height <= _BOTTOM]
        shapes += drawn
        y = max([y, *(shape.y + shape.height + 5 for shape in drawn)])
    if module.name.endswith("-list") and not any(field.kind == "repeater" for field in fields):
        shapes += _draw_cards(y, width, has_image=True)
    if has_image:
        shapes.append(WireframeBox("image", 72, 10, 46, 52))
    if not shapes:
        shapes.append(WireframeBox("line", _LEFT, HEIGHT // 2, WIDTH - 2 * _LEFT, 2))
    return tuple(shapes)


def _draw_field(field: EditorField, y: int, width: int) -> Iterator[WireframeBox]:
    if field.kind in ("textarea", "richtext"):
        lines = 2 if field.kind == "textarea" else 4
        for n in range(lines):
            yield WireframeBox("line", _LEFT, y + 6 * n, width - (18 if n == lines - 1 else 0), 3)
    elif field.kind == "link":
        yield WireframeBox("button", _LEFT, y + 1, 30, 9)
    elif field.kind in ("repeater", "object", "post-reference", "json"):
        kinds = {inner.kind for inner in field.nested}
        if "richtext" in kinds:
            yield from (WireframeBox("box", _LEFT, y + 12 * n, width, 8) for n in range(4))
        else:
            yield from _draw_cards(y, width, has_image="media" in kinds)
    elif field.kind == "form-reference":
        yield from (WireframeBox("box", _LEFT, y + 12 * n, width, 8) for n in range(2))
        yield WireframeBox("button", _LEFT, y + 24, 30, 9)
    elif field.kind == "url":
        yield WireframeBox("image", _LEFT, y, width, 40)


def _draw_cards(y: int, width: int, *, has_image: bool) -> Iterator[WireframeBox]:
    """Yield three boxes in a row."""
    each = (width - 12) // 3
    for n in range(3):
        x = _LEFT + n * (each + 6)
        yield WireframeBox("image" if has_image else "box", x, y, each, 20)
        yield WireframeBox("line", x, y + 24, each - 4, 3)


_ROLES: Final[Mapping[str, str | Promise]] = {
    "opening": _("Headers"),
    "body": _("Text and content"),
    "support": _("Supporting content"),
    "closing": _("Calls to action and closing"),
    "aside": _("Quotes and callouts"),
    "navigation": _("Navigation"),
    "divider": _("Dividers"),
}


@dataclass(frozen=True, slots=True)
class Offer:
    """A module that can be added. `kind` is its form value: a type, or a type and the slug of a global module."""

    kind: str
    label: str
    description: str
    words: str
    icon: str
    shapes: tuple[WireframeBox, ...]


@require_safe
@service_errors_as_http
def picker(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Return the content of the dialog for a new module."""
    require(request, "posts.edit")
    post = get_post_or_404(request, post_id)
    groups: dict[str, list[Offer]] = {role: [] for role in _ROLES}
    for module in allowed_modules(post.type):
        role = next(iter(module.ai.layout_roles), "body")
        groups.setdefault(role, []).append(_offer(module))
    shown = [(_ROLES.get(role, role), offers) for role, offers in groups.items() if offers]
    offered = {offer.kind: offer for offers in groups.values() for offer in offers}
    often = [offered[name] for name in _used_types(post.type) if name in offered]
    rows = ModuleInstance.objects.globals().order_by("label", "global_slug")
    shared = [
        _offer(definition, str(slug), label or str(slug))
        for slug, type_name, label in rows.values_list("global_slug", "type", "label")
        # A stored module can have a type that the code no longer defines.
        if (definition := modules.get(type_name)) is not None
    ]
    if shared:
        shown.append((_("Global modules"), shared))
    snippets = list_snippets(post_type=post.type, locale=post.locale, kind=Snippet.Kind.MODULES)
    if snippets:
        shown.append((_("Snippets"), [*map(_offer_snippet, snippets)]))
    context = {"often": often[:OFTEN_SHOWN], "groups": shown, "width": WIDTH, "height": HEIGHT}
    return render(request, "admin/posts/picker.html", context)


def _offer_snippet(snippet: Snippet) -> Offer:
    types = [one["type"] for one in snippet.modules]
    first = types[0] if types[0] in modules else ""
    return Offer(
        kind=f"{SNIPPET}{snippet.pk}",
        label=snippet.name,
        description=", ".join(map(module_label, types)),
        words=" ".join(types).lower(),
        icon=icon_of(first),
        shapes=wireframe_of(first) if first else (),
    )


def _used_types(post_type: str) -> list[str]:
    """Return the types of modules on the latest posts of a type, most used first. One query."""
    latest = Post.objects.alive().filter(type=post_type).order_by("-updated_at", "pk")
    rows = PostModule.objects.filter(post__in=latest.values("pk")[:OFTEN_SAMPLE])
    counted = rows.values("instance__type").annotate(n=Count("pk"))
    return [row["instance__type"] for row in counted.order_by("-n", "instance__type")]


def _offer(module: type[Module], slug: str = "", label: str = "") -> Offer:
    return Offer(
        kind=f"{module.name}@{slug}" if slug else module.name,
        label=label or in_words(module.label),
        description=in_words(module.label if slug else module.description),
        words=" ".join((module.name, slug, *module.ai.use_when)).lower(),
        icon=icon_of(module.name),
        shapes=wireframe_of(module.name),
    )
