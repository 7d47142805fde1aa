"""The language of the templates' own words."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path

from django.conf import settings
from django.utils import translation
from django.utils.translation import to_locale

_OWN = Path(__file__).parent / "locale"


def use_template_language(locale: str) -> AbstractContextManager[None]:
    """Templates speak the language of the locale here, or English where nobody has translated their words.

    Without that, single words would come from catalogues that were made for other pages.
    """
    return translation.override(_language_of(locale))


@cache
def _language_of(locale: str) -> str:
    folders = [*map(Path, settings.LOCALE_PATHS), _OWN]
    names = (to_locale(locale), locale.partition("-")[0])
    is_translated = any(
        (folder / name / "LC_MESSAGES" / "django.mo").is_file()
        for folder in folders
        for name in names
    )
    return locale if is_translated else "en"
