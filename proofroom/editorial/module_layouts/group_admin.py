"""Module groups that people make; those that are code are listed over REST and to AI clients only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils.translation import gettext_lazy

from content.models import ModuleGroup
from content.module_layouts.services import (
    DESCRIPTION_MAX,
    LABEL_MAX,
    NAME_MAX,
    create_group,
    delete_group,
    edit_group,
)
from content.review.labels import type_label
from proofroom.core.admin.permissions import actor_of
from proofroom.core.admin.row_forms import RowsForm, ShownAgainAdmin
from proofroom.definitions import post_types
from proofroom.editorial.module_layouts.group_rows import (
    acted,
    cards,
    choices,
    modules_sent,
)
from proofroom.editorial.posts.list_columns import PostTypeFilter, type_choices


class GroupForm(forms.Form):
    """Named as on the wire, as the refusals of the service are."""

    label = forms.CharField(label=gettext_lazy("Name"), max_length=LABEL_MAX)
    description = forms.CharField(
        label=gettext_lazy("Description"), max_length=DESCRIPTION_MAX, required=False
    )


class NewGroupForm(GroupForm):
    name = forms.CharField(
        label=gettext_lazy("Slug"), max_length=NAME_MAX, help_text=gettext_lazy("It stays.")
    )
    postType = forms.ChoiceField(
        label=gettext_lazy("Post type"),
        choices=type_choices,
        help_text=gettext_lazy("It stays, too."),
    )
    field_order = ("name", "postType")


class ChangeGroupForm(GroupForm, RowsForm):
    rows_field = wire_name = "modules"
    version = forms.IntegerField(widget=forms.HiddenInput, min_value=1, max_value=2**31 - 1)
    modules = forms.Field(required=False, widget=forms.HiddenInput)

    def rows_sent(self, data: QueryDict) -> object:
        return modules_sent(data)


@admin.register(ModuleGroup)
class ModuleGroupAdmin(ShownAgainAdmin[ModuleGroup]):
    view_permission = add_permission = "settings.manage"
    empty_words = gettext_lazy(
        "A group says which modules a new post begins with, and which of them are locked."
    )
    list_title = gettext_lazy("Module groups")
    add_title = gettext_lazy("New module group")
    add_button = gettext_lazy("Add the group")
    add_form, change_form = NewGroupForm, ChangeGroupForm
    change_template = "admin/structure/group.html"
    delete_sentence = gettext_lazy(
        "The group goes for good. Posts that were made with it stay as they are."
    )
    list_display = ("label", "name", "of_type", "number", "locks", "updated_at")
    list_filter = (("post_type", PostTypeFilter),)
    search_fields = ("name", "label")
    ordering = ("name",)

    @admin.display(description=gettext_lazy("Type"), ordering="post_type")
    def of_type(self, group: ModuleGroup) -> str:
        return type_label(group.post_type)

    @admin.display(description=gettext_lazy("Modules"))
    def number(self, group: ModuleGroup) -> int:
        return len(group.modules)

    @admin.display(description=gettext_lazy("Locked"))
    def locks(self, group: ModuleGroup) -> int:
        return sum(bool(module.get("locked")) for module in group.modules)

    def add(self, request: HttpRequest, form: forms.Form) -> HttpResponse:
        values = form.cleaned_data
        group = create_group(
            actor=actor_of(request),
            name=values["name"],
            label=values["label"],
            description=values["description"],
            post_type=values["postType"],
            modules=[],
        )
        return HttpResponseRedirect(reverse("admin:content_modulegroup_change", args=[group.pk]))

    def initial(self, row: ModuleGroup) -> Mapping[str, object]:
        names = ("label", "description", "version")
        return {name: getattr(row, name) for name in names}

    def shown(self, request: HttpRequest, row: ModuleGroup, form: forms.Form) -> Mapping[str, Any]:
        rows, said, problem = list(row.modules), "", ""
        if request.method == "POST":
            try:
                rows, said = acted(request.POST)
            except ValueError as error:
                problem = str(error)[:100]
        is_new = request.POST.get("do", "") == "add"
        defaults = [found for found in post_types if found.default_module_group == row.name]
        return {
            "cards": cards(rows, cast(ChangeGroupForm, form).problems, is_new=is_new),
            "choices": choices(row.post_type),
            "said": said,
            "problem": problem,
            "is_changed": request.method == "POST",
            "is_default": bool(defaults),
        }

    def change(self, request: HttpRequest, row: ModuleGroup, form: forms.Form) -> None:
        values = form.cleaned_data
        with cast(ChangeGroupForm, form).refusals_at_rows():
            edit_group(
                actor=actor_of(request),
                name=row.name,
                label=values["label"],
                description=values["description"],
                modules=values["modules"],
                expected_version=values["version"],
            )

    def remove(self, request: HttpRequest, row: ModuleGroup, form: forms.Form) -> None:
        delete_group(actor=actor_of(request), name=row.name)
