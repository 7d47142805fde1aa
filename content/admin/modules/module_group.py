"""Module groups that people make; those that are code are listed over REST and to AI clients only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.admin.modules.group_rows import acted, cards, choices, modules_sent
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
from core.admin.rights import actor_of, require
from core.errors import RuleViolation
from core.words import in_words


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
        label=gettext_lazy("Post type"), help_text=gettext_lazy("It stays, too.")
    )
    field_order = ("name", "postType")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        types = [(row.name, in_words(row.label)) for row in post_types]
        cast(forms.ChoiceField, self.fields["postType"]).choices = types


class ChangeGroupForm(GroupForm):
    version = forms.IntegerField(widget=forms.HiddenInput, min_value=1, max_value=2**31 - 1)
    modules = forms.Field(required=False, widget=forms.HiddenInput)
    problems: Mapping[str, Sequence[str]] = {}
    """What was refused, by the path of the module."""

    def clean(self) -> dict[str, Any]:
        if not isinstance(self.data, QueryDict):
            raise TypeError(self.data)
        try:
            self.cleaned_data["modules"] = modules_sent(self.data)
        except ValueError as error:
            said = _("This is no JSON: %(problem)s.") % {"problem": str(error)[:100]}
            self.add_error("modules", said)
        return self.cleaned_data


@admin.register(ModuleGroup)
class ModuleGroupAdmin(EditAdmin[ModuleGroup]):
    view_permission = add_permission = "settings.manage"
    list_title = gettext_lazy("Module groups")
    add_title = gettext_lazy("New module group")
    add_button = gettext_lazy("Add the group")
    add_form, change_form = NewGroupForm, ChangeGroupForm
    change_template = "admin/structure/group.html"
    delete_sentence = gettext_lazy(
        "The group goes for good. Posts that were made with it stay as they are."
    )
    list_display = ("label", "name", "post_type", "number", "locks", "updated_at")
    list_filter = ("post_type",)
    search_fields = ("name", "label")
    ordering = ("name",)

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

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Every button but the one that saves shows the form again, with what it did to the modules."""
        if request.method != "POST" or request.POST.get("do", "save") == "save":
            return super().change_view(request, object_id, form_url, extra_context)
        require(request, self.add_permission)
        row = self._find(object_id)
        return self.change_page(request, row, ChangeGroupForm(initial=request.POST.dict()))

    def shown(self, request: HttpRequest, row: ModuleGroup, form: forms.Form) -> Mapping[str, Any]:
        rows, said, problem = list(row.modules), "", ""
        if request.method == "POST":
            try:
                rows, said = acted(request.POST)
            except ValueError as error:
                problem = str(error)[:100]
        problems = form.problems if isinstance(form, ChangeGroupForm) else {}
        is_new = request.POST.get("do", "") == "add"
        defaults = [found for found in post_types if found.default_module_group == row.name]
        return {
            "cards": cards(rows, problems, is_new=is_new),
            "choices": choices(row.post_type),
            "said": said,
            "problem": problem,
            "is_changed": request.method == "POST",
            "is_default": bool(defaults),
        }

    def change(self, request: HttpRequest, row: ModuleGroup, form: forms.Form) -> None:
        values = form.cleaned_data
        try:
            edit_group(
                actor=actor_of(request),
                name=row.name,
                label=values["label"],
                description=values["description"],
                modules=values["modules"],
                expected_version=values["version"],
            )
        except RuleViolation as error:
            if isinstance(form, ChangeGroupForm):
                form.problems = error.details
            raise

    def remove(self, request: HttpRequest, row: ModuleGroup, form: forms.Form) -> None:
        delete_group(actor=actor_of(request), name=row.name)
