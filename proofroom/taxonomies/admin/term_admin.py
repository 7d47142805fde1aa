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
from proofroom.core.validation.form_fields import InputForm
from proofroom.definitions import find_taxonomy, taxonomies
from proofroom.taxonomies.admin.term_tree import TermTree, tree_page
from proofroom.taxonomies.models import NewTerm, Term, TermChanges
from proofroom.taxonomies.services import change_term, create_term, delete_term


class TermForm(InputForm):
    """The form of a term that is there."""

    input_class = TermChanges


class NewTermForm(InputForm):
    input_class = NewTerm
    taxonomy = forms.ChoiceField(
        label=gettext_lazy("Taxonomy"),
        choices=lambda: [(found.name, in_words(found.label)) for found in taxonomies],
    )
    field_order = ("taxonomy", "locale")


def term_values(form: forms.Form, taxonomy: str, locale: str) -> dict[str, Any]:
    """Return what the form says, for the service. The term above, which people name by its slug, as its id."""
    assert isinstance(form, InputForm)  # noqa: S101  # the forms above
    parent_slug = form.cleaned_data.pop("parentId")
    values = form.input_values()
    values["slug"] = values["slug"] or None
    if parent_slug:
        found = Term.objects.filter(taxonomy=taxonomy, locale=locale, slug=parent_slug).first()
        if found is None:
            said = _("No term of %(taxonomy)s has the slug %(slug)r in this language.")
            raise invalid("parentId", said % {"taxonomy": taxonomy, "slug": parent_slug})
        values["parent_id"] = str(found.pk)
    return values


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
        taxonomy, locale = form.cleaned_data["taxonomy"], form.cleaned_data["locale"]
        values = term_values(form, taxonomy, locale)
        create_term(actor=actor_of(request), taxonomy=taxonomy, **values)
        return HttpResponseRedirect(TermTree(find_taxonomy(taxonomy), locale).url)

    def initial(self, row: Term) -> Mapping[str, object]:
        return {
            "name": row.name,
            "slug": row.slug,
            "parentId": row.parent.slug if row.parent else "",
            "orderIndex": row.order_index,
        }

    def change(self, request: HttpRequest, row: Term, form: forms.Form) -> None:
        values = term_values(form, row.taxonomy, row.locale)
        change_term(term_id=row.pk, actor=actor_of(request), **values)

    def remove(self, request: HttpRequest, row: Term, form: forms.Form) -> None:
        delete_term(term_id=row.pk, actor=actor_of(request), force=form.cleaned_data["force"])
