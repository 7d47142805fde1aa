"""Template tags and filters for modules and pages, and for the scripts of pages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, tzinfo
from functools import lru_cache
from typing import Any

from django import template
from django.conf import settings
from django.template.defaultfilters import date
from django.utils.safestring import SafeString, mark_safe
from django.utils.timezone import get_current_timezone, is_aware, localtime
from django.utils.translation import get_language, to_locale

from proofroom.definitions.richtext import schema
from proofroom.definitions.richtext.html import to_html

register = template.Library()

# The same escapes as in Django's `json_script`.
_SCRIPT_ESCAPES = {">": "\\u003E", "<": "\\u003C", "&": "\\u0026"}


@register.filter
def richtext(document: object, heading_ids: object = None) -> SafeString:
    """Return a rich-text document as HTML, or an empty string for other values.

    Headings get ids if the page's set of ids is given, and start at level 2, because the page's title is the
    only `h1`.
    """
    html = to_html(document, heading_ids=heading_ids if isinstance(heading_ids, set) else None)
    # All text is escaped, so these strings can only be tags.
    html = html.replace("<h1", "<h2").replace("</h1>", "</h2>")
    return mark_safe(html)  # noqa: S308 the renderer escapes every text


@register.filter
def has_text(document: object) -> bool:
    """Return whether a rich-text document has content."""
    content = document.get("content") if isinstance(document, dict) else None
    return bool(content) and content != [{"type": "paragraph"}]


@register.filter
def href(value: object) -> str:
    """Return the URL if it is safe, else an empty string. Stored links may be older than the rule."""
    return schema.safe_href(value) or "" if isinstance(value, str) else ""


@register.filter
def lookup(mapping: object, key: object) -> object:
    """Return `mapping[key]`, or None."""
    return mapping.get(key) if isinstance(mapping, Mapping) else None


@register.filter
def stars(rating: object) -> str:
    """Return a rating from 1 to 5 as stars, or an empty string for other values."""
    if not isinstance(rating, int) or isinstance(rating, bool) or not 1 <= rating <= 5:
        return ""
    return "★" * rating + "☆" * (5 - rating)


@register.filter
def cached_date(moment: Any, form: str) -> str:
    """Return the same as the filter `date`. Cached, because lists and pages repeat the same moments."""
    if not isinstance(moment, datetime):
        return date(moment, form)
    return _format_date(moment, form, get_language(), get_current_timezone())


@lru_cache(maxsize=2000)
def _format_date(moment: datetime, form: str, language: str | None, zone: tzinfo) -> str:
    return date(localtime(moment, zone) if is_aware(moment) else moment, form)


@register.filter
def og_locale(locale: str) -> str:
    """Return a locale in Open Graph format: `pt_BR`."""
    return to_locale(locale)


@register.filter
def json_ld(value: object) -> SafeString:
    """Return structured data for a `script` element of type application/ld+json, escaped so that it can't end the
    element."""
    text = json.dumps(value, ensure_ascii=False)
    for char, escape in _SCRIPT_ESCAPES.items():
        text = text.replace(char, escape)
    return mark_safe(text)  # noqa: S308 characters that could end the element are escaped


@register.inclusion_tag("site/scripts.html")
def site_scripts(is_uncounted: object = None, submission: object = None) -> dict[str, object]:
    """Return the context of a page's scripts: staff detection, and visit counting if enabled.

    The response to a form belongs to the same visit and is not counted as a view.
    """
    env = settings.CMS_ENV
    return {
        "is_tracked": env.analytics_tracking and not is_uncounted,
        "is_answer": bool(submission),
        "batch": env.analytics_batch,
        "seconds": env.analytics_batch_seconds,
        "asks_consent": env.analytics_consent,
    }


@register.simple_tag
def asks_for_consent(is_uncounted: object = None) -> bool:
    """Return whether the page asks visitors for consent before counting them. Previews don't count."""
    env = settings.CMS_ENV
    return env.analytics_tracking and env.analytics_consent and not is_uncounted
