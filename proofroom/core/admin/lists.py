"""Lists of the admin: saved views above them, and the columns that each user chose.

The URL of a list contains all of its filters, its search and its order. `?saved=` names the open view, whose columns
are shown; alone it redirects to the URL with the view's filters. The order refers to columns by name, not by
position, because users have different columns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Literal, TypedDict, TypeVar, cast
from urllib.parse import parse_qsl, urlencode

from django.contrib import admin, messages
from django.contrib.admin.exceptions import DisallowedModelAdminLookup
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.templatetags.admin_list import result_headers
from django.contrib.admin.utils import label_for_field
from django.contrib.admin.views.main import ALL_VAR, ERROR_FLAG, ORDER_VAR, PAGE_VAR, ChangeList
from django.core.exceptions import FieldDoesNotExist, PermissionDenied, ValidationError
from django.db.models import DateTimeField, Model, QuerySet
from django.db.models.expressions import Combinable, F, OrderBy
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils.functional import Promise, cached_property
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from proofroom.core.actor import Actor
from proofroom.core.admin.permissions import PermittedAdmin, actor_of, may
from proofroom.core.admin.undo import UndoKind, Undone, undo_button
from proofroom.core.errors import CmsError, NotAllowed, NotFound, invalid
from proofroom.core.i18n.ages import age_html
from proofroom.core.json import JsonObject
from proofroom.core.list_views import (
    SHARE,
    change_view,
    delete_view,
    find_roles,
    list_views,
    restore_view,
    save_view,
    set_columns,
    set_opening_view,
)
from proofroom.core.models import ListView

M = TypeVar("M", bound=Model)
SAVED_VAR: Final = "saved"
EVERYONE: Final = "all"
"""Value of `shared` for a view that everyone sees."""
_ROLE_PREFIX: Final = "role:"
ALL: Final = "all"
"""Value of `saved` that opens the plain list although the user has a default view."""
_NON_FILTER_PARAMETERS: Final = (SAVED_VAR, PAGE_VAR, ALL_VAR, ERROR_FLAG)
_MAX_DIGITS: Final = 18
_LOOKUPS: Final = frozenset({"id", "pk", "exact", "in", "isnull", "gt", "gte", "lt", "lte"})
"""Field lookups that filters and links may use."""
_FALSE_VALUES: Final = frozenset({"", "0", "false", "False"})
"""Values of a hidden field that mean "not selected"."""
_SECRET_FIELD: Final = re.compile("password|secret|hash")
Column = str | Callable[[Any], str | bool]


@dataclass(frozen=True, slots=True)
class ListColumn:
    """A column of a list that renders its rows itself: its heading and the field it is ordered by.

    Django looks for these attribute names.
    """

    short_description: str | Promise
    admin_order_field: str | None = None


@dataclass(frozen=True, slots=True)
class ViewTab:
    """A saved view as a tab of the list."""

    view: ListView
    url: str
    is_open: bool
    is_default: bool


@dataclass(frozen=True, slots=True)
class ColumnChoice:
    """A column that can be shown. The locked column is always shown."""

    name: str
    label: str
    is_shown: bool
    is_locked: bool


class Audience(TypedDict, total=False):
    """With whom a view is shared; a role only with `is_shared`."""

    is_shared: bool
    role: str


@dataclass
class ListState:
    """The state of a list for a request: its views, the open view and the chosen columns.

    `query` is the query string with the filters, the search and the order of the URL.
    """

    tabs: list[ViewTab]
    view: ListView | None
    opens: int | None
    query: str
    own_columns: list[str]
    may_share: bool
    is_own: bool = False
    choices: list[ColumnChoice] = field(default_factory=list)

    @property
    def columns(self) -> list[str]:
        return self.view.columns if self.view is not None else self.own_columns

    @property
    def is_changed(self) -> bool:
        """True if the filters differ from the open view's."""
        return self.view is not None and self.view.query != self.query

    @property
    def may_edit(self) -> bool:
        """True if the user may change the columns and filters of the open view."""
        return self.view is None or not self.view.is_shared or self.may_share

    @property
    def is_default(self) -> bool:
        return self.view is not None and self.view.pk == self.opens

    @property
    def all_url(self) -> str:
        return f"?{SAVED_VAR}={ALL}" if self.opens else "?"

    @cached_property
    def audiences(self) -> list[tuple[str, str]]:
        """With whom a view can be shared, as values and labels of a choice. At most one query."""
        everyone = [("", _("Only me")), (EVERYONE, _("Everyone who can open this list"))]
        return everyone + [
            (f"{_ROLE_PREFIX}{name}", _("Role: %(name)s") % {"name": label})
            for name, label in find_roles()
        ]

    @property
    def audience(self) -> str:
        """The value of `audiences` for the open view."""
        if self.view is None or not self.view.is_shared:
            return ""
        return f"{_ROLE_PREFIX}{self.view.role}" if self.view.role else EVERYONE


