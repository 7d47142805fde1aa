"""The page that changes many posts at once: terms, authors, shared custom fields, dates, and an assignment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, cast
from uuid import UUID, uuid4

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from content.document.document import CUSTOM_PREFIX
from content.document.labels import type_label
from content.document.post_fields import AUTHORS, POST_FIELDS, SCHEDULE_FIELDS
from content.models import Post, Status, shown_status, status_label
from content.posts.bulk_edit import (
    TERMS,
    AuthorMode,
    BulkEdit,
    TermMode,
    selected_ids,
    shared_custom_fields,
)
from content.posts.jobs import MAX_POSTS, start_bulk_edit
from content.store.scopes import visible_to
from proofroom.core.actor import Actor
from proofroom.core.admin.permissions import actor_of, may, require, service_errors_as_http
from proofroom.core.errors import CmsError, NotAllowed, invalid
from proofroom.core.i18n.languages import language_name
from proofroom.core.i18n.time_zones import find_time_zone, from_local_input, to_local_input
from proofroom.core.json import Json, JsonObject, format_time
from proofroom.core.validation.form_fields import with_label
from proofroom.core.validation.input_validation import parse_uuid
from proofroom.definitions import find_post_type
from proofroom.taxonomies.models import Term
from proofroom.taxonomies.rules import taxonomy_label
from proofroom_apps.comments.bulk_assignment import ASSIGNMENT
from proofroom_apps.comments.services import BODY_MAX
from proofroom_apps.editorial.post_editor.choices import PostChoices, chosen_ids
from proofroom_apps.editorial.post_editor.controls import Control, control_of
from proofroom_apps.editorial.post_editor.form import date_field, form_field_of
from proofroom_apps.editorial.post_editor.form_fields import (
    Choice,
    EditorField,
    Typed,
    fields_of,
    from_typed,
    read,
    to_typed,
)
from proofroom_apps.editorial.posts.comments import assignable_people
from proofroom_apps.editorial.posts.extensions import ListAction
from proofroom_apps.editorial.posts.job_admin import job_url
from proofroom_apps.editorial.posts.post_pages import page

_MAX_TERMS: Final = 100
MAX_LISTED: Final = 100
"""Number of selected posts that the page names."""
_ASSIGNMENT_FIELDS: Final = ("assignee", "dueAt", "body")


@dataclass(frozen=True, slots=True)
class CustomField:
    """A custom field of the selected posts. It is changed if `is_chosen`."""

    control: Control
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class DateField:
    """A date, and what to do with it: nothing, `set` or `remove`."""

    name: str
    label: str
    do: str
    value: str
    errors: Sequence[str]


@dataclass
class Selection:
    """The selected posts that the user may see. One query."""

    ids: Sequence[UUID]
    actor: Actor
    rows: list[dict[str, Any]] = field(init=False)

    def __post_init__(self) -> None:
        posts = visible_to(Post.objects.alive(), self.actor).filter(pk__in=self.ids)
        columns = ("pk", "title", "type", "locale", "status", "published_at", "publish_at")
        self.rows = list(posts.order_by("title", "pk").values(*columns))
        for row in self.rows:
            row["shown_status"] = shown_status(
                row["status"], published_at=row["published_at"], publish_at=row["publish_at"]
            )
            row["status_label"] = status_label(row["shown_status"])

    @cached_property
    def types(self) -> set[str]:
        return {row["type"] for row in self.rows}

    @cached_property
    def locales(self) -> set[str]:
        return {row["locale"] for row in self.rows}

    @property
    def type(self) -> str:
        """The type of all posts; empty if they have several."""
        return next(iter(self.types)) if len(self.types) == 1 else ""

    @property
    def locale(self) -> str:
        """The language of all posts; empty if they have several."""
        return next(iter(self.locales)) if len(self.locales) == 1 else ""

    @property
    def taxonomies(self) -> list[str]:
        """The taxonomies that at least one of the types uses."""
        used = (
            use.slug for type_ in sorted(self.types) for use in find_post_type(type_).taxonomies
        )
        return list(dict.fromkeys(used))

    @property
    def custom_fields(self) -> list[EditorField]:
        if not self.type:
            return []
        names = shared_custom_fields(self.type)
        return [
            one for one in fields_of(find_post_type(self.type).CustomFields) if one.name in names
        ]


def choose(request: HttpRequest, ids: Sequence[str]) -> HttpResponse:
    """Show the page for the posts that are selected in the list."""
    require(request, "posts.edit")
    if len(ids) > MAX_POSTS:
        text = _("Select at most %(most)s posts.") % {"most": f"{MAX_POSTS:,}"}
        messages.error(request, text)
        return HttpResponseRedirect(request.get_full_path())
    selection = Selection([UUID(id_) for id_ in ids], actor_of(request))
    return _show(request, selection, back=request.get_full_path())


EDIT: Final = ListAction("edit", gettext_lazy("Edit {number}…"), "posts.edit", choose)


@require_POST
@service_errors_as_http
def bulk_edit(request: HttpRequest) -> HttpResponse:
    """Start the job, or show the page again with the errors."""
    require(request, "posts.edit")
    # One more than allowed, so that the service refuses a list that is too long.
    ids = selected_ids(request.POST.get("ids", ""))[: MAX_POSTS + 1]
    if (zone := find_time_zone(request.POST.get("time_zone"))) is not None:
        timezone.activate(zone)
    selection = Selection(ids, actor_of(request))
    try:
        job = start_bulk_edit(
            edit=_read_edit(request, selection),
            post_ids=ids,
            actor=actor_of(request),
            job_id=parse_uuid(request.POST.get("job", "")) or uuid4(),
        )
    except NotAllowed:
        raise
    except CmsError as error:
        return _show(request, selection, back=_back(request), error=error)
    return HttpResponseRedirect(job_url(job))


def _read_edit(request: HttpRequest, selection: Selection) -> BulkEdit:
    sent = request.POST
    fields: JsonObject = {}
    for one in selection.custom_fields:
        name = CUSTOM_PREFIX + one.name
        if f"change.{name}" in sent:
            fields[name] = from_typed(one, read(one, sent, name, actor_of(request)), None, name)
    has_custom = bool(fields)
    for name in SCHEDULE_FIELDS:
        if (do := sent.get(f"{name}.do", "")) in ("set", "remove"):
            fields[name] = _read_date(name, sent.get(name, "")) if do == "set" else None
    mode, author_mode = sent.get("terms.do", ""), sent.get("authors.do", "")
    assignment: JsonObject = {name: sent.get(name, "").strip() for name in _ASSIGNMENT_FIELDS}
    parts: dict[str, JsonObject] = {}
    if any(assignment.values()):
        due = sent.get("dueAt", "")
        parts[ASSIGNMENT] = {**assignment, "dueAt": _read_date("dueAt", due) if due else None}
    return BulkEdit(
        term_mode=cast("TermMode", mode) if mode else None,
        term_ids=tuple(sent.getlist(TERMS)) if mode else (),
        author_mode=cast("AuthorMode", author_mode) if author_mode else None,
        author_ids=tuple(
            # At most nine digits, which always fit the column.
            int(one) if one.isdecimal() and len(one) < 10 else 0
            for one in (sent.getlist(AUTHORS) if author_mode else ())
        ),
        fields=fields,
        type=selection.type if has_custom else "",
        parts=parts,
    )


def _read_date(name: str, text: str) -> Json:
    try:
        return format_time(from_local_input(text))
    except ValidationError as error:
        raise invalid(name, str(error.message)) from None
    except (ValueError, OverflowError):
        raise invalid(name, _("Choose a date and a time.")) from None


def _back(request: HttpRequest) -> str:
    """Return the address of the list with its filters, as the form sent it."""
    address, listed = request.POST.get("back", ""), reverse("admin:content_post_changelist")
    return address if address.partition("?")[0] == listed else listed


def _show(
    request: HttpRequest, selection: Selection, *, back: str, error: CmsError | None = None
) -> HttpResponse:
    errors: Mapping[str, Sequence[str]] = error.details if error is not None else {}
    sent: Mapping[str, str] = request.POST if error is not None else {}
    custom = _custom_controls(request, selection, errors, is_sent=error is not None)
    # Errors of controls that the page doesn't have are shown above the form.
    shown = {TERMS, AUTHORS, *SCHEDULE_FIELDS, *_ASSIGNMENT_FIELDS}.union(
        *(one.control.names for one in custom)
    )
    is_placed = bool(errors) and all(name in shown for name in errors)
    live = sum(row["status"] == Status.PUBLISHED for row in selection.rows)
    number = len(selection.rows)
    context = {
        "ids": " ".join(str(row["pk"]) for row in selection.rows),
        "job": sent.get("job") or str(uuid4()),
        "back": back,
        "number": number,
        "live": live,
        "listed": selection.rows[:MAX_LISTED],
        "unlisted": max(number - MAX_LISTED, 0),
        "problem": error.message if error is not None and not is_placed else "",
        # The script of references reads the language from it.
        "post": {"pk": "", "locale": selection.locale},
        "term_modes": _term_modes(sent),
        "terms": _terms_control(selection, request.POST.getlist(TERMS) if sent else [], errors),
        "author_modes": _author_modes(sent),
        "authors": _authors_control(request, sent, errors),
        "custom": custom,
        "type_label": type_label(selection.type) if selection.type else "",
        "has_types": len(selection.types) > 1,
        "dates": [_date_field(name, sent, errors) for name in SCHEDULE_FIELDS]
        if may(request, "posts.publish")
        else [],
        "from_time": to_local_input(timezone.now()),
        "people": assignable_people() if may(request, "comments.write") else [],
        "assignment": {name: sent.get(name, "") for name in _ASSIGNMENT_FIELDS},
        "assignment_errors": {
            name: with_label(label, name, errors.get(name, ()))
            for name, label in (
                ("assignee", _("Assignee")),
                ("dueAt", _("Due")),
                ("body", _("Comment")),
            )
        },
        "body_max": BODY_MAX,
    }
    return page(
        request,
        "admin/posts/bulk_edit.html",
        context,
        title=_("Edit several posts"),
        status=error.status if error is not None else 200,
    )


def _term_modes(sent: Mapping[str, str]) -> list[tuple[str, str, bool]]:
    modes = {
        "": _("Leave unchanged"),
        "add": _("Add"),
        "remove": _("Remove"),
        "replace": _("Replace"),
    }
    chosen = sent.get("terms.do", "")
    return [(value, label, value == chosen) for value, label in modes.items()]


def _author_modes(sent: Mapping[str, str]) -> list[tuple[str, str, bool]]:
    modes = {
        "": _("Leave unchanged"),
        "set": _("Set to"),
        "add": _("Add"),
        "remove": _("Remove"),
    }
    chosen = sent.get("authors.do", "")
    return [(value, label, value == chosen) for value, label in modes.items()]


def _authors_control(
    request: HttpRequest, sent: Mapping[str, str], errors: Mapping[str, Sequence[str]]
) -> Control:
    """Return the choice of authors. One query."""
    form_field = form_field_of(POST_FIELDS[AUTHORS])
    typed = read(form_field, request.POST, AUTHORS, actor_of(request)) if sent else ""
    choices = PostChoices(None, [], actor_of(request))
    return control_of(form_field, AUTHORS, typed, errors, choices)


def _terms_control(
    selection: Selection, chosen: list[str], errors: Mapping[str, Sequence[str]]
) -> Control | None:
    """Return the choice of terms; None if no type has any. One query, a second one for terms beyond the limit."""
    taxonomies = selection.taxonomies
    if not taxonomies:
        return None
    ids = {id_ for id_ in map(parse_uuid, chosen) if id_ is not None}
    offered = Term.objects.filter(taxonomy__in=taxonomies, locale__in=["", *selection.locales])
    rows = list(offered.order_by("taxonomy", "locale", "order_index", "name")[:_MAX_TERMS])
    if missing := ids - {term.pk for term in rows}:
        rows += Term.objects.filter(pk__in=missing)
    groups: dict[str, list[Choice]] = {}
    for term in rows:
        label = taxonomy_label(term.taxonomy)
        if term.locale and not selection.locale:
            label = f"{label} · {language_name(term.locale)}"
        groups.setdefault(label, []).append((str(term.pk), term.name))
    among = ",".join(taxonomies)
    form_field = EditorField(TERMS, _("Topics and tags"), "terms", is_list=True, among=among)
    control = control_of(form_field, TERMS, chosen, errors, lambda _field: list(groups.items()))
    control.among = among
    return control


def _custom_controls(
    request: HttpRequest,
    selection: Selection,
    errors: Mapping[str, Sequence[str]],
    *,
    is_sent: bool,
) -> list[CustomField]:
    actor, typed = actor_of(request), dict[str, Typed]()
    for one in selection.custom_fields:
        name = CUSTOM_PREFIX + one.name
        typed[name] = read(one, request.POST, name, actor) if is_sent else to_typed(one, None)
    choices = PostChoices(None, chosen_ids(typed.values()), actor)
    choices.locale = selection.locale or choices.locale
    return [
        CustomField(
            control_of(
                one, CUSTOM_PREFIX + one.name, typed[CUSTOM_PREFIX + one.name], errors, choices
            ),
            is_sent and f"change.{CUSTOM_PREFIX}{one.name}" in request.POST,
        )
        for one in selection.custom_fields
    ]


def _date_field(
    name: str, sent: Mapping[str, str], errors: Mapping[str, Sequence[str]]
) -> DateField:
    label = date_field(name).label
    return DateField(
        name,
        label,
        sent.get(f"{name}.do", ""),
        sent.get(name, ""),
        with_label(label, name, errors.get(name, ())),
    )
