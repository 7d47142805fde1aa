"""Tags for the privacy page of a site: `{% cookie_list %}` and `{% counting_text %}`."""

from __future__ import annotations

from typing import Any, TypedDict

from django import template

from proofroom.core.privacy.browser_storage import Audience
from proofroom.core.privacy.declarations import stored_items
from proofroom_apps.privacy.presenters import STORAGE_LABELS, lifetime_of
from proofroom_apps.website import consent

register = template.Library()


class CookieRow(TypedDict):
    name: str
    kind: str
    purpose: str
    when: str
    lifetime: str


@register.inclusion_tag("site/cookie_list.html")
def cookie_list(with_staff: bool = False) -> dict[str, Any]:
    """Show what the site stores in browsers of visitors, and with `with_staff` of people who log in."""
    return {"rows": cookie_rows(with_staff=with_staff)}


def cookie_rows(*, with_staff: bool) -> list[CookieRow]:
    """Return the rows in the active language, rows of visitors first."""
    found = sorted(stored_items(), key=lambda item: item.audience == Audience.STAFF)
    return [
        {
            "name": item.title,
            "kind": str(STORAGE_LABELS[item.kind]),
            "purpose": str(item.purpose),
            "when": str(item.when),
            "lifetime": lifetime_of(item),
        }
        for item in found
        if with_staff or item.audience == Audience.VISITORS
    ]


@register.simple_tag
def counting_text() -> str:
    """Return in a sentence what the site counts of its visitors."""
    return consent.counting_text()
