"""Forms as the API answers them."""

from __future__ import annotations

from typing import Any

from forms.fields import HONEYPOT
from forms.models import FormDefinition

Wire = dict[str, Any]


def present_form(form: FormDefinition) -> Wire:
    """The form by the names of the wire."""
    return {
        "id": form.pk,
        "slug": form.slug,
        "locale": form.locale,
        "title": form.title,
        "description": form.description,
        "fields": form.fields,
        "submitLabel": form.submit_label,
        "successMessage": form.success_message,
        "redirectUrl": form.redirect_url or None,
        "honeypot": HONEYPOT,
        "version": form.version,
        "createdAt": form.created_at,
        "updatedAt": form.updated_at,
    }
