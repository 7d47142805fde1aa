"""The draft copy of a form: an open page sends it while somebody types, and it is offered at the next opening."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from content.document import PostDocument
from content.models import Layer
from content.models.autosave import Autosave
from content.models.editing_mark import SOURCE
from content.posts.autosave import discard_copy, find_copy, save_copy
from content.review.labels import label_of, module_names
from proofroom.core.admin.permissions import actor_of, answers_refusals, require
from proofroom.core.errors import CmsError, invalid
from proofroom.editorial.post_editor.form_data import read_sheet
from proofroom.editorial.posts.post_pages import find_post

_KEPT: Final = re.compile(r"(?:post|modules)\..+|was|was_order|order|version")
_KEPT_OF_NEW: Final = frozenset({"title", "slug", "type", "locale", "parent"})
MAX_LABELS: Final = 8


@dataclass(frozen=True, slots=True)
class OfferedCopy:
    """A copy as the page offers it. `labels` are the fields that differ from what is stored."""

    key: UUID
    saved_at: datetime
    labels: tuple[str, ...]
    more: int
    is_outdated: bool


def copy_key(request: HttpRequest) -> UUID | None:
    """The name that the page gave its copy; None for nonsense."""
    try:
        return UUID(request.POST.get("copy", ""))
    except ValueError:
        return None


def copy_layer(layer: Layer | None) -> str:
    return layer.value if layer else SOURCE


@require_POST
@answers_refusals
def autosave(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Keep what an open form holds, or with `discard` forget it."""
    require(request, "posts.edit", "posts.translate", "posts.review.save")
    layer = Layer.REVIEW if request.GET.get("layer") == Layer.REVIEW else None
    entries = (pair for pair in _pairs(request) if _KEPT.fullmatch(pair[0]))
    return _keep(request, find_post(post_id).pk, copy_layer(layer), entries)


@require_POST
@answers_refusals
def autosave_new(request: HttpRequest) -> HttpResponse:
    """The same for the form of a post that is not created yet."""
    require(request, "posts.create")
    entries = (pair for pair in _pairs(request) if pair[0] in _KEPT_OF_NEW)
    return _keep(request, None, SOURCE, entries)


def _pairs(request: HttpRequest) -> Iterable[tuple[str, str]]:
    return ((name, value) for name, values in request.POST.lists() for value in values)


def _keep(
    request: HttpRequest, post_id: UUID | None, layer: str, entries: Iterable[tuple[str, str]]
) -> HttpResponse:
    actor, key = actor_of(request), copy_key(request)
    try:
        if key is None:
            raise invalid("copy", gettext("A draft copy is named by a UUID."))
        if "discard" in request.POST:
            discard_copy(key=key, actor=actor)
            return JsonResponse({"savedAt": None})
        copy = save_copy(key=key, post_id=post_id, actor=actor, entries=list(entries), layer=layer)
    except CmsError as error:
        return JsonResponse({"message": error.message}, status=error.status)
    return JsonResponse({"savedAt": copy.saved_at.isoformat()})


def form_of(copy: Autosave) -> QueryDict:
    """The copy as the form had been sent."""
    data = QueryDict(mutable=True)
    for name, value in copy.entries:
        data.appendlist(name, value)
    data["copy"] = str(copy.pk)
    return data


def offer_new(copy: Autosave) -> OfferedCopy:
    """The copy of the form of a new post, named by its title."""
    title = form_of(copy).get("title", "")
    return OfferedCopy(copy.pk, copy.saved_at, (f"“{title}”",) if title else (), 0, False)


def offer_copy(
    request: HttpRequest, post_id: UUID, document: PostDocument, layer: Layer | None, version: int
) -> OfferedCopy | None:
    """The newest copy of this person that differs from what is stored. One query."""
    copy = find_copy(post_id=post_id, actor=actor_of(request), layer=copy_layer(layer))
    if copy is None:
        return None
    data = form_of(copy)
    sheet = read_sheet(document, data)
    names = {**module_names(document), **{module.id: module.label for module in sheet.modules}}
    known = {module.id for module in document.modules}
    labels = [
        label_of(unit.path, document, names)
        for unit in sheet.touched()
        if not unit.path.startswith("modules.") or unit.path.split(".")[1] in known
    ]
    added = [module.label for module in sheet.modules if module.id not in known]
    removed = [
        names[id_] for id_ in sheet.was_order if id_ in known and id_ not in set(sheet.order)
    ]
    labels += [gettext("%(module)s added") % {"module": name} for name in added]
    labels += [gettext("%(module)s removed") % {"module": name} for name in removed]
    kept = [id_ for id_ in sheet.order if id_ in known]
    if kept != [id_ for id_ in document.order if id_ in kept]:
        labels.append(gettext("Order of modules"))
    if not labels:
        return None
    more = len(labels) - MAX_LABELS
    is_outdated = data.get("version") != str(version)
    return OfferedCopy(
        copy.pk, copy.saved_at, tuple(labels[:MAX_LABELS]), max(0, more), is_outdated
    )
