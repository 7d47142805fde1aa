"""The languages of the content, as people call them."""

from __future__ import annotations

from django.conf import settings
from django.utils.translation import get_language_info


def language_name(locale: str) -> str:
    """In the language of the admin; the code itself for one that nobody named."""
    try:
        return str(get_language_info(locale)["name_translated"])
    except KeyError:
        return locale


def other_languages() -> list[tuple[str, str]]:
    """Code and name of each language but the default one."""
    env = settings.CMS_ENV
    return [
        (locale, language_name(locale)) for locale in env.locales if locale != env.default_locale
    ]
