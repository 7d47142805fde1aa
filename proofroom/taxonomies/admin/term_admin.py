"""The admin of taxonomy terms: a tree with drag and drop, keyboard and button moves, and inline renaming."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.db.models import Count, Q, QuerySet
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseRedirect,
    JsonResponse,
    QueryDict,
)
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from proofroom.core.admin.edit_pages import EditAdmin
from proofroom.core.admin.labels import LabelFilter, LanguageFilter
from proofroom.core.admin.permissions import actor_of, require
from proofroom.core.content_scope import Scoped, reading_scopes, visible_post_ids
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import CmsError, NotFound, invalid
from proofroom.core.i18n import in_words
from proofroom.core.i18n.languages import site_languages
from proofroom.core.validation.form_fields import InputForm
from proofroom.definitions import Taxonomy, find_taxonomy, taxonomies
from proofroom.shared_content.edit_page import edit_page_context, edited_row, save_or_propose
from proofroom.taxonomies.models import NewTerm, Term, TermChanges
from proofroom.taxonomies.rules import MAX_TERM_DEPTH, taxonomy_label
from proofroom.taxonomies.services import (
    change_term,
    changed_term_document,
    create_term,
    delete_term,
    move_term,
)
from proofroom.taxonomies.shared_kind import TermKind

MANY_TERMS: Final = 60
"""Number of terms above which the tree opens with its top level only."""
# With scripts, a search also finds terms beyond this limit.
MAX_PARENTS: Final = 200
MAX_MOVE_BUTTONS: Final = 200
"""Number of terms up to which rows have buttons for moving without scripts. Beyond it, each term has its own page."""


Numbers = Mapping[tuple[str, str], int]


@dataclass(slots=True)
class TermNode:
    term: Term
    uses: int
    children: list[TermNode] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class TermTree:
    """A tree of terms: a taxonomy in a locale. An empty locale means terms for all languages."""

    taxonomy: type[Taxonomy]
    locale: str

    @property
    def url(self) -> str:
        query = urlencode({"taxonomy": self.taxonomy.name, "locale": self.locale})
        return f"{reverse('admin:proofroom_taxonomies_term_changelist')}?{query}"


def visible_use_count(who: Scoped) -> Count:
    """Return an aggregate: number of posts with the term that the actor may see and that are not in the trash."""
    counted = Q(post_terms__post__deleted_at__isnull=True)
    post_ids = visible_post_ids(who)
    if reading_scopes(who) and post_ids is not None:
        counted &= Q(post_terms__post__in=post_ids)
    return Count("post_terms", filter=counted)


def tree_page(request: HttpRequest) -> HttpResponse:
    """Show the tree. POST moves or renames a term (`do`). Clients that accept JSON get JSON."""
    require(request, "taxonomies.edit")
    rows = Term.objects.order_by().values("taxonomy", "locale").annotate(number=Count("pk"))
    numbers = {(row["taxonomy"], row["locale"]): row["number"] for row in rows}
    # Without a valid choice in the URL: the first taxonomy and the first language that have terms.
    used = {name for name, _locale in numbers}
    first = next((found for found in taxonomies if found.name in used), next(iter(taxonomies)))
    taxonomy = taxonomies.get(request.GET.get("taxonomy", "")) or first
    asked = request.GET.get("locale")
    if asked is None or (asked and asked not in settings.CMS_ENV.locales):
        default: str = settings.CMS_ENV.default_locale
        has_terms = (locale for locale in (default, "") if (taxonomy.name, locale) in numbers)
        asked = next(has_terms, default)
    tree = TermTree(taxonomy, asked)
    if request.method == "POST":
        wants_json = "application/json" in request.headers.get("Accept", "")
        try:
            _handle_post(request, tree)
        except CmsError as error:
            if wants_json:
                return JsonResponse({"message": error.message}, status=error.status)
            messages.error(request, error.message)
        return JsonResponse({}) if wants_json else HttpResponseRedirect(tree.url)
    terms = Term.objects.filter(taxonomy=tree.taxonomy.name, locale=tree.locale)
    counted = terms.annotate(uses=visible_use_count(actor_of(request)))
    nodes = {term.pk: TermNode(term, term.uses) for term in counted}
    top: list[TermNode] = []
    for node in nodes.values():
        parent = nodes.get(node.term.parent_id) if node.term.parent_id else None
        (parent.children if parent else top).append(node)
    number = len(nodes)
    locale_labels = [*site_languages(), ("", _("All languages"))]
    name = tree.taxonomy.name
    context = {
        **admin.site.each_context(request),
        "title": _("Topics and tags"),
        "opts": Term._meta,
        "shown": tree,
        "nodes": top,
        "number": number,
        "deepest": MAX_TERM_DEPTH if tree.taxonomy.hierarchical else 1,
        "closed": number > MANY_TERMS,
        "has_buttons": number <= MAX_MOVE_BUTTONS,
        "taxonomies": _taxonomies(tree, numbers),
        "locales": [
            (
                label,
                TermTree(tree.taxonomy, locale).url,
                numbers.get((name, locale), 0),
                locale == tree.locale,
            )
            for locale, label in locale_labels
        ],
    }
    return TemplateResponse(request, "admin/terms/tree.html", context)


def _taxonomies(tree: TermTree, numbers: Numbers) -> list[tuple[type[Taxonomy], str, int, bool]]:
    found = dict.fromkeys(taxonomies, 0)
    for (name, _locale), number in numbers.items():
        if taxonomy := taxonomies.get(name):
            found[taxonomy] += number
    return [
        (taxonomy, TermTree(taxonomy, tree.locale).url, number, taxonomy is tree.taxonomy)
        for taxonomy, number in found.items()
    ]


def _handle_post(request: HttpRequest, tree: TermTree) -> None:
    operation, _colon, id_ = request.POST.get("do", "").partition(":")
    actor = actor_of(request)
    if operation == "rename":
        change_term(term_id=id_, actor=actor, name=request.POST.get("name", ""))
    elif operation == "move":
        places = {name: (request.POST.get(name, "") or None) for name in ("parent_id", "before_id")}
        move_term(term_id=id_, actor=actor, **places)
    elif operation in _MOVES:
        rows = list(Term.objects.filter(taxonomy=tree.taxonomy.name, locale=tree.locale))
        term = next((row for row in rows if str(row.pk) == id_), None)
        if term is None:
            raise NotFound(_("Term not found."))
        above = next((row for row in rows if row.pk == term.parent_id), None)
        place = _MOVES[operation](
            _Surroundings(
                term,
                [row for row in rows if row.parent_id == term.parent_id],
                [row for row in rows if above and row.parent_id == above.parent_id],
            )
        )
        if place is not None:
            move_term(term_id=id_, actor=actor, parent_id=place[0], before_id=place[1])
    else:
        raise invalid("do", _("Unknown action."))


Place = tuple[UUID | None, UUID | None]


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """A term with its siblings, and the siblings of its parent."""

    term: Term
    siblings: Sequence[Term]
    parent_siblings: Sequence[Term]

    @property
    def place(self) -> int:
        return [row.pk for row in self.siblings].index(self.term.pk)


def _up(at: _Surroundings) -> Place | None:
    return (at.term.parent_id, at.siblings[at.place - 1].pk) if at.place else None


def _down(at: _Surroundings) -> Place | None:
    later = at.siblings[at.place + 1 :]
    # A place is given by the term that follows, so one down is before the next but one.
    return (at.term.parent_id, later[1].pk if len(later) > 1 else None) if later else None


def _in(at: _Surroundings) -> Place | None:
    return (at.siblings[at.place - 1].pk, None) if at.place else None


def _out(at: _Surroundings) -> Place | None:
    """Return the place right after the term's parent."""
    ids = [row.pk for row in at.parent_siblings]
    if at.term.parent_id not in ids:
        return None
    place = ids.index(at.term.parent_id)
    grand = at.parent_siblings[place].parent_id
    return grand, ids[place + 1] if place + 1 < len(ids) else None


