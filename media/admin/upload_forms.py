"""The upload form, and fields shared by the forms about files."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

MOST_FILES = 20
IMAGE_KINDS = "image/jpeg,image/png,image/webp,image/gif,image/avif"
RECORDING_KINDS = (
    "video/mp4,video/webm,video/quicktime,"
    "audio/mpeg,audio/mp4,audio/x-m4a,audio/ogg,audio/wav,audio/webm"
)
KINDS = f"{IMAGE_KINDS},application/pdf,{RECORDING_KINDS}"


class CategoriesField(forms.CharField):
    """Words separated by commas, as a list."""

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> list[str]:
        return str(super().clean(value)).split(",")


class DescriptionForm(forms.Form):
    alt_text = forms.CharField(
        label=gettext_lazy("Alt text"),
        max_length=500,
        required=False,
        help_text=gettext_lazy("Describe what the image shows, for people who cannot see it."),
    )
    categories = CategoriesField(
        label=gettext_lazy("Categories"),
        required=False,
        help_text=gettext_lazy("Separate with commas."),
    )


def file_field(help_text: Any) -> forms.FileField:
    return forms.FileField(
        label=gettext_lazy("File"),
        widget=forms.FileInput(attrs={"accept": KINDS}),
        max_length=1000,
        help_text=help_text,
    )


class FilesInput(forms.FileInput):
    """A file input for several files."""

    allow_multiple_selected = True


class FilesField(forms.FileField):
    """A list of files."""

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        given = data if isinstance(data, list | tuple) else [data]
        if len(given) > MOST_FILES:
            raise forms.ValidationError(
                _("At most %(number)s files at once.") % {"number": MOST_FILES}
            )
        return [super(FilesField, self).clean(one, initial) for one in given]


class UploadForm(DescriptionForm):
    file = FilesField(
        label=gettext_lazy("Files"),
        widget=FilesInput(attrs={"accept": KINDS}),
        max_length=1000,
        help_text=format_lazy(
            "{most} {camera} {words}",
            most=gettext_lazy(
                "Up to 20 files: images (JPEG, PNG, WebP, GIF, AVIF), PDF, videos (MP4, WebM) "
                "or audio (MP3, M4A, Ogg, WAV)."
            ),
            camera=gettext_lazy("Camera data, such as location, is removed."),
            words=gettext_lazy("For several files, add alt text on each file’s page."),
        ),
    )
    field_order = ("file", "alt_text", "categories")

    def clean(self) -> dict[str, Any]:
        """Refuse an alternative text for several files."""
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("alt_text") and len(cleaned.get("file") or ()) > 1:
            self.add_error("alt_text", _("For several files, add alt text on each file’s page."))
        return cleaned
