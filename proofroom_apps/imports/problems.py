"""Errors of source items as sentences for a report."""

from __future__ import annotations

from django.utils.translation import gettext as _

from proofroom.core.errors import CmsError


def sentence_of(error: Exception) -> str:
    """Return why an item could not be read or stored."""
    if isinstance(error, CmsError):
        return error.message
    if isinstance(error, RecursionError):
        return _("The content is nested too deeply.")
    if isinstance(error, UnicodeError):
        return _("The content has a character that cannot be stored.")
    return _("The content cannot be read: %(why)s") % {
        "why": f"{type(error).__name__}: {str(error)[:300]}"
    }


def storable(text: str) -> str:
    """Return the text without NUL and lone surrogates, which databases and terminals refuse."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode()
