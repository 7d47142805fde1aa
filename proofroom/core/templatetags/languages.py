"""Names of languages in templates."""

from __future__ import annotations

from django import template

from proofroom.core.i18n.languages import language_name

register = template.Library()
register.filter("language_name", language_name)
