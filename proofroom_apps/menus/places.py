"""The places of menus on pages of the site."""

from __future__ import annotations

from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

MENU_PLACES: Final[dict[str, Promise]] = {
    "main": gettext_lazy("Header"),
    "footer": gettext_lazy("Footer"),
}
"""The menus that the templates of the site ask for, by slug. Pages show no others."""
