"""A form field for a model of any provider, with suggestions."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy

from agents_app.ai_settings import ai_settings, providers
from agents_app.models.evaluation import MODEL_MAX
from agents_app.providers.prices import price_list


def suggested_models() -> list[str]:
    """Return the models of usable text providers as `provider:model`: the defaults, and all with a price."""
    usable = [one for one in providers(ai_settings()) if one.kind == "text" and one.is_configured]
    priced = price_list().text
    return sorted(
        {
            f"{one.id}:{name}"
            for one in usable
            for name in (one.default_model, *priced.get(one.id, ()))
            if name
        }
    )


class ModelInput(forms.TextInput):
    """A text field that suggests models. Other models can be typed."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        list_id = f"{name}-models"
        field = super().render(name, value, {**(attrs or {}), "list": list_id}, renderer)
        options = format_html_join(
            "", '<option value="{}"></option>', ((model,) for model in suggested_models())
        )
        return format_html('{}<datalist id="{}">{}</datalist>', field, list_id, options)


def model_field() -> forms.CharField:
    return forms.CharField(
        label=gettext_lazy("Model"),
        required=False,
        max_length=MODEL_MAX,
        widget=ModelInput,
        help_text=gettext_lazy(
            "Provider and model, such as openai:gpt-4.1-mini. Leave blank for the current model."
        ),
    )
