"""The saved copy of an unsaved form. An open page sends it regularly, and the next opening offers it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Final
from uuid import UUID, uuid4

from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from content.document.document import PostDocument
from content.document.labels import label_of, module_names
from content.models import Layer
from content.models.autosave import Autosave
from content.models.editing_mark import SOURCE
from content.posts.autosave import SupersededCopy, discard_copy, list_copies, save_copy
from proofroom.core.admin.permissions import actor_of, require, service_errors_as_http
from proofroom.core.content_scope import Scoped
from proofroom.core.errors import CmsError, invalid
from proofroom.core.validation.input_validation import parse_uuid
from proofroom_apps.editorial.post_editor.form_data import Sheet, read_sheet
from proofroom_apps.editorial.post_editor.form_fields import value_stamp
from proofroom_apps.editorial.post_editor.rich_text import DOCUMENT, normalize_line_ends
from proofroom_apps.editorial.posts.post_pages import get_post_or_404

# Fields of the content. The others, such as the CSRF token and the pressed button, belong to one request.
_KEPT: Final = re.compile(r"(?:post|modules)\..+|was|was_order|order|version|sources")
_KEPT_OF_NEW: Final = frozenset({"title", "slug", "type", "locale", "parent", "term"})
MAX_LABELS: Final = 8
MAX_OFFERED: Final = 5
_MAX_FOLLOWED: Final = 20


@dataclass(frozen=True, slots=True)
class OfferedCopy:
    """A copy for the template.

    `labels` are the fields that differ from the stored ones, `conflicts` the ones that another user changed too.
    """

    key: UUID
    saved_at: datetime
    labels: tuple[str, ...]
    more: int = 0
    conflicts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PageCopies:
    """The copies related to a page.

    `key` is the copy that the page writes. It is new each time the page is shown, so two windows with the same
    content write two copies. `follows` are copies whose content the page shows; they are deleted once this one is
    written or the form is saved.
    """

    key: UUID
    follows: Sequence[SupersededCopy]

    @property
    def shown(self) -> list[UUID]:
        return [one.key for one in self.follows]

    @property
    def fields(self) -> list[str]:
        """`follows` as form values."""
        return [
            f"{one.key} {one.saved_at.isoformat()}" if one.saved_at else str(one.key)
            for one in self.follows
        ]


def copy_key(request: HttpRequest) -> UUID | None:
    """Return the page's copy key, or None if it is invalid."""
    return parse_uuid(request.POST.get("copy"))


def read_follows(data: QueryDict) -> list[SupersededCopy]:
    """Return the copies that a form follows; invalid values are skipped."""
    found = []
    for text in data.getlist("follows")[:_MAX_FOLLOWED]:
        key, _space, moment = text.partition(" ")
        try:
            found.append(
                SupersededCopy(UUID(key), datetime.fromisoformat(moment) if moment else None)
            )
        except ValueError:
            continue
    # Times in `PageCopies.fields` have a zone, so a time without one was not sent by a page.
    return [one for one in found if one.saved_at is None or one.saved_at.tzinfo]


def copies_of_page(sent: QueryDict) -> PageCopies:
    """Return the copies of a page that shows sent data, or data restored by `form_of`."""
    follows = read_follows(sent)
    with suppress(ValueError):  # a newly opened page has not sent a key
        follows.append(SupersededCopy(UUID(sent.get("copy", ""))))
    return PageCopies(uuid4(), follows)


def copy_layer(layer: Layer | None) -> str:
    return layer.value if layer else SOURCE


