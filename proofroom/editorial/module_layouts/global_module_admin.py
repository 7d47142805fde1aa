"""Global modules: made, changed on every post at once, and deleted where nothing places them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from django import forms
from django.contrib import admin
from django.db.models import Count, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext_lazy, ngettext

from content.global_modules.queries import affected_posts, placements_of, usage
from content.global_modules.services import (
    LABEL_MAX,
    SLUG_MAX,
    create_global,
    delete_global,
    edit_global,
)
from content.global_modules.shared_kind import GlobalModuleKind
from content.models import ModuleInstance
from proofroom.core.admin.edit_pages import EditAdmin
from proofroom.core.admin.permissions import actor_of
from proofroom.core.i18n import in_words, said
from proofroom.core.json import JsonObject
from proofroom.core.validation.input_validation import refuse_unstorable
from proofroom.definitions import modules
from proofroom.editorial.post_editor.form_fields import EditorField, fields_of, from_typed, to_typed
from proofroom.editorial.posts.list_columns import module_type
from proofroom.previews.models import PREVIEW_LAYERS
from proofroom.shared_content.tabs import tabs_of

_MAX_PLACES_SHOWN = 50
_STRUCTURED = frozenset({"object", "repeater"})


class NewGlobalForm(forms.Form):
    """Named as on the wire, as the refusals of the service are."""

    type = forms.ChoiceField(
        label=gettext_lazy("Module"), help_text=gettext_lazy("It cannot change later.")
    )
    globalSlug = forms.CharField(
        label=gettext_lazy("Slug"), max_length=SLUG_MAX, help_text=gettext_lazy("It stays, too.")
    )
    label = forms.CharField(label=gettext_lazy("Name"), max_length=LABEL_MAX, required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        types = [
            (row.name, in_words(row.label)) for row in modules if "global" in row.allowed_scopes
        ]
        cast(forms.ChoiceField, self.fields["type"]).choices = types


class GlobalForm(forms.Form):
    """A field for each prop, made from the definition; what has parts is typed as JSON."""

    label = forms.CharField(label=gettext_lazy("Name"), max_length=LABEL_MAX, required=False)
    version = forms.IntegerField(widget=forms.HiddenInput, min_value=1, max_value=2**31 - 1)

    def __init__(self, data: Any = None, *, initial: dict[str, Any]) -> None:
        super().__init__(data, initial=initial)
        self.stored: JsonObject = initial["props"]
        definition = modules.get(initial["type"])
        self.props = fields_of(definition.Props) if definition is not None else ()
        for prop in self.props:
            name = f"props.{prop.name}"
            shown = to_typed(_as_one_field(prop), self.stored.get(prop.name))
            self.fields[name] = _form_field(prop)
            self.initial[name] = shown
        self.fields["label"].help_text = initial["sentence"]

    def values(self) -> JsonObject:
        """The props as they were typed; `RuleViolation` at the field that is no JSON."""
        return {
            prop.name: from_typed(
                _as_one_field(prop),
                self.cleaned_data[f"props.{prop.name}"],
                self.stored.get(prop.name),
                f"props.{prop.name}",
            )
            for prop in self.props
        }


def _as_one_field(prop: EditorField) -> EditorField:
    """The field itself; one that has parts, or is a list, as a field for its JSON."""
    if prop.kind in _STRUCTURED or prop.is_list:
        return EditorField(prop.name, in_words(prop.label), "json", in_words(prop.help))
    return prop


def _form_field(prop: EditorField) -> forms.Field:
    if prop.kind == "boolean":
        return forms.BooleanField(
            label=in_words(prop.label), required=False, help_text=in_words(prop.help)
        )
    if prop.choices and not prop.is_list:
        return forms.ChoiceField(
            label=in_words(prop.label), choices=said(prop.choices), help_text=in_words(prop.help)
        )
    is_long = prop.kind in ("textarea", "richtext") or _as_one_field(prop).kind == "json"
    helps = {"richtext": "Markdown.", "json": "JSON."}.get(_as_one_field(prop).kind, "")
    return forms.CharField(
        label=in_words(prop.label),
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 6}) if is_long else forms.TextInput,
        help_text=f"{in_words(prop.help)} {helps}".strip(),
    )


@admin.register(ModuleInstance)
class SharedModuleAdmin(EditAdmin[ModuleInstance]):
    view_permission = add_permission = "globals.edit"
    empty_words = gettext_lazy(
        "A global module is written once and placed in many posts. A change shows in all of them."
    )
    list_title = gettext_lazy("Global modules")
    add_title = gettext_lazy("New global module")
    add_button = gettext_lazy("Add the module")
    add_form, change_form = NewGlobalForm, GlobalForm
    change_template = "admin/structure/shared.html"
    delete_sentence = gettext_lazy(
        "The module goes for good, with its revisions. One that a post places stays."
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
        number = affected_posts(row)
        shows = ngettext(
            "A change shows on %(number)s post at once.",
            "A change shows on %(number)s posts at once.",
            number,
        )
        return {
            "label": row.label,
            "version": row.version,
            "type": row.type,
            "props": row.props,
            "sentence": shows % {"number": number},
        }

    def shown(self, request: HttpRequest, row: ModuleInstance, form: forms.Form) -> dict[str, Any]:
        placements = placements_of(row)
        layers = dict(PREVIEW_LAYERS)
        places = [(post, layers[post.layer]) for post in usage(row)[:_MAX_PLACES_SHOWN]]  # type: ignore[attr-defined]
        return {
            "shared_tabs": tabs_of(GlobalModuleKind(), row),
            "places": places,
            "placements": placements,
            "more": placements.live + placements.staged - len(places),
        }

    def change(self, request: HttpRequest, row: ModuleInstance, form: forms.Form) -> None:
        if not isinstance(form, GlobalForm):
            raise TypeError(form)
        props = form.values()
        refuse_unstorable(props, "props")
        edit_global(
            actor=actor_of(request),
            slug=str(row.global_slug),
            label=form.cleaned_data["label"],
            props=props,
            expected_version=form.cleaned_data["version"],
        )

    def remove(self, request: HttpRequest, row: ModuleInstance, form: forms.Form) -> None:
        delete_global(actor=actor_of(request), slug=str(row.global_slug))

    def _find(self, id_: str) -> ModuleInstance:
        row = super()._find(id_)
        if row.scope != "global":
            raise Http404("There is no such thing.")
        return row
