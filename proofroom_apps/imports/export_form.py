"""The form that chooses the content of an export."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.utils.translation import gettext_lazy

from content.archive.selection import find_posts_named
from proofroom.core.errors import RuleViolation
from proofroom.core.i18n.languages import site_languages
from proofroom.definitions import post_types

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise


def _lines_field(label: StrPromise, help_text: StrPromise) -> forms.CharField:
    return forms.CharField(
        label=label,
        required=False,
        max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=help_text,
    )


class ExportForm(forms.Form):
    sections = _lines_field(
        gettext_lazy("Sections"),
        gettext_lazy("Posts with all posts below them, one per line: address, slug or ID."),
    )
    posts = _lines_field(
        gettext_lazy("Individual posts"), gettext_lazy("One per line: address, slug or ID.")
    )
    post_types = forms.MultipleChoiceField(
        label=gettext_lazy("Post types"), required=False, widget=forms.CheckboxSelectMultiple
    )
    locales = forms.MultipleChoiceField(
        label=gettext_lazy("Languages"),
        required=False,
        choices=site_languages,
        widget=forms.CheckboxSelectMultiple,
    )
    changed_since = forms.DateField(
        label=gettext_lazy("Changed since"),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
    )
    published_only = forms.BooleanField(
        label=gettext_lazy("Published content only"),
        required=False,
        help_text=gettext_lazy("Leaves out drafts and changes in Review."),
    )
    revisions = forms.BooleanField(label=gettext_lazy("Include revisions"), required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        types = cast(forms.MultipleChoiceField, self.fields["post_types"])
        types.choices = [(one.name, str(one.label_plural)) for one in post_types]

    def _names(self, field: str) -> list[str]:
        names = [line.strip() for line in self.cleaned_data[field].splitlines() if line.strip()]
        for name in names:
            try:
                # Checked here, so that the error is at its field instead of in a failed run.
                find_posts_named(name)
            except RuleViolation as error:
                raise forms.ValidationError(error.message) from None
        return names

    def clean_posts(self) -> list[str]:
        return self._names("posts")

    def clean_sections(self) -> list[str]:
        return self._names("sections")