_MOVES: Final[dict[str, Callable[[_Surroundings], Place | None]]] = {
    "up": _up,
    "down": _down,
    "in": _in,
    "out": _out,
}


class ParentForm(InputForm):
    """A form with a select of possible parent terms, limited to `MAX_PARENTS`."""

    def __init__(self, *args: Any, among: QuerySet[Term], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        terms = among.order_by("taxonomy", "locale", "order_index", "name")
        rows = list(terms[:MAX_PARENTS])
        chosen = find_by_id(terms, self["parentId"].value())
        # Without its option, saving the form would lose the current parent.
        if chosen is not None and chosen not in rows:
            rows.append(chosen)
        names = dict(site_languages())
        options = []
        for row in rows:
            of = taxonomy_label(row.taxonomy)
            where = names.get(row.locale, _("All languages"))
            options.append((str(row.pk), f"{row.name} ({of}, {where})"))
        select = cast(forms.Select, self.fields["parentId"].widget)
        select.choices = [("", "—"), *options]
        self.is_asked_of(select.attrs)

    def is_asked_of(self, attributes: dict[str, Any]) -> None:
        """Set the field's attributes for its search, which limit the offered terms."""
        raise NotImplementedError


class TermForm(ParentForm):
    """The form of an existing term."""

    input_class = TermChanges

    def __init__(self, *args: Any, row: Term, **kwargs: Any) -> None:
        self.row = row
        near = Term.objects.filter(taxonomy=row.taxonomy, locale=row.locale).exclude(pk=row.pk)
        super().__init__(*args, among=near, **kwargs)

    def is_asked_of(self, attributes: dict[str, Any]) -> None:
        attributes["data-among"] = self.row.taxonomy
        attributes["data-only-locale"] = self.row.locale
        attributes["data-without"] = str(self.row.pk)

    version = forms.IntegerField(required=False, min_value=0, widget=forms.HiddenInput)


class NewTermForm(ParentForm):
    input_class = NewTerm

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, among=Term.objects.all(), **kwargs)

    def is_asked_of(self, attributes: dict[str, Any]) -> None:
        attributes["data-among-of"] = "taxonomy"
        attributes["data-only-locale-of"] = "locale"

    taxonomy = forms.ChoiceField(
        label=gettext_lazy("Taxonomy"),
        choices=lambda: [(found.name, in_words(found.label)) for found in taxonomies],
    )
    field_order = ("taxonomy", "locale")


