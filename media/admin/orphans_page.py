"""Files that nothing knows: listed once more, as they are now, and deleted when a person says so."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from media.models import Asset
from media.services.orphans import Deleted, delete_orphans, last_check, orphans
from proofroom.core.admin.form_pages import form_page
from proofroom.core.admin.permissions import actor_of, answers_refusals, require
from proofroom.core.errors import CmsError


@answers_refusals
def orphans_page(request: HttpRequest) -> HttpResponse:
    """GET lists what would be deleted and what would stay, POST deletes what was listed."""
    require(request, "media.delete")
    back = reverse("admin:media_asset_check")
    if request.method == "POST":
        try:
            done = delete_orphans(names=request.POST.getlist("names"), actor=actor_of(request))
        except CmsError as error:
            if error.status in (403, 404):
                raise
            messages.error(request, error.message)
            return HttpResponseRedirect(request.path)
        _tell(request, done)
        return HttpResponseRedirect(back)
    found = orphans(last_check())
    old = [orphan for orphan in found if orphan.is_old]
    if not found:
        messages.info(request, _("No file is left that nothing knows. Check again to be sure."))
        return HttpResponseRedirect(back)
    context = {
        "orphans": old,
        "kept": [orphan for orphan in found if not orphan.is_old],
        "back": back,
    }
    text = ngettext(
        "Delete %(n)s file that nothing knows?", "Delete %(n)s files that nothing knows?", len(old)
    )
    title = text % {"n": len(old)} if old else _("Nothing can be deleted yet")
    return form_page(request, "admin/media/orphans.html", Asset, context, title=title)


def _tell(request: HttpRequest, done: Deleted) -> None:
    if done.names:
        text = ngettext("%(n)s file is deleted.", "%(n)s files are deleted.", len(done.names))
        messages.success(request, text % {"n": len(done.names)})
    if done.kept:
        text = ngettext(
            "%(n)s file was left: it changed within a day, is known by now, or is gone already.",
            "%(n)s files were left: they changed within a day, are known by now, or are gone already.",
            len(done.kept),
        )
        messages.warning(request, text % {"n": len(done.kept)})
