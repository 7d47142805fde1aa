"""The forms that make a translation, a variation, a preview link."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy, ngettext

from content.models.post import VARIATION_MAX
from content.models.preview_link import PREVIEW_LAYERS
from content.previews.services import LONGEST_HOURS, USUAL_HOURS
from content.variations.services import USUAL_WEIGHT
from proofroom.core.i18n.languages import language_name


class TranslationForm(forms.Form):
    locale = forms.ChoiceField(label=gettext_lazy("Language"))
    slug = forms.CharField(
        label=gettext_lazy("Slug"),
        max_length=200,
        required=False,
        help_text=gettext_lazy("Empty: the same."),
    )

    def __init__(self, *args: Any, taken: set[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        found = self.fields["locale"]
        if isinstance(found, forms.ChoiceField):
            free = [locale for locale in settings.CMS_ENV.locales if locale not in taken]
            found.choices = [(locale, language_name(locale)) for locale in free]


class WeightForm(forms.Form):
    weight = forms.IntegerField(
        label=gettext_lazy("Share of the visitors (%)"),
        initial=USUAL_WEIGHT,
        min_value=1,
        max_value=100,
    )


class VariationForm(WeightForm):
    variation = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=VARIATION_MAX,
        help_text=gettext_lazy("Like B. The original is called A."),
    )
    field_order = ("variation", "weight")


def _hours() -> list[tuple[int, str]]:
    """For how long a link may open."""
    hours = [(n, ngettext("%(n)s hour", "%(n)s hours", n) % {"n": n}) for n in (1, 2, 8)]
    days = [(1, 24), (3, 72), (7, 168), (LONGEST_HOURS // 24, LONGEST_HOURS)]
    return [*hours, *((n, ngettext("%(n)s day", "%(n)s days", d) % {"n": d}) for d, n in days)]


class PreviewForm(forms.Form):
    layer = forms.ChoiceField(label=gettext_lazy("Layer"), choices=PREVIEW_LAYERS)
    expiresInHours = forms.TypedChoiceField(
        label=gettext_lazy("It ends after"), coerce=int, initial=USUAL_HOURS, choices=_hours
    )
