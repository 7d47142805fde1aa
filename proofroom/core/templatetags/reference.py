"""Texts of the OpenAPI document in the reference page."""

from __future__ import annotations

import re

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

register = template.Library()


@register.filter
def marked(text: str) -> SafeString:
    """Return a text with `code` and **strong** as HTML, all else escaped."""
    found = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
    found = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", found)
    return mark_safe(found)  # noqa: S308  # escaped above


@register.filter
def paragraphs(text: str) -> list[str]:
    return text.split("\n\n")
