"""Lists the refused fields of a form, to be named above it."""

from __future__ import annotations

from typing import Final

from django import template
from django.forms import BaseForm

register = template.Library()

_SHORT: Final = 3
"""With fewer fields than this, nobody has to look for the one that is wrong."""


@register.filter
def to_correct(form: BaseForm) -> list[tuple[str, str]]:
    """The fields that were refused, as what a link leads to and its words."""
    fields = form.visible_fields()
    if len(fields) < _SHORT:
        return []
    return [
        (field.id_for_label or str(field.auto_id), str(field.label))
        for field in fields
        if field.errors
    ]
