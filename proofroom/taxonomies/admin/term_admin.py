"""Taxonomy terms: made, moved, renamed and deleted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from proofroom.core.admin.edit_pages import EditAdmin
from proofroom.core.admin.permissions import actor_of
from proofroom.core.errors import invalid
from proofroom.core.i18n import in_words
from proofroom.core.i18n.languages import site_languages
from proofroom.definitions import find_taxonomy, taxonomies
from proofroom.taxonomies.admin.term_tree import TermTree, tree_page
from proofroom.taxonomies.models import Term
from proofroom.taxonomies.rules import NAME_MAX, ORDER_MAX, SLUG_MAX
from proofroom.taxonomies.services import change_term, create_term, delete_term

_ABOVE = gettext_lazy(
    "Slug of the term that this one stands below, of the same taxonomy and language; empty for none."
)


class TermForm(forms.Form):
    """Named as on the wire, as the refusals of the service are."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=NAME_MAX)
    slug = forms.CharField(label=gettext_lazy("Slug"), max_length=SLUG_MAX)
    parentId = forms.CharField(
        label=gettext_lazy("Below"), max_length=SLUG_MAX, required=False, help_text=_ABOVE
    )
    orderIndex = forms.IntegerField(
        label=gettext_lazy("Place"), min_value=-ORDER_MAX, max_value=ORDER_MAX, initial=0
    )


class NewTermForm(TermForm):
    taxonomy = forms.ChoiceField(label=gettext_lazy("Taxonomy"))
    locale = forms.ChoiceField(label=gettext_lazy("Language"), required=False)
    field_order = ("taxonomy", "locale")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        slug = self.fields["slug"]
        slug.required, slug.help_text = False, gettext_lazy("Empty: made from the name.")
        _choose(self, "taxonomy", [(found.name, in_words(found.label)) for found in taxonomies])
        locales = site_languages()
        _choose(self, "locale", [*locales, ("", _("Every language"))])


def _choose(form: forms.Form, name: str, choices: list[tuple[str, str]]) -> None:
    field = form.fields[name]
    if isinstance(field, forms.ChoiceField):
        field.choices = choices


def _parent(taxonomy: str, locale: str, slug: str) -> str | None:
    """The id of the term above; people know it by its slug."""
    if not slug:
        return None
    found = Term.objects.filter(taxonomy=taxonomy, locale=locale, slug=slug).first()
    if found is None:
        said = _("No term of %(taxonomy)s has the slug %(slug)r in this language.")
        raise invalid("parentId", said % {"taxonomy": taxonomy, "slug": slug})
    return str(found.pk)


class DeleteTermForm(forms.Form):
    force = forms.BooleanField(
        label=gettext_lazy("Also where posts carry it"),
        required=False,
        help_text=gettext_lazy("It is taken off them, and out of what waits in a layer."),
    )


@admin.register(Term)
class TermAdmin(EditAdmin[Term]):
    view_permission = add_permission = "taxonomies.edit"
    list_title = gettext_lazy("Terms")
    add_title = gettext_lazy("New term")
    add_button = gettext_lazy("Add the term")
    add_form = NewTermForm
    change_form, delete_form = TermForm, DeleteTermForm
    delete_sentence = gettext_lazy("The term goes for good. Terms below it move up to its parent.")
    list_display = ("name", "taxonomy", "slug", "locale", "parent", "uses")
    list_filter = ("taxonomy", "locale")
    list_select_related = ("parent",)
    search_fields = ("name", "slug")
    ordering = ("taxonomy", "order_index", "name")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Term]:
        return super().get_queryset(request).annotate(number=Count("post_terms"))

    @admin.display(description=gettext_lazy("Posts"), ordering="number")
    def uses(self, term: Term) -> int:
        return int(getattr(term, "number", 0))

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The tree of a taxonomy; the list of all of them where somebody searches or filters it."""
        if set(request.GET) <= {"taxonomy", "locale"}:
            return tree_page(request)
        return super().changelist_view(request, extra_context)

    def add(self, request: HttpRequest, form: forms.Form) -> HttpResponse:
        values = form.cleaned_data
        create_term(
            actor=actor_of(request),
            taxonomy=values["taxonomy"],
            name=values["name"],
            slug=values["slug"] or None,
            locale=values["locale"],
            parent_id=_parent(values["taxonomy"], values["locale"], values["parentId"]),
            order_index=values["orderIndex"],
        )
        return HttpResponseRedirect(
            TermTree(find_taxonomy(values["taxonomy"]), values["locale"] or "").url
        )

    def initial(self, row: Term) -> Mapping[str, object]:
        return {
            "name": row.name,
            "slug": row.slug,
            "parentId": row.parent.slug if row.parent else "",
            "orderIndex": row.order_index,
        }

    def change(self, request: HttpRequest, row: Term, form: forms.Form) -> None:
        values = form.cleaned_data
        change_term(
            term_id=row.pk,
            actor=actor_of(request),
            name=values["name"],
            slug=values["slug"],
            parent_id=_parent(row.taxonomy, row.locale, values["parentId"]),
            order_index=values["orderIndex"],
        )

    def remove(self, request: HttpRequest, row: Term, form: forms.Form) -> None:
        delete_term(term_id=row.pk, actor=actor_of(request), force=form.cleaned_data["force"])
