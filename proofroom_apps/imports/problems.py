"""What went wrong with an item of a source, as a report says it."""

from __future__ import annotations

from django.utils.translation import gettext as _

from proofroom.core.errors import CmsError


def sentence_of(error: Exception) -> str:
    """Why an item could not be read or stored."""
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
    """The text without what no database and no terminal takes: NUL and halves of characters."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode()
