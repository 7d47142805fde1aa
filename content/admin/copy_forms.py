"""The forms that make a translation, a variation, a preview link."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings

from content.models.post import VARIATION_MAX
from content.models.preview import PREVIEW_LAYERS
from content.services.previews import LONGEST_HOURS, USUAL_HOURS
from content.services.vary import USUAL_WEIGHT


class TranslationForm(forms.Form):
    locale = forms.ChoiceField(label="Language")
    slug = forms.CharField(
        label="Slug", max_length=200, required=False, help_text="Empty: the same."
    )

    def __init__(self, *args: Any, taken: set[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        found = self.fields["locale"]
        if isinstance(found, forms.ChoiceField):
            free = [locale for locale in settings.CMS_ENV.locales if locale not in taken]
            found.choices = [(locale, locale) for locale in free]


class WeightForm(forms.Form):
    weight = forms.IntegerField(
        label="Share of the visitors (%)", initial=USUAL_WEIGHT, min_value=1, max_value=100
    )


class VariationForm(WeightForm):
    variation = forms.CharField(
        label="Name", max_length=VARIATION_MAX, help_text="Like B. The original is called A."
    )
    field_order = ("variation", "weight")


class PreviewForm(forms.Form):
    layer = forms.ChoiceField(label="Layer", choices=PREVIEW_LAYERS)
    expiresInHours = forms.IntegerField(
        label="Hours", initial=USUAL_HOURS, min_value=1, max_value=LONGEST_HOURS
    )
