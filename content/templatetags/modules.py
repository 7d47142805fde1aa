"""Template tags and filters for modules and pages, and the scripts that pages load."""

from __future__ import annotations

import json
from collections.abc import Mapping

from django import template
from django.conf import settings
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import to_locale

from proofroom.definitions.richtext import schema
from proofroom.definitions.richtext.html import to_html

register = template.Library()

_SCRIPT_ESCAPES = {ord(">"): "\\u003E", ord("<"): "\\u003C", ord("&"): "\\u0026"}


@register.filter
def richtext(document: object, heading_ids: object = None) -> SafeString:
    """A rich-text document as HTML; nothing for what is no document.

    Headings get ids where the page's set of ids is given, and begin at level 2: the page's title is
    the only `h1`.
    """
    html = to_html(document, heading_ids=heading_ids if isinstance(heading_ids, set) else None)
    # Every text is escaped, so these can only be tags.
    html = html.replace("<h1", "<h2").replace("</h1>", "</h2>")
    return mark_safe(html)  # noqa: S308 the renderer escapes every text


@register.filter
def has_text(document: object) -> bool:
    """Return whether a rich-text document shows anything."""
    content = document.get("content") if isinstance(document, dict) else None
    return bool(content) and content != [{"type": "paragraph"}]


@register.filter
def href(value: object) -> str:
    """The address if it is safe to follow, else nothing: a stored link can be older than the rule."""
    return schema.safe_href(value) or "" if isinstance(value, str) else ""


@register.filter
def lookup(mapping: object, key: object) -> object:
    """`mapping[key]`, or None."""
    return mapping.get(key) if isinstance(mapping, Mapping) else None


@register.filter
def stars(rating: object) -> str:
    """One to five as stars; nothing for what is no such number."""
    if not isinstance(rating, int) or isinstance(rating, bool) or not 1 <= rating <= 5:
        return ""
    return "★" * rating + "☆" * (5 - rating)


@register.filter
def og_locale(locale: str) -> str:
    """A locale as Open Graph writes it: `pt_BR`."""
    return to_locale(locale)


@register.filter
def json_ld(value: object) -> SafeString:
    """Structured data for a `script` element of type application/ld+json, which it cannot leave."""
    text = json.dumps(value, ensure_ascii=False).translate(_SCRIPT_ESCAPES)
    return mark_safe(text)  # noqa: S308 no character is left that could end the element


@register.inclusion_tag("site/scripts.html")
def site_scripts(is_uncounted: object = None, submission: object = None) -> dict[str, object]:
    """Return what a page loads: the lines that look for staff, and what counts visits where that is switched on.

    The answer to a form is part of the visit that sent it: it is no view of its own.
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
    """Return whether the page asks its visitors before it counts them. A preview counts nobody."""
    env = settings.CMS_ENV
    return env.analytics_tracking and env.analytics_consent and not is_uncounted
