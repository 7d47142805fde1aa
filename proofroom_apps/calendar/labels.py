"""The label of an entry of the calendar, and the page that it opens."""

from __future__ import annotations

from typing import Final

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from proofroom_apps.calendar.entries import CalendarEntry, EntryKind
from proofroom_apps.editorial.posts.post_pages import post_url

LABELS: Final[dict[EntryKind, Promise]] = {
    "publication": gettext_lazy("Publication"),
    "expiry": gettext_lazy("Unpublished"),
    "release": gettext_lazy("Release"),
    "due": gettext_lazy("Due"),
}


def label_of(entry: CalendarEntry) -> str:
    """Return what happens, in a word. A due step is named."""
    if entry.source == "changes":
        return _("Changes")
    if entry.source == "step":
        return _("Due: %(step)s") % {"step": entry.step}
    return str(LABELS[entry.kind])


def url_of(entry: CalendarEntry) -> str:
    """Return the page where the entry is changed."""
    post_id = str(entry.post_id)
    if entry.source == "release":
        return reverse("admin:proofroom_releases_release_change", args=[entry.id])
    if entry.source == "comment" and entry.asset_id is not None:
        return reverse("admin:file-comments", args=[entry.asset_id])
    if entry.source == "comment":
        return post_url("comments", post_id)
    if entry.source == "step":
        return post_url("steps", post_id)
    if entry.source == "changes":
        return f"{post_url('review', post_id)}?layer=review#schedule"
    return post_url("change", post_id)
