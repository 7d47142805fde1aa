"""The forms of one file in the admin."""

from __future__ import annotations

from typing import Any

from django import forms

from media.describing import FocalPoint
from media.models import Asset

MOST_FILES = 20
KINDS = "image/jpeg,image/png,image/webp,image/gif,image/avif,application/pdf"


class CategoriesField(forms.CharField):
    """Words between commas, as a list."""

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> list[str]:
        return str(super().clean(value)).split(",")


class DescriptionForm(forms.Form):
    alt_text = forms.CharField(
        label="Alternative text",
        max_length=500,
        required=False,
        help_text="What the image shows, for those who cannot see it. Empty for mere decoration.",
    )
    categories = CategoriesField(required=False, help_text="Separated by commas.")


def file_field(help_text: str) -> forms.FileField:
    return forms.FileField(
        widget=forms.FileInput(attrs={"accept": KINDS}), max_length=1000, help_text=help_text
    )


class FilesInput(forms.FileInput):
    """Takes several files."""

    allow_multiple_selected = True


class FilesField(forms.FileField):
    """A list of files."""

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        given = data if isinstance(data, list | tuple) else [data]
        if len(given) > MOST_FILES:
            raise forms.ValidationError(f"At most {MOST_FILES} files at once.")
        return [super(FilesField, self).clean(one, initial) for one in given]


class UploadForm(DescriptionForm):
    file = FilesField(
        label="Files",
        widget=FilesInput(attrs={"accept": KINDS}),
        max_length=1000,
        help_text=(
            f"One or several, at most {MOST_FILES}: JPEG, PNG, WebP, GIF, AVIF or PDF. "
            "Data of the camera, such as the place, is removed. "
            "With several, say what each shows on its own page."
        ),
    )
    field_order = ("file", "alt_text", "categories")

    def clean(self) -> dict[str, Any]:
        """Words about one image are not those about another."""
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("alt_text") and len(cleaned.get("file") or ()) > 1:
            self.add_error("alt_text", "Several files: say what each shows on its own page.")
        return cleaned


def _percent(label: str, help_text: str) -> forms.FloatField:
    widget = forms.NumberInput(attrs={"step": "0.1", "inputmode": "decimal"})
    return forms.FloatField(
        label=label, min_value=0, max_value=100, required=False, widget=widget, help_text=help_text
    )


class EditForm(DescriptionForm):
    description = forms.CharField(
        max_length=2000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Notes for those who look for files: source, rights, what else is worth knowing.",
    )
    focal_x = _percent(
        "Focal point from the left, in %", "What stays in sight where it is cropped."
    )
    focal_y = _percent("Focal point from the top, in %", "Both empty: the middle.")
    field_order = ("alt_text", "description", "categories", "focal_x", "focal_y")

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        for field in self.fields.values():
            field.show_hidden_initial = True

    def clean(self) -> dict[str, Any]:
        """The two numbers become `focal_point`."""
        cleaned = super().clean() or self.cleaned_data
        across, down = cleaned.pop("focal_x", None), cleaned.pop("focal_y", None)
        if (across is None) != (down is None) and not self.errors:
            self.add_error("focal_x", "The focal point needs both numbers, or none.")
        point: FocalPoint | None = None
        if across is not None and down is not None:
            point = (across / 100, down / 100)
        return self._only_changed({**cleaned, "focal_point": point})

    def _only_changed(self, cleaned: dict[str, Any]) -> dict[str, Any]:
        """Without what the page showed: somebody else may have written there since. Where both did, it is refused."""
        if not self._is_shown():
            return cleaned
        kept = {
            name for name in self.fields if self._shown(name) == self._value(name, self.data[name])
        }
        shown: dict[str, Any] = {name: self.data[name] for name in self.data}
        for name in self.fields.keys() - kept:
            present = self.fields[name].prepare_value(self.initial.get(name))
            if self._shown(name) == self._value(name, present):
                continue
            shown[f"initial-{name}"] = "" if present is None else present
            is_now = "empty" if present in (None, "") else f"“{present}”"
            self.add_error(
                name, f"Somebody changed this meanwhile: it is {is_now} now. Save again for yours."
            )
        self.data = shown
        if {"focal_x", "focal_y"} <= kept:
            kept.add("focal_point")
        return {name: value for name, value in cleaned.items() if name not in kept}

    def _is_shown(self) -> bool:
        return all(name in self.data and f"initial-{name}" in self.data for name in self.fields)

    def _shown(self, name: str) -> object:
        return self._value(name, self.data[f"initial-{name}"])

    def _value(self, name: str, raw: object) -> object:
        """What a field reads, however lines end; what it cannot read, as it is."""
        try:
            value = self.fields[name].to_python(raw)
        except forms.ValidationError:
            return raw
        return value.replace("\r\n", "\n") if isinstance(value, str) else value


class ReplaceForm(forms.Form):
    file = file_field("Also of another type. Every place that uses the file shows the new one.")


class DeleteForm(forms.Form):
    """A file in use is only deleted by somebody who says so."""

    force = forms.BooleanField(
        label="Delete it although it is in use. These places then show no image.", required=False
    )

    def __init__(self, *args: Any, is_used: bool, **more: Any) -> None:
        super().__init__(*args, **more)
        if not is_used:
            del self.fields["force"]


def initial_of(asset: Asset) -> dict[str, Any]:
    """What the form of a file starts with."""
    return {
        "alt_text": asset.alt_text,
        "description": asset.description,
        "categories": asset.categories,
        "focal_x": _hundredths(asset.focal_x),
        "focal_y": _hundredths(asset.focal_y),
    }


def _hundredths(fraction: float | None) -> float | None:
    return None if fraction is None else round(fraction * 100, 2)