class _ViewFilterGone(Exception):
    """The list cannot apply a filter of the open view: a filter, field or app was removed."""


def column_name(column: Column) -> str:
    return column if isinstance(column, str) else column.__name__


class ViewChangeList(ChangeList):
    """A list whose order refers to columns by name and whose links keep the open view."""

    @property
    def headers(self) -> Iterable[Mapping[str, object]]:
        """The headings of the columns, as Django's template tag builds them."""
        found: Iterable[Mapping[str, object]] = result_headers(self)
        return found

    def get_results(self, request: HttpRequest) -> None:
        """Show the last page if the requested page is past the end: an old bookmark, or an action emptied the
        page.
        """
        try:
            super().get_results(request)
        except IncorrectLookupParameters:
            paginator = self.model_admin.get_paginator(request, self.queryset, self.list_per_page)
            self.page_num = min(max(self.page_num, 1), paginator.num_pages)
            super().get_results(request)

    def get_filters_params(self, params: dict[str, Any] | None = None) -> dict[str, Any]:
        found: dict[str, Any] = super().get_filters_params(params)
        found.pop(SAVED_VAR, None)
        return found

    def _requested_order(self) -> list[tuple[Column, bool]]:
        """Return the columns of the order in the URL, each with True if it is descending. Ignores unknown columns."""
        admin = cast("ListAdmin[Any]", self.model_admin)
        known = {column_name(column): column for column in admin.all_columns}
        found: list[tuple[Column, bool]] = []
        for part in str(self.params.get(ORDER_VAR, "")).split("."):
            name = part.removeprefix("-")
            if name.isascii() and name.isdigit() and len(name) < _MAX_DIGITS:
                # Bookmarks may still refer to columns by position.
                at = int(name)
                name = column_name(self.list_display[at]) if at < len(self.list_display) else ""
            if name in known:
                found.append((known[name], part.startswith("-")))
        return found

    def get_ordering(self, request: HttpRequest, queryset: QuerySet[Any]) -> list[str | Combinable]:
        asked = self._requested_order()
        if not asked:
            # Django expects positions of columns in this parameter, so hide it from Django.
            params, self.params = self.params, {**self.params}
            self.params.pop(ORDER_VAR, None)
            try:
                return super().get_ordering(request, queryset)
            finally:
                self.params = params
        ordering: list[Any] = []
        for column, is_descending in asked:
            by: Any = self.get_ordering_field(column)
            if not by:
                continue
            if isinstance(by, str):
                by = F(by.removeprefix("-")).desc() if by.startswith("-") else F(by).asc()
            elif not isinstance(by, OrderBy):
                by = by.asc()
            if is_descending:
                # `reverse_ordering` works in place, but the expression belongs to the column.
                by = by.copy()
                by.reverse_ordering()
            ordering.append(by)
        ordering += queryset.query.order_by
        return ordering if self._is_unique(ordering) else [*ordering, "-pk"]

    def _is_unique(self, ordering: Sequence[Any]) -> bool:
        """Return whether a field of the ordering differs for all rows, so that pages of a list never overlap."""
        parts = [part.expression if isinstance(part, OrderBy) else part for part in ordering]
        names = {
            part.name  # type: ignore[attr-defined]  # missing in the stubs
            for part in parts
            if isinstance(part, F)
        }
        names |= {part.removeprefix("-") for part in parts if isinstance(part, str)}
        unique = {
            column.name
            for column in self.lookup_opts.fields
            # A relation is ordered by the fields of its target.
            if column.unique and not column.null and not column.is_relation
        }
        return not names.isdisjoint({"pk", *unique})

    def get_ordering_field_columns(self) -> dict[int, Literal["desc", "asc"]]:
        asked = self._requested_order()
        if not asked:
            params, self.params = self.params, {**self.params}
            self.params.pop(ORDER_VAR, None)
            try:
                return super().get_ordering_field_columns()
            finally:
                self.params = params
        places = {column_name(column): at for at, column in enumerate(self.list_display)}
        return {
            places[column_name(column)]: "desc" if is_descending else "asc"
            for column, is_descending in asked
            if column_name(column) in places
        }

    def get_query_string(
        self,
        new_params: Mapping[str, Any] | None = None,
        remove: Iterable[str] | None = None,
    ) -> str:
        removed = tuple(remove or ())
        query: dict[str, Any] = {
            name: value
            for name, value in self.filter_params.items()
            # Django passes prefixes of the parameters to remove.
            if not removed or not name.startswith(removed)
        }
        for name, value in (new_params or {}).items():
            if value is None:
                query.pop(name, None)
            else:
                query[name] = value
        if ORDER_VAR in query:
            order = query[ORDER_VAR]
            asked = str(order[-1] if isinstance(order, list) else order)
            query[ORDER_VAR] = ".".join(map(self._named, asked.split(".")))
        if query.keys() == {SAVED_VAR}:
            # All filters were removed: this is the list itself, not the view.
            return f"?{SAVED_VAR}={ALL}"
        return f"?{urlencode(sorted(query.items()), doseq=True)}"

    def _named(self, part: str) -> str:
        sign, place = part[: part.startswith("-")], part.removeprefix("-")
        if place.isascii() and place.isdigit() and int(place[:4]) < len(self.list_display):
            return sign + column_name(self.list_display[int(place[:4])])
        return part


