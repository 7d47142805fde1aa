"""Languages of content in words."""

from __future__ import annotations

from django import template

from core.words.languages import language_name

register = template.Library()
register.filter("language_name", language_name)
