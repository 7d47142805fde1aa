"""Module groups that people make; those that are code are listed over REST and to AI clients only."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from content.definitions import post_types
from content.models import ModuleGroup
from content.services.module_groups import (
    DESCRIPTION_MAX,
    LABEL_MAX,
    NAME_MAX,
    create_group,
    delete_group,
    edit_group,
)
from core.admin.edits import EditAdmin
from core.admin.rights import actor_of

_EXAMPLE = [{"type": "hero", "locked": True}, {"type": "prose"}]
_MODULES = "JSON: a list of {type, scope, locked, props, globalSlug}; all but type may be left out."


class _LegibleJson(forms.JSONField):
    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, str):
            return super().prepare_value(value)
        return json.dumps(value, indent=2, ensure_ascii=False)


class GroupForm(forms.Form):
    """Named as on the wire, as the refusals of the service are."""

    label = forms.CharField(label="Name", max_length=LABEL_MAX)
    description = forms.CharField(label="Description", max_length=DESCRIPTION_MAX, required=False)
    modules = _LegibleJson(
        label="Modules",
        required=False,
        initial=_EXAMPLE,
        widget=forms.Textarea(attrs={"rows": 14, "class": "json", "spellcheck": "false"}),
        help_text=_MODULES,
    )


class NewGroupForm(GroupForm):
    name = forms.CharField(label="Slug", max_length=NAME_MAX, help_text="It stays.")
    postType = forms.ChoiceField(label="Post type", help_text="It stays, too.")
    field_order = ("name", "postType")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        types = [(row.name, row.label) for row in post_types]
        cast(forms.ChoiceField, self.fields["postType"]).choices = types


class ChangeGroupForm(GroupForm):
    version = forms.IntegerField(widget=forms.HiddenInput, min_value=1, max_value=2**31 - 1)


@admin.register(ModuleGroup)
class ModuleGroupAdmin(EditAdmin[ModuleGroup]):
    view_permission = add_permission = "settings.manage"
    list_title = "Module groups"
    add_title, add_button, add_form = "New module group", "Add the group", NewGroupForm
    change_form = ChangeGroupForm
    delete_sentence = "The group goes for good. Posts that were made with it stay as they are."
    list_display = ("label", "name", "post_type", "updated_at")
    list_filter = ("post_type",)
    search_fields = ("name", "label")
    ordering = ("name",)

    def add(self, request: HttpRequest, form: forms.Form) -> HttpResponse:
        values = form.cleaned_data
        create_group(
            actor=actor_of(request),
            name=values["name"],
            label=values["label"],
            description=values["description"],
            post_type=values["postType"],
            modules=values["modules"] or [],
        )
        return HttpResponseRedirect(reverse("admin:content_modulegroup_changelist"))

    def initial(self, row: ModuleGroup) -> Mapping[str, object]:
        names = ("label", "description", "modules", "version")
        return {name: getattr(row, name) for name in names}

    def change(self, request: HttpRequest, row: ModuleGroup, form: forms.Form) -> None:
        values = form.cleaned_data
        edit_group(
            actor=actor_of(request),
            name=row.name,
            label=values["label"],
            description=values["description"],
            modules=values["modules"] or [],
            expected_version=values["version"],
        )

    def remove(self, request: HttpRequest, row: ModuleGroup, form: forms.Form) -> None:
        delete_group(actor=actor_of(request), name=row.name)
