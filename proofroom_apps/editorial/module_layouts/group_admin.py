"""Module groups made in the admin. Groups in code are listed only in the API and for AI clients."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, cast

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.document.labels import type_choices, type_label
from content.models import ModuleGroup, ModuleInstance
from content.modules.module_groups import (
    DESCRIPTION_MAX,
    NAME_MAX,
    create_group,
    delete_group,
    edit_group,
)
from proofroom.core.admin.permissions import actor_of
from proofroom.core.admin.row_forms import RedisplayAdmin, RowsForm
from proofroom.core.errors import RuleViolation
from proofroom.core.i18n import in_words
from proofroom.core.json import Json, JsonObject
from proofroom.core.validation.input_validation import reject_unstorable
from proofroom.core.validation.json_text import read_json
from proofroom.core.validation.limits import LABEL_MAX
from proofroom.definitions import allowed_modules, post_types
from proofroom.definitions import modules as module_types
from proofroom_apps.editorial.posts.list_columns import PostTypeFilter

MAX_MODULES: Final = 200
Choices = list[tuple[str, list[tuple[str, str]]]]


@dataclass(frozen=True, slots=True)
class GroupModuleCard:
    """A module of the group for the template. `key` is the prefix of its inputs."""

    key: int
    row: JsonObject
    errors: Sequence[str]
    is_new: bool

    @property
    def label(self) -> str:
        definition = module_types.get(str(self.row.get("type")))
        return in_words(definition.label) if definition else str(self.row.get("type"))

    @property
    def slug(self) -> str:
        return str(self.row.get("globalSlug") or "")

    @property
    def props(self) -> str:
        props = self.row.get("props")
        if isinstance(props, str):  # typed text that is not valid JSON
            return props
        return json.dumps(props or {}, indent=2, ensure_ascii=False)


def read_modules(data: QueryDict) -> list[JsonObject]:
    """Return the modules that a form sent, as JSON or card by card. Raises `ValueError`."""
    if "modules" in data:
        found = _parse_json(str(data["modules"]))
        if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
            raise ValueError(_("it is not a list of objects"))
        return [row for row in found if isinstance(row, dict)]
    rows: list[JsonObject] = []
    # One more than allowed, so that the service reports the limit.
    for key in data.getlist("row")[: MAX_MODULES + 1]:
        slug = data.get(f"globalSlug-{key}", "")
        props: Json = data.get(f"props-{key}", "").strip() or {}
        if isinstance(props, str):
            # Invalid JSON stays text, as from scripts: validation rejects it and the user can correct it.
            with suppress(ValueError):
                props = _parse_json(props)
        rows.append(
            {
                "type": data.get(f"type-{key}", ""),
                "scope": "global" if slug else "local",
                "locked": data.get(f"locked-{key}", "") == "on",
                "props": props,
                "globalSlug": slug or None,
            }
        )
    return rows


def _parse_json(text: str) -> Json:
    try:
        found = read_json(text)
        reject_unstorable(found, "modules")
    except RuleViolation as error:
        raise ValueError(error.message) from None
    return found


def apply_button(data: QueryDict) -> tuple[list[JsonObject], str]:
    """Return the modules after the pressed button, and a message about it. Raises `ValueError`."""
    rows = read_modules(data)
    do, _colon, key = data.get("do", "").partition(":")
    if do == "add" and len(rows) < MAX_MODULES:
        type_, _at, slug = data.get("new", "").partition("@")
        if type_ not in module_types:
            return rows, ""
        new: JsonObject = {
            "type": type_,
            "scope": "global" if slug else "local",
            "locked": False,
            "props": {},
            "globalSlug": slug or None,
        }
        name = GroupModuleCard(0, new, (), True).label
        return [*rows, new], _("Added at the end: %(name)s") % {"name": name}
    # `isdigit` also accepts characters such as “²”, which `int` refuses.
    place = int(key) if key.isascii() and key.isdigit() and len(key) < 4 else len(rows)
    if place >= len(rows):
        return rows, ""
    names = {"name": GroupModuleCard(0, rows[place], (), False).label}
    if do == "remove":
        return rows[:place] + rows[place + 1 :], _("Removed: %(name)s") % names
    if do == "copy" and len(rows) < MAX_MODULES:
        copied = [*rows[: place + 1], dict(rows[place]), *rows[place + 1 :]]
        return copied, _("Copied: %(name)s") % names
    # -1 for an unknown button, and for the first module, which cannot move up.
    other = {"up": place - 1, "down": place + 1}.get(do, -1)
    if 0 <= other < len(rows):
        rows[place], rows[other] = rows[other], rows[place]
    return rows, ""


def cards(
    rows: Sequence[JsonObject], errors: Mapping[str, Sequence[str]], *, is_new: bool
) -> list[GroupModuleCard]:
    """Return the modules with their errors, which have keys such as `modules.0.type`."""
    found = []
    for place, row in enumerate(rows):
        own = f"modules.{place}"
        said = [
            text
            for key, texts in errors.items()
            if key == own or key.startswith(f"{own}.")
            for text in texts
        ]
        props = row.get("props")
        if isinstance(props, str):  # typed text that is not valid JSON, see `read_modules`
            try:
                _parse_json(props)
            except ValueError as error:
                said = [str(error)]
        found.append(GroupModuleCard(place, row, said, is_new and place == len(rows) - 1))
    return found


def choices(post_type: str) -> Choices:
    """Return the modules that can be added: modules of the type, and global modules. One query."""
    allowed = {found.name: in_words(found.label) for found in allowed_modules(post_type)}
    rows = ModuleInstance.objects.globals().filter(type__in=allowed).order_by("global_slug")
    shared = [
        (f"{type_}@{slug}", f"{label or slug} ({allowed[type_]})")
        for type_, slug, label in rows.values_list("type", "global_slug", "label")
    ]
    groups = [(_("For each post"), list(allowed.items())), (_("Shared"), shared)]
    return [group for group in groups if group[1]]


class GroupForm(forms.Form):
    """A form with the wire's field names, which the service's errors use."""

    label = forms.CharField(label=gettext_lazy("Name"), max_length=LABEL_MAX)
    description = forms.CharField(
        label=gettext_lazy("Description"), max_length=DESCRIPTION_MAX, required=False
    )


class NewGroupForm(GroupForm):
    name = forms.CharField(
        label=gettext_lazy("Slug"),
        max_length=NAME_MAX,
        help_text=gettext_lazy("Cannot be changed later."),
    )
    postType = forms.ChoiceField(
        label=gettext_lazy("Post type"),
        choices=type_choices,
        help_text=gettext_lazy("Cannot be changed later."),
    )
    field_order = ("name", "postType")


class ChangeGroupForm(GroupForm, RowsForm):
    rows_field = wire_name = "modules"
    version = forms.IntegerField(widget=forms.HiddenInput, min_value=1, max_value=2**31 - 1)
    modules = forms.Field(required=False, widget=forms.HiddenInput)

    def rows_sent(self, data: QueryDict) -> object:
        return read_modules(data)


@admin.register(ModuleGroup)
class ModuleGroupAdmin(RedisplayAdmin[ModuleGroup]):
    view_permission = add_permission = "settings.manage"
    empty_words = gettext_lazy(
        "A module group sets the modules of new posts, and which of them are locked."
    )
    list_title = gettext_lazy("Module groups")
    add_title = gettext_lazy("New module group")
    add_button = gettext_lazy("Create group")
    add_form, change_form = NewGroupForm, ChangeGroupForm
    change_template = "admin/structure/group.html"
    delete_sentence = gettext_lazy(
        "This permanently deletes the group. Existing posts do not change."
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
                rows, said = apply_button(request.POST)
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
        with cast(ChangeGroupForm, form).service_errors_at_rows():
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
