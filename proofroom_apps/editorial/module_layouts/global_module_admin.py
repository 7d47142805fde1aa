"""Global modules: create, change on all posts at once, and delete if unused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, cast

from django import forms
from django.contrib import admin
from django.db.models import Count, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.models import ModuleInstance
from content.modules.global_modules import (
    SLUG_MAX,
    build_global_document,
    create_global,
    delete_global,
    edit_global,
)
from content.modules.shared_kind import GlobalModuleKind
from content.store.global_module_queries import placements_of, usage
from content.store.scopes import visible_to
from proofroom.core.actor import Actor
from proofroom.core.admin.permissions import actor_of
from proofroom.core.admin.row_forms import RedisplayAdmin
from proofroom.core.errors import RuleViolation
from proofroom.core.i18n import in_words
from proofroom.core.json import JsonObject
from proofroom.core.validation.input_validation import reject_unstorable
from proofroom.core.validation.limits import LABEL_MAX
from proofroom.definitions import modules
from proofroom.shared_content.edit_page import edit_page_context, edited_row, save_or_propose
from proofroom_apps.editorial.post_editor.choices import PostChoices, chosen_ids
from proofroom_apps.editorial.post_editor.controls import Control, control_of
from proofroom_apps.editorial.post_editor.form import FormUnit
from proofroom_apps.editorial.post_editor.form_fields import fields_of, from_typed, read, to_typed
from proofroom_apps.editorial.post_editor.module_actions import rearrange_items
from proofroom_apps.editorial.post_editor.page import add_script_data
from proofroom_apps.editorial.posts.list_columns import module_type
from proofroom_apps.previews.models import PREVIEW_LAYERS

_MAX_PLACES_SHOWN = 50
_PROPS: Final = "props."


class NewGlobalForm(forms.Form):
    """A form with the wire's field names, which the service's errors use."""

    type = forms.ChoiceField(
        label=gettext_lazy("Module"), help_text=gettext_lazy("Cannot be changed later.")
    )
    globalSlug = forms.CharField(
        label=gettext_lazy("Slug"),
        max_length=SLUG_MAX,
        help_text=gettext_lazy("Cannot be changed later."),
    )
    label = forms.CharField(label=gettext_lazy("Name"), max_length=LABEL_MAX, required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        types = [
            (row.name, in_words(row.label)) for row in modules if "global" in row.allowed_scopes
        ]
        cast(forms.ChoiceField, self.fields["type"]).choices = types


class GlobalForm(forms.Form):
    """The name of a global module, and its fields as in the editor of a post."""

    label = forms.CharField(label=gettext_lazy("Name"), max_length=LABEL_MAX, required=False)
    version = forms.IntegerField(widget=forms.HiddenInput, min_value=1, max_value=2**31 - 1)

    def __init__(
        self, data: QueryDict | None = None, *, initial: dict[str, Any], who: Actor
    ) -> None:
        super().__init__(data, initial=initial)
        stored: JsonObject = initial["props"]
        definition = modules.get(initial["type"])
        props = fields_of(definition.Props) if definition is not None else ()
        self.units = [
            FormUnit(f"{_PROPS}{prop.name}", prop, stored.get(prop.name)) for prop in props
        ]
        self.typed = {
            unit.path: to_typed(unit.field, unit.value)
            if data is None
            else read(unit.field, data, unit.path, who)
            for unit in self.units
        }
        self.problems: Mapping[str, Sequence[str]] = {}

    def values(self) -> JsonObject:
        """Return the submitted props. Raises `RuleViolation` for unreadable values."""
        values = {
            unit.field.name: from_typed(unit.field, self.typed[unit.path], unit.value, unit.path)
            for unit in self.units
        }
        reject_unstorable(values, "props")
        return values

    def controls(self, who: Actor) -> list[Control]:
        """Return the controls with values, choices and errors. At most four queries."""
        choices = PostChoices(None, chosen_ids(self.typed.values()), who)
        controls: list[Control] = []
        for unit in self.units:
            typed = self.typed[unit.path]
            control = control_of(unit.field, unit.path, typed, self.problems, choices)
            add_script_data(control, unit.field, typed, unit.value)
            controls.append(control)
        return controls

    @contextmanager
    def refusals_at_controls(self) -> Iterator[None]:
        """Show errors of fields at the fields, with a general message above the form."""
        try:
            yield
        except RuleViolation as error:
            self.problems = {
                path: texts for path, texts in error.details.items() if path.startswith(_PROPS)
            }
            if not self.problems:
                raise
            said = _("Not saved. Correct the marked fields.")
            raise RuleViolation(said, code=error.code) from None


@admin.register(ModuleInstance)
class SharedModuleAdmin(RedisplayAdmin[ModuleInstance]):
    view_permission = add_permission = "globals.edit"
    empty_words = gettext_lazy(
        "Global modules are written once and used in many posts. A change appears in all of them."
    )
    list_title = gettext_lazy("Global modules")
    add_title = gettext_lazy("New global module")
    add_button = gettext_lazy("Create module")
    add_form, change_form = NewGlobalForm, GlobalForm
    change_template = "admin/structure/shared.html"
    delete_sentence = gettext_lazy(
        "This permanently deletes the module and its revisions. A module that is "
        "used in posts cannot be deleted."
    )
    list_display = ("__str__", module_type, "global_slug", "uses", "updated_at")
    search_fields = ("label", "global_slug")
    ordering = ("global_slug",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[ModuleInstance]:
        shared = super().get_queryset(request).filter(scope="global")
        alive = Q(placements__post__deleted_at__isnull=True)
        return shared.annotate(number=Count("placements__post", distinct=True, filter=alive))

    @admin.display(description=gettext_lazy("Posts"), ordering="number")
    def uses(self, module: ModuleInstance) -> int:
        return int(getattr(module, "number", 0))

    def add(self, request: HttpRequest, form: forms.Form) -> HttpResponse:
        values = form.cleaned_data
        made = create_global(
            actor=actor_of(request),
            slug=values["globalSlug"],
            type=values["type"],
            label=values["label"],
        )
        return HttpResponseRedirect(reverse("admin:content_moduleinstance_change", args=[made.pk]))

    def initial(self, row: ModuleInstance) -> Mapping[str, object]:
        return {"label": row.label, "version": row.version, "type": row.type, "props": row.props}

    def form_of(
        self, request: HttpRequest, row: ModuleInstance, data: QueryDict | None
    ) -> GlobalForm:
        initial = dict(self.initial(self.edited(request, row)))
        return GlobalForm(data, initial=initial, who=actor_of(request))

    def change_again(self, request: HttpRequest, row: ModuleInstance) -> forms.Form:
        form = self.form_of(request, row, request.POST)
        rearrange_items(form.units, form.typed, request.POST.get("do", ""))
        return form

    def shown(self, request: HttpRequest, row: ModuleInstance, form: forms.Form) -> dict[str, Any]:
        if not isinstance(form, GlobalForm):
            raise TypeError(form)
        placements = placements_of(row)
        layers = dict(PREVIEW_LAYERS)
        # `usage` adds the layer to each post.
        seen = visible_to(usage(row), actor_of(request))
        drafts = seen.exclude(layer="source")[:_MAX_PLACES_SHOWN]  # type: ignore[misc]
        places = [(post, layers[post.layer]) for post in drafts]  # type: ignore[attr-defined]
        controls = form.controls(actor_of(request))
        return {
            **edit_page_context(request, GlobalModuleKind(), row),
            "controls": controls,
            "to_correct": [found for control in controls for found in control.to_correct()],
            "is_changed": request.method == "POST",
            "places": places,
            "placements": placements,
            "more": placements.staged - len(places),
        }

    def edited(self, request: HttpRequest, row: ModuleInstance) -> ModuleInstance:
        return cast(ModuleInstance, edited_row(request, GlobalModuleKind(), row))

    def change(self, request: HttpRequest, row: ModuleInstance, form: forms.Form) -> str | None:
        if not isinstance(form, GlobalForm):
            raise TypeError(form)
        label, version = form.cleaned_data["label"], form.cleaned_data["version"]
        with form.refusals_at_controls():
            props = form.values()
            return save_or_propose(
                request,
                GlobalModuleKind(),
                row,
                lambda: build_global_document(
                    row, label=label, props=props, actor=actor_of(request)
                ),
                version,
                lambda: edit_global(
                    actor=actor_of(request),
                    slug=str(row.global_slug),
                    label=label,
                    props=props,
                    expected_version=version,
                ),
            )

    def remove(self, request: HttpRequest, row: ModuleInstance, form: forms.Form) -> None:
        delete_global(actor=actor_of(request), slug=str(row.global_slug))

    def _find(self, id_: str) -> ModuleInstance:
        row = super()._find(id_)
        # A local module belongs to one post, and is edited there.
        if row.scope != "global":
            raise Http404("There is no such thing.")
        return row