class ListAdmin(PermittedAdmin[M]):
    """An admin class whose list has saved views and a choice of columns."""

    optional_columns: ClassVar[tuple[str, ...]] = ()
    """Columns that are available but hidden by default."""
    has_column_choice: ClassVar[bool] = True
    """True if users may choose the columns of this list."""

    has_exact_times: ClassVar[bool] = False
    """True if times are shown as date and time instead of as ages."""

    @property
    def all_columns(self) -> list[Column]:
        return [*self._shown_columns, *map(self._as_age_column, self.optional_columns)]

    @cached_property
    def _shown_columns(self) -> list[Column]:
        return [self._as_age_column(column) for column in self.list_display]

    def _as_age_column(self, column: Column) -> Column:
        """Return a column with the age of a datetime field, otherwise the column itself.

        The new column has the same name, because URLs contain it.
        """
        if self.has_exact_times or not isinstance(column, str):
            return column
        try:
            field = self.opts.get_field(column)
        except FieldDoesNotExist:
            return column
        if not isinstance(field, DateTimeField):
            return column

        @admin.display(description=field.verbose_name, ordering=column)
        def age(row: Model) -> SafeString | str:
            return age_html(getattr(row, column))

        age.__name__ = column
        return age

    @property
    def list_name(self) -> str:
        return str(self.opts.label_lower)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return ViewChangeList

    def get_list_display(self, request: HttpRequest) -> list[Column]:
        """Return the chosen columns, including the one that links to the object."""
        state = list_state(request)
        known = {column_name(column): column for column in self.all_columns}
        chosen = [known[name] for name in state.columns if name in known] if state else []
        if not chosen:
            return [*self._shown_columns]
        locked = self._locked_column()
        return chosen if locked in chosen else [locked, *chosen]

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        """Allow only the lookups of filters and links, and none on secrets, so that no value can be guessed part
        by part.
        """
        name, *asked = lookup.split("__")
        if _SECRET_FIELD.search(name) or not _LOOKUPS.issuperset(asked):
            return False
        return super().lookup_allowed(lookup, value, request)

    @admin.display(description=SafeString('<input type="checkbox" id="action-toggle">'))
    def action_checkbox(self, obj: Model) -> SafeString:
        """Render the checkbox of a row.

        Django's version renders a template each, as expensive as the rest of the row.
        """
        return format_html(
            '<input type="checkbox" name="{}" value="{}" class="action-select" aria-label="{}">',
            ACTION_CHECKBOX_NAME,
            obj.pk,
            _("Select %(title)s") % {"title": obj},
        )

    def response_action(  # type: ignore[override]  # the stubs name the argument of Django 6.1
        self, request: HttpRequest, queryset: QuerySet[M], **location: Any
    ) -> HttpResponse | None:
        """Run the chosen action. Django 6.1 also passes the page on which it was chosen.

        Refuse a selection with keys that are not in this list, and a selection of all rows if the number of matching
        rows changed since the page was rendered.
        """
        chosen = request.POST.getlist(ACTION_CHECKBOX_NAME)
        try:
            keys = {self.opts.pk.to_python(key) for key in chosen}
        except ValidationError:
            messages.error(request, _("The selection is not valid. Select the rows again."))
            return HttpResponseRedirect(request.get_full_path())
        counted = request.POST.get("across_count")
        if counted is not None and not _FALSE_VALUES.issuperset(
            request.POST.getlist("select_across")
        ):
            # An equal number is not enough: one row may have been removed and another one added. So check
            # the keys of the page, too.
            is_same = counted == str(queryset.count())
            if not is_same or queryset.filter(pk__in=keys).count() != len(keys):
                words = _("The list changed since you opened it. Nothing was done. Select again.")
                messages.warning(request, words)
                return HttpResponseRedirect(request.get_full_path())
        return super().response_action(request, queryset, **location)

    def _locked_column(self) -> Column:
        links = self.list_display_links or self._shown_columns
        first: Column = links[0]
        return first

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        title = {"title": capfirst(str(self.opts.verbose_name_plural))}
        extra_context = title | (extra_context or {})
        state = self._read_state(request)
        request.list_state = state  # type: ignore[attr-defined]  # for get_list_display
        # Redirect to the view's filters only without filters of its own in the URL.
        is_bare = not request.GET or [*request.GET] == [SAVED_VAR]
        if request.method == "POST":
            if "list_view" in request.POST:
                return self._change_views(request, state)
        elif is_bare and state.view is not None and (state.view.query or not request.GET):
            return HttpResponseRedirect(_view_url(state.view))
        shown = [column_name(column) for column in self.get_list_display(request)]
        if self.has_column_choice:
            state.choices = self._column_choices(shown)
        context = {"list_state": state, **(extra_context or {})}
        if request.method == "POST" or state.view is None:
            return super().changelist_view(request, context)
        try:
            return super().changelist_view(request, context)
        except (_ViewFilterGone, DisallowedModelAdminLookup):
            return self._open_without_lost_filters(request, state)

    def get_changelist_instance(self, request: HttpRequest) -> ChangeList:
        try:
            return super().get_changelist_instance(request)
        except IncorrectLookupParameters:
            state = list_state(request)
            if request.method == "POST" or state is None or state.view is None:
                raise
            # Django would open the list without the view, and say nothing.
            raise _ViewFilterGone from None

    def _open_without_lost_filters(self, request: HttpRequest, state: ListState) -> HttpResponse:
        """Redirect to the open view with the filters that the list still has, and name the others."""
        usable, lost = [], []
        for name, value in parse_qsl(state.query):
            alone = copy(request)
            alone.GET = QueryDict(urlencode([(name, value)]))
            try:
                super().get_changelist_instance(alone)
                usable.append((name, value))
            except (IncorrectLookupParameters, DisallowedModelAdminLookup):
                lost.append(name.partition("__")[0])
        text = ngettext(
            "A filter of this view no longer exists: %(names)s. The list is shown without it.",
            "Some filters of this view no longer exist: %(names)s. The list is shown without them.",
            len(lost),
        )
        messages.warning(request, text % {"names": ", ".join(dict.fromkeys(lost))})
        # A view alone in the URL redirects to all of its filters, so an empty order stands beside it.
        kept = usable or [(ORDER_VAR, "")]
        pk = state.view.pk if state.view is not None else ALL
        return HttpResponseRedirect(f"{request.path}?{urlencode([(SAVED_VAR, pk), *kept])}")

    def _read_state(self, request: HttpRequest) -> ListState:
        """Read the views and the state in one query."""
        rows = list_views(actor=actor_of(request), list_name=self.list_name)
        pk = request.user.pk
        own = next((row for row in rows if not row.name), None)
        named = {row.pk: row for row in rows if row.name}
        opens = own.opens_id if own is not None and own.opens_id in named else None
        asked = request.GET.get(SAVED_VAR, "")
        is_id = asked.isascii() and asked.isdigit() and len(asked) < _MAX_DIGITS
        if is_id and int(asked) not in named:
            raise Http404(_("This view no longer exists."))
        open_id = int(asked) if is_id else opens if not request.GET else None
        view = named[open_id] if open_id is not None else None
        pairs = [
            (name, value)
            for name, values in request.GET.lists()
            if name not in _NON_FILTER_PARAMETERS
            for value in values
            if value
        ]
        return ListState(
            tabs=[
                ViewTab(row, _view_url(row), row is view, row.pk == opens) for row in named.values()
            ],
            view=view,
            opens=opens,
            query=urlencode(sorted(pairs)),
            own_columns=own.columns if own is not None else [],
            may_share=may(request, SHARE),
            is_own=view is not None and view.owner_id == pk,
        )

    def _column_choices(self, shown: Sequence[str]) -> list[ColumnChoice]:
        columns = {column_name(column): column for column in self.all_columns}
        locked = column_name(self._locked_column())
        return [
            ColumnChoice(
                name,
                capfirst(str(label_for_field(columns[name], self.model, self))),
                name in shown,
                name == locked,
            )
            for name in dict.fromkeys([*shown, *columns])
            if name in columns
        ]

    def _change_views(self, request: HttpRequest, state: ListState) -> HttpResponse:
        """Handle a form of the list. An error becomes a message above the list, and nothing is saved."""
        here = request.get_full_path()
        try:
            return HttpResponseRedirect(self._apply_view_change(request, state) or here)
        except NotAllowed as error:
            raise PermissionDenied(error.message) from None
        except NotFound as error:
            raise Http404(error.message) from None
        except CmsError as error:
            sentences = [text for texts in error.details.values() for text in texts]
            messages.error(request, " ".join(sentences) or error.message)
        except IncorrectLookupParameters:
            messages.error(request, _("These filters cannot be saved."))
            here = request.path
        return HttpResponseRedirect(here)

    def _apply_view_change(self, request: HttpRequest, state: ListState) -> str:
        """Do the action and return the URL to redirect to; empty for the same page."""
        actor, do, sent = actor_of(request), request.POST["list_view"], request.POST
        if do == "columns" and self.has_column_choice:
            columns = self._submitted_columns(sent)
            if state.view is None:
                set_columns(actor=actor, list_name=self.list_name, columns=columns)
            else:
                change_view(
                    actor=actor, list_name=self.list_name, view_id=state.view.pk, columns=columns
                )
            return ""
        if do == "save":
            self.get_changelist_instance(
                request
            )  # raises IncorrectLookupParameters for invalid filters
            view = save_view(
                actor=actor,
                list_name=self.list_name,
                name=sent.get("name", ""),
                query=state.query,
                columns=state.columns,
                **_submitted_audience(sent),
            )
            messages.success(request, _("View “%(name)s” saved.") % {"name": view.name})
            return _view_url(view)
        if state.view is None:
            raise invalid("list_view", _("Open a view first."))
        pk = state.view.pk
        if do == "update":
            self.get_changelist_instance(request)
            view = change_view(actor=actor, list_name=self.list_name, view_id=pk, query=state.query)
            messages.success(request, _("View “%(name)s” saved.") % {"name": view.name})
            return _view_url(view)
        if do == "rename":
            view = change_view(
                actor=actor,
                list_name=self.list_name,
                view_id=pk,
                name=sent.get("name", ""),
                **(_submitted_audience(sent) if state.is_own and state.may_share else {}),
            )
            messages.success(request, _("View “%(name)s” saved.") % {"name": view.name})
            return ""
        if do == "opening":
            view_id = None if state.is_default else pk
            set_opening_view(actor=actor, list_name=self.list_name, view_id=view_id)
            return ""
        if do == "delete":
            view = delete_view(actor=actor, list_name=self.list_name, view_id=pk)
            text = _("View “%(name)s” deleted.") % {"name": view.name}
            undo = undo_button(request, "list-view.delete", _as_json(view), back=request.path)
            messages.success(request, format_html("{} {}", text, undo))
            return f"{request.path}?{SAVED_VAR}={ALL}"
        raise invalid("list_view", _("Unknown action."))

    def _submitted_columns(self, sent: QueryDict) -> list[str]:
        """Return the submitted columns in the form's order, after moving one if its button was pressed.

        An empty list resets to the default columns.
        """
        if "reset" in sent:
            return []
        names = sent.getlist("order")
        ticked = {*sent.getlist("column"), column_name(self._locked_column())}
        direction, _colon, moved = sent.get("move", "").partition(":")
        if moved in names and direction in ("up", "down"):
            at = names.index(moved)
            to = min(max(at + (1 if direction == "down" else -1), 0), len(names) - 1)
            names.insert(to, names.pop(at))
        known = {column_name(column) for column in self.all_columns}
        unknown = ({*names} | ticked) - known
        if unknown:
            message = _("There is no column %(name)s.") % {"name": min(unknown)[:80]}
            raise invalid("columns", message)
        return [name for name in names if name in ticked]


