"""A list of a form's invalid fields, shown above the form."""

from __future__ import annotations

from typing import Final

from django import template
from django.forms import BaseForm

register = template.Library()

_SHORT: Final = 3
"""Forms with fewer fields than this don't need the list."""


@register.filter
def to_correct(form: BaseForm) -> list[tuple[str, str]]:
    """Return the invalid fields as pairs of element id and label."""
    fields = form.visible_fields()
    if len(fields) < _SHORT:
        return []
    return [
        (field.id_for_label or str(field.auto_id), str(field.label))
        for field in fields
        if field.errors
    ]
