"""Slugs of new titles and names. With TRANSLITERATE_SLUGS they have no accents; entered slugs stay as they are."""

from __future__ import annotations

from django.conf import settings

from proofroom.core.slugs import SLUG_LENGTH, ascii_slug_of, slug_of, transliterate


def slug_of_title(title: str, locale: str, limit: int = SLUG_LENGTH) -> str:
    """Return the slug for a new title or name; `post` if it has no words."""
    return slug_of(_transliterate_if_set(title, locale), limit)


def ascii_slug_of_title(title: str, locale: str, limit: int) -> str:
    """Return the slug of a to z and digits for a new title or name; empty if it has none of them."""
    return ascii_slug_of(_transliterate_if_set(title, locale), limit)


def _transliterate_if_set(title: str, locale: str) -> str:
    return transliterate(title, locale) if settings.CMS_ENV.transliterate_slugs else title