@require_POST
@service_errors_as_http
def autosave(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Save a copy of an open form, or delete it with `discard`."""
    require(request, "posts.edit", "posts.translate", "posts.review.save")
    layer = Layer.REVIEW if request.GET.get("layer") == Layer.REVIEW else None
    entries = (pair for pair in _pairs(request) if _KEPT.fullmatch(pair[0]))
    return _keep(request, get_post_or_404(request, post_id).pk, copy_layer(layer), entries)


@require_POST
@service_errors_as_http
def autosave_new(request: HttpRequest) -> HttpResponse:
    """Save or delete a copy of the form of a new post."""
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
            raise invalid("copy", gettext("The draft copy ID must be a UUID."))
        if "discard" in request.POST:
            discard_copy(key=key, actor=actor)
            return JsonResponse({"savedAt": None})
        copy = save_copy(
            key=key,
            post_id=post_id,
            actor=actor,
            entries=list(entries),
            layer=layer,
            follows=read_follows(request.POST),
        )
    except CmsError as error:
        return JsonResponse({"message": error.message}, status=error.status)
    return JsonResponse({"savedAt": copy.saved_at.isoformat()})


def form_of(copy: Autosave) -> QueryDict:
    """Return the copy as form data, for a page that follows it."""
    data = QueryDict(mutable=True)
    for name, value in copy.entries:
        data.appendlist(name, value)
    # With the time, so that the copy is not deleted if another window saves it again.
    data["follows"] = f"{copy.pk} {copy.saved_at.isoformat()}"
    return data


def offer_new(request: HttpRequest, copies: PageCopies) -> list[OfferedCopy]:
    """Return the copies of forms of new posts, labelled by their titles."""
    found = list_copies(post_id=None, actor=actor_of(request), without=copies.shown)
    titles = [(copy, form_of(copy).get("title", "")) for copy in found[:MAX_OFFERED]]
    return [
        OfferedCopy(copy.pk, copy.saved_at, (f"“{title}”",) if title else ())
        for copy, title in titles
    ]


def orphaned_texts(sheet: Sheet, data: QueryDict) -> list[str]:
    """Return texts typed into modules or fields that no longer exist."""
    order = set(data.getlist("order"))
    modules = [
        f"modules.{id_}."
        for id_ in sheet.was_order
        if id_ in order and sheet.document.module(id_) is None
    ]
    # A field disappears or is renamed when the definition of its module or post type changes.
    shown = tuple(f"modules.{module.id}." for module in sheet.modules)
    known = {unit.path for unit in sheet.units()}
    fields = {
        path for path in sheet.was if path not in known and path.startswith(("post.", *shown))
    }
    gone = (*modules, *(f"{path}." for path in fields))
    lost = []
    for name in data:
        text = normalize_line_ends(data.get(name, ""))
        # Skip the editor's JSON, item counts, and text that the user did not change.
        is_gone = name in fields or name.startswith(gone)
        is_text = is_gone and not name.endswith((DOCUMENT, ".count"))
        if is_text and text.strip() and sheet.was.get(name) != value_stamp(text):
            lost.append(text)
    return lost


def offer_copies(
    request: HttpRequest,
    post_id: UUID,
    document: PostDocument,
    layer: Layer | None,
    copies: PageCopies,
) -> list[OfferedCopy]:
    """Return the user's newest copies that differ from the stored post, except copies that the page shows."""
    found = list_copies(
        post_id=post_id, actor=actor_of(request), layer=copy_layer(layer), without=copies.shown
    )
    # Lazy: each comparison reads a whole form, and only the first few are needed.
    offered = (_offer(copy, document, actor_of(request)) for copy in found)
    return list(islice((one for one in offered if one is not None), MAX_OFFERED))


def _offer(copy: Autosave, document: PostDocument, who: Scoped) -> OfferedCopy | None:
    data = form_of(copy)
    sheet = read_sheet(document, data, who)
    names = {**module_names(document), **{module.id: module.label for module in sheet.modules}}
    known = {module.id for module in document.modules}
    moved = set(sheet.moved())
    differing = [
        unit.path
        for unit in sheet.differing()
        # An added module is named once as a whole, below.
        if not unit.path.startswith("modules.") or unit.path.split(".")[1] in known
    ]
    labels = [label_of(path, document, names) for path in differing]
    conflicts = [label_of(path, document, names) for path in differing if path in moved]
    added = [module.label for module in sheet.modules if module.id not in known]
    removed = [
        names[id_] for id_ in sheet.was_order if id_ in known and id_ not in set(sheet.order)
    ]
    labels += [gettext("%(module)s added") % {"module": name} for name in added]
    labels += [gettext("%(module)s removed") % {"module": name} for name in removed]
    # Compare only this copy's moves, not the moves that other users made since.
    kept = [id_ for id_ in sheet.order if id_ in known]
    was = [id_ for id_ in sheet.was_order if id_ in kept]
    if kept != [id_ for id_ in document.order if id_ in kept] and kept != was:
        labels.append(gettext("Order of modules"))
    if orphaned_texts(sheet, data):
        labels.append(gettext("Text in a module or field that was removed"))
    if not labels:
        return None
    more = max(0, len(labels) - MAX_LABELS)
    shown = tuple(labels[:MAX_LABELS])
    return OfferedCopy(copy.pk, copy.saved_at, shown, more, tuple(conflicts[:MAX_LABELS]))
