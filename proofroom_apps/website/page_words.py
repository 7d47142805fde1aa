"""Words of the site's pages for frontends, from the same catalogues as the templates.

`visitor_text` is not extracted: its texts are in the catalogue of the pages (`locale/` of this app).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from django.utils.translation import gettext as visitor_text

_WORDS: Final[Mapping[str, str]] = {
    "skipToContent": "Skip to content",
    "mainMenu": "Main",
    "footer": "Footer",
    "breadcrumb": "Breadcrumb",
    "language": "Language",
    "search": "Search",
    "searchTerms": "Search terms",
    "searchThisSite": "Search this site",
    "pages": "Pages",
    "newer": "Newer",
    "older": "Older",
    "seeAll": "See all",
    "preview": "Preview",
    "continue": "Continue",
    "pageNotFound": "Page not found",
    "pageNotFoundText": (
        "There is no page at this address. It may have moved, or the address may be mistyped."
    ),
    "goToHomePage": "Go to the home page",
    "nothingPublished": "Nothing has been published here yet.",
    "required": "required",
    "pleaseChoose": "Please choose",
    "pleaseCorrect": "Please correct these fields:",
    "visitCounting": "Visit counting",
}
"""English texts of the templates by their names in the API."""


def page_words() -> dict[str, str]:
    """Return the words in the active language, by name."""
    return {name: visitor_text(text) for name, text in _WORDS.items()}