def term_values(form: forms.Form) -> dict[str, Any]:
    """Return the form's values for the service."""
    assert isinstance(form, InputForm)  # noqa: S101  # both forms above are
    values = form.input_values()
    return {
        **values,
        "slug": values["slug"] or None,
        "parent_id": values["parent_id"] or None,
    }


class DeleteTermForm(forms.Form):
    force = forms.BooleanField(
        label=gettext_lazy("Also remove from posts that use it"),
        required=False,
        help_text=gettext_lazy("Removes it from these posts and from pending changes."),
    )


class TaxonomyFilter(LabelFilter):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.title = _("Taxonomy")

    def label(self, value: str) -> str:
        return taxonomy_label(value)


class TermLanguageFilter(LanguageFilter):
    def label(self, value: str) -> str:
        return super().label(value) or _("All languages")


@admin.register(Term)
class TermAdmin(EditAdmin[Term]):
    view_permission = add_permission = "taxonomies.edit"
    list_title = gettext_lazy("Topics and tags")
    add_title = gettext_lazy("New term")
    add_button = gettext_lazy("Create term")
    add_form = NewTermForm
    add_template = "admin/terms/new.html"
    change_form, delete_form = TermForm, DeleteTermForm
    change_template = "admin/terms/term.html"
    delete_sentence = gettext_lazy(
        "This permanently deletes the term. Terms below it move to its parent."
    )
    list_display = ("name", "taxonomy", "slug", "locale", "parent", "uses")
    list_filter = (("taxonomy", TaxonomyFilter), ("locale", TermLanguageFilter))
    list_select_related = ("parent",)
    search_fields = ("name", "slug")
    ordering = ("taxonomy", "order_index", "name")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Term]:
        return super().get_queryset(request).annotate(number=visible_use_count(actor_of(request)))

    @admin.display(description=gettext_lazy("Posts"), ordering="number")
    def uses(self, term: Term) -> int:
        return int(getattr(term, "number", 0))

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the tree, or the list if the request searches or filters."""
        if set(request.GET) <= {"taxonomy", "locale"}:
            return tree_page(request)
        return super().changelist_view(request, extra_context)

    def add(self, request: HttpRequest, form: forms.Form) -> HttpResponse:
        taxonomy, locale = form.cleaned_data["taxonomy"], form.cleaned_data["locale"]
        values = term_values(form)
        term = create_term(actor=actor_of(request), taxonomy=taxonomy, **values)
        messages.success(request, _("Created “%(name)s”.") % {"name": term.name})
        return HttpResponseRedirect(TermTree(find_taxonomy(taxonomy), locale).url)

    def initial(self, row: Term) -> Mapping[str, object]:
        return {
            "name": row.name,
            "slug": row.slug,
            "description": row.description,
            "parentId": str(row.parent_id or ""),
            "orderIndex": row.order_index,
            "version": row.version,
        }

    def form_of(self, request: HttpRequest, row: Term, data: QueryDict | None) -> forms.Form:
        edited = self.edited(request, row)
        return TermForm(data, initial=dict(self.initial(edited)), row=row)

    def shown(self, request: HttpRequest, row: Term, form: forms.Form) -> Mapping[str, object]:
        return edit_page_context(request, TermKind(), row)

    def edited(self, request: HttpRequest, row: Term) -> Term:
        return cast(Term, edited_row(request, TermKind(), row))

    def change(self, request: HttpRequest, row: Term, form: forms.Form) -> str | None:
        version = form.cleaned_data["version"]
        values = term_values(form)
        document = {name: values.get(name) for name in ("name", "slug", "description", "parent_id")}
        return save_or_propose(
            request,
            TermKind(),
            row,
            lambda: changed_term_document(row, **document),
            version,
            lambda: change_term(
                term_id=row.pk, actor=actor_of(request), expected_version=version, **values
            ),
        )

    def remove(self, request: HttpRequest, row: Term, form: forms.Form) -> None:
        delete_term(term_id=row.pk, actor=actor_of(request), force=form.cleaned_data["force"])