def list_state(request: HttpRequest) -> ListState | None:
    """Return the list state of the request; None on other pages."""
    return getattr(request, "list_state", None)


def _submitted_audience(sent: QueryDict) -> Audience:
    shared = sent.get("shared", "")
    role = shared.removeprefix(_ROLE_PREFIX) if shared.startswith(_ROLE_PREFIX) else ""
    return {"is_shared": bool(shared), "role": role}


def _view_url(view: ListView) -> str:
    page = reverse(f"admin:{view.list_name.replace('.', '_')}_changelist")
    return f"{page}?{urlencode([(SAVED_VAR, view.pk), *parse_qsl(view.query)])}"


def _as_json(view: ListView) -> JsonObject:
    return {
        "owner": view.owner_id,
        "list": view.list_name,
        "name": view.name,
        "query": view.query,
        "columns": view.columns,
        "shared": view.is_shared,
        "role": view.role,
    }


def _undo_delete(actor: Actor, arguments: JsonObject) -> Undone:
    columns = arguments["columns"]
    owner = arguments["owner"]
    view = restore_view(
        actor=actor,
        owner_id=owner if isinstance(owner, int) else None,
        list_name=str(arguments["list"]),
        name=str(arguments["name"]),
        query=str(arguments["query"]),
        columns=[str(name) for name in columns] if isinstance(columns, list) else [],
        is_shared=arguments["shared"] is True,
        # Buttons of earlier versions have no role.
        role=str(arguments.get("role", "")),
    )
    return Undone(_("View “%(name)s” restored.") % {"name": view.name}, _view_url(view))


UNDO_KIND: Final = UndoKind("list-view.delete", _undo_delete)
