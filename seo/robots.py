"""`/robots.txt`: which addresses search engines leave alone, and where the sitemap is."""

from __future__ import annotations

from typing import Final

from django.conf import settings

from content.site.addresses import search_path

_MANAGEMENT: Final = ("/admin/", "/api/", "/preview/")


def robots_text(origin: str) -> str:
    """Everything but the management and the search pages; nothing at all where the site is to stay unknown."""
    if not settings.CMS_ENV.search_engines:
        return "User-agent: *\nDisallow: /\n"
    # The page alone and with words: others may begin like it.
    searches = [
        f"{search_path(locale)}{end}" for locale in settings.CMS_ENV.locales for end in "$?"
    ]
    lines = [f"Disallow: {path}" for path in (*_MANAGEMENT, *searches)]
    return "\n".join(["User-agent: *", *lines, "", f"Sitemap: {origin}/sitemap.xml", ""])
