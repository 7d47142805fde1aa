"""Forms of one file in the admin."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from media.admin.upload_forms import DescriptionForm, file_field
from media.metadata import FocalPoint
from media.models import Asset
from media.services.crop import Box
from proofroom.core.i18n.languages import language_name, other_languages

ALT = "alt_"
WORDS, DECORATION = "words", "decoration"


def _percent(label: Any, help_text: Any = "") -> forms.FloatField:
    widget = forms.NumberInput(attrs={"step": "0.1", "inputmode": "decimal"})
    return forms.FloatField(
        label=label, min_value=0, max_value=100, required=False, widget=widget, help_text=help_text
    )


class EditForm(DescriptionForm):
    """The form of a file's metadata, with a field for each further language, such as `alt_de`."""

    is_decorative = forms.ChoiceField(
        label=gettext_lazy("Purpose"),
        choices=[
            (WORDS, gettext_lazy("Needs alt text")),
            (DECORATION, gettext_lazy("Decorative image (no alt text needed)")),
        ],
        widget=forms.RadioSelect,
        required=False,
    )
    description = forms.CharField(
        label=gettext_lazy("Notes"),
        max_length=2000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=gettext_lazy("For your team: source, rights and anything else worth knowing."),
    )
    focal_x = _percent(gettext_lazy("Focal point from left, in %"))
    focal_y = _percent(
        gettext_lazy("Focal point from top, in %"), gettext_lazy("Leave both blank for the centre.")
    )

    def __init__(self, *args: Any, is_recording: bool = False, **more: Any) -> None:
        super().__init__(*args, **more)
        env, languages = settings.CMS_ENV, other_languages()
        named = _("Alt text (%(language)s)")
        if is_recording:
            # The name of the player. What only images have is not asked for.
            named = _("Title (%(language)s)")
            self.fields["alt_text"].label = _("Title")
            self.fields["alt_text"].help_text = _("Screen readers name the player by it.")
            for name in ("is_decorative", "focal_x", "focal_y"):
                del self.fields[name]
        if languages:
            own = language_name(env.default_locale)
            self.fields["alt_text"].label = named % {"language": own}
        for locale, name in languages:
            label = named % {"language": name}
            self.fields[f"{ALT}{locale}"] = forms.CharField(
                label=label, max_length=500, required=False
            )
        self.order_fields(
            ["alt_text", *(ALT + locale for locale, _name in languages), "is_decorative"]
        )
        for field in self.fields.values():
            field.show_hidden_initial = True

    def clean(self) -> dict[str, Any]:
        """Combine the two numbers into `focal_point`, and the texts of other languages into `alt_texts`."""
        cleaned = super().clean() or self.cleaned_data
        across, down = cleaned.pop("focal_x", None), cleaned.pop("focal_y", None)
        if (across is None) != (down is None) and not self.errors:
            self.add_error(
                "focal_x", _("Enter both numbers for the focal point, or leave both blank.")
            )
        point: FocalPoint | None = None
        if across is not None and down is not None:
            point = (across / 100, down / 100)
        if "focal_x" in self.fields:
            cleaned["focal_point"] = point
        return self._collect_values(self._only_changed(cleaned))

    def _collect_values(self, cleaned: dict[str, Any]) -> dict[str, Any]:
        texts = {
            name.removeprefix(ALT): cleaned.pop(name)
            for name in self.fields
            if name.startswith(ALT) and name != "alt_text" and name in cleaned
        }
        sent = {locale: text for locale, text in texts.items() if ALT + locale in self.data}
        decoration = cleaned.pop("is_decorative", "")
        if sent:
            cleaned["alt_texts"] = sent
        if decoration:
            cleaned["is_decorative"] = decoration == DECORATION
        return cleaned

    def _only_changed(self, cleaned: dict[str, Any]) -> dict[str, Any]:
        """Return only values the user changed: others may have changed meanwhile. Adds an error where both sides
        changed a field."""
        if not self._has_initial_values():
            return cleaned
        unchanged = {
            name
            for name in self.fields
            if self._initial_value(name) == self._value(name, self.data[name])
        }
        data: dict[str, Any] = {name: self.data[name] for name in self.data}
        for name in self.fields.keys() - unchanged:
            present = self.fields[name].prepare_value(self.initial.get(name))
            if self._initial_value(name) == self._value(name, present):
                continue
            # The form now shows the current value as the initial one, so a second save is accepted.
            data[f"initial-{name}"] = "" if present is None else present
            self.add_error(name, self._conflict_message(name, present))
        self.data = data
        if {"focal_x", "focal_y"} <= unchanged:
            unchanged.add("focal_point")
        return {name: value for name, value in cleaned.items() if name not in unchanged}

    def _conflict_message(self, name: str, present: object) -> str:
        if present in (None, ""):
            return _(
                "Somebody changed this in the meantime. It is now empty. Save again "
                "to keep your version."
            )
        choices = dict(getattr(self.fields[name], "choices", ()))
        return _(
            "Somebody changed this in the meantime. It is now “%(value)s”. Save "
            "again to keep your version."
        ) % {"value": choices.get(present, present)}

    def _has_initial_values(self) -> bool:
        return all(name in self.data and f"initial-{name}" in self.data for name in self.fields)

    def _initial_value(self, name: str) -> object:
        return self._value(name, self.data[f"initial-{name}"])

    def _value(self, name: str, raw: object) -> object:
        """Return the parsed value with normalized line ends, or the raw value if it is invalid."""
        try:
            value = self.fields[name].to_python(raw)
        except forms.ValidationError:
            return raw
        # Browsers submit text areas with CRLF.
        return value.replace("\r\n", "\n") if isinstance(value, str) else value


class ReplaceFileForm(forms.Form):
    file = file_field(
        gettext_lazy("The new file replaces the old one everywhere. It can have another type.")
    )


class CropForm(forms.Form):
    """The part to keep, in percent of width and height."""

    left = _percent(gettext_lazy("From left, in %"))
    top = _percent(gettext_lazy("From top, in %"))
    width = _percent(gettext_lazy("Width, in %"))
    height = _percent(gettext_lazy("Height, in %"))

    def __init__(self, data: QueryDict | None = None) -> None:
        super().__init__(data, prefix="crop")
        for field in self.fields.values():
            field.required = True

    def box(self) -> Box:
        parts = {name: self.cleaned_data[name] / 100 for name in self.fields}
        return Box(**parts)


class DeleteForm(forms.Form):
    """Deletion of a file; for a file in use, the user must confirm with `force`."""

    force = forms.BooleanField(
        label=gettext_lazy("Delete it even though it is in use. These places will show no image."),
        required=False,
    )

    def __init__(self, *args: Any, is_used: bool, **more: Any) -> None:
        super().__init__(*args, **more)
        if not is_used:
            del self.fields["force"]


def initial_of(asset: Asset) -> dict[str, Any]:
    """Return the initial values of a file's form."""
    return {
        "alt_text": asset.alt_text,
        **{f"{ALT}{locale}": asset.alt_texts.get(locale, "") for locale, _ in other_languages()},
        "is_decorative": DECORATION if asset.is_decorative else WORDS,
        "description": asset.description,
        "categories": asset.categories,
        "focal_x": _hundredths(asset.focal_x),
        "focal_y": _hundredths(asset.focal_y),
    }


def _hundredths(fraction: float | None) -> float | None:
    return None if fraction is None else round(fraction * 100, 2)
