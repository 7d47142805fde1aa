"""The modules that can be put into a post, by where they stand on a page, each with a drawing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from content.models import ModuleInstance
from proofroom.core.admin.permissions import answers_refusals, require
from proofroom.core.i18n import in_words
from proofroom.definitions import Module, allowed_modules, modules
from proofroom.editorial.post_editor.module_cards import icon_of
from proofroom.editorial.post_editor.wireframe import (
    HEIGHT,
    WIDTH,
    WireframeBox,
    wireframe_of,
)
from proofroom.editorial.posts.post_pages import find_post

_ROLES: Final[Mapping[str, str | Promise]] = {
    "opening": _("To open a page"),
    "body": _("Text and content"),
    "support": _("To support the text"),
    "closing": _("To close a page"),
    "aside": _("Notes beside the text"),
    "navigation": _("To find the way"),
    "divider": _("To divide"),
}


@dataclass(frozen=True, slots=True)
class Offer:
    """What can be added. `kind` is what the form says for it: a type, or a type and the slug of a shared one."""

    kind: str
    label: str
    description: str
    words: str
    icon: str
    shapes: tuple[WireframeBox, ...]


@require_safe
@answers_refusals
def picker(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """What the dialog for a new module holds."""
    require(request, "posts.edit")
    post = find_post(post_id)
    groups: dict[str, list[Offer]] = {role: [] for role in _ROLES}
    for module in allowed_modules(post.type):
        role = next(iter(module.ai.layout_roles), "body")
        groups.setdefault(role, []).append(_offer(module))
    shown = [(_ROLES.get(role, role), offers) for role, offers in groups.items() if offers]
    if shared := _shared():
        shown.append((_("Shared with other posts"), shared))
    context = {"groups": shown, "width": WIDTH, "height": HEIGHT}
    return render(request, "admin/posts/picker.html", context)


def _offer(module: type[Module], slug: str = "", label: str = "") -> Offer:
    return Offer(
        kind=f"{module.name}@{slug}" if slug else module.name,
        label=label or in_words(module.label),
        description=in_words(module.label if slug else module.description),
        words=" ".join((module.name, slug, *module.ai.use_when)).lower(),
        icon=icon_of(module.name),
        shapes=wireframe_of(module.name),
    )


def _shared() -> list[Offer]:
    rows = ModuleInstance.objects.filter(scope="global").order_by("label", "global_slug")
    return [
        _offer(definition, str(slug), label or str(slug))
        for slug, type_name, label in rows.values_list("global_slug", "type", "label")
        if (definition := modules.get(type_name)) is not None
    ]
