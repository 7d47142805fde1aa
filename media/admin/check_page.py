"""Admin pages that request a comparison of files with the storage, and delete orphaned files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from media.integrity import request_check
from media.models import Asset, FileCheck
from media.queries import filter_failed, load_assets
from media.scopes import filter_visible_assets, visible_assets
from media.services.orphans import delete_orphans, last_check, orphans
from media.services.variants import request_variants
from proofroom.core.actor import Actor
from proofroom.core.admin.form_pages import form_page
from proofroom.core.admin.permissions import actor_of, require, service_errors_as_http
from proofroom.core.errors import CmsError

_MAX_SHOWN: Final = 50


@dataclass(frozen=True, slots=True)
class MissingFiles:
    """A file with missing files in the storage. Sizes can be generated again, the original can't."""

    asset: Asset
    names: Sequence[str]

    @property
    def is_original(self) -> bool:
        return self.asset.file.name in self.names

    @property
    def themes(self) -> Sequence[str]:
        dark = set(self.asset.dark_variants.values())
        return sorted({"dark" if name in dark else "light" for name in self.names})


def check_page(request: HttpRequest) -> HttpResponse:
    """GET shows the last check, POST requests another; with `repair`, missing sizes are generated again."""
    require(request, "media.edit")
    actor = actor_of(request)
    finished = FileCheck.objects.filter(finished_at__isnull=False).first()
    if request.method == "POST":
        if "repair" in request.POST:
            requested = 0
            for lack in [lack for lack in _lacks(finished, actor) if not lack.is_original][
                :_MAX_SHOWN
            ]:
                try:
                    for theme in lack.themes:
                        request_variants(asset_id=lack.asset.pk, theme=theme, actor=actor)
                    requested += 1
                except CmsError as error:
                    values = {"name": lack.asset.filename, "reason": error.message}
                    messages.error(request, _("%(name)s: %(reason)s") % values)
            if requested:
                text = ngettext(
                    "Generating sizes for %(n)s file. Check again when this is done.",
                    "Generating sizes for %(n)s files. Check again when this is done.",
                    requested,
                )
                messages.success(request, text % {"n": requested})
        else:
            request_check(actor=actor)
            messages.success(request, _("Checking files…"))
        return HttpResponseRedirect(request.path)
    newest = FileCheck.objects.first()
    lacks = _lacks(finished, actor)
    context = {
        "is_waiting": newest is not None and newest.finished_at is None,
        "check": finished,
        "lacks": lacks,
        "repairable": sum(not lack.is_original for lack in lacks[:_MAX_SHOWN]),
        "failed": list(filter_failed(visible_assets(Asset.objects.all(), actor))[:_MAX_SHOWN]),
        "is_whole": finished is not None
        and not (finished.missing_count or finished.orphaned_count),
    }
    title = _("Check files")
    return form_page(request, "admin/media/check.html", Asset, context, title=title)


def _lacks(check: FileCheck | None, actor: Actor) -> list[MissingFiles]:
    """Return the missing files of the check by asset. Assets deleted since are left out."""
    if check is None:
        return []
    missing: dict[str, list[str]] = {}
    for asset_id, name in check.missing:
        missing.setdefault(str(asset_id), []).append(name)
    there = filter_visible_assets(load_assets(missing), actor)
    return [MissingFiles(there[id_], names) for id_, names in missing.items() if id_ in there]


@service_errors_as_http
def orphans_page(request: HttpRequest) -> HttpResponse:
    """GET lists files to delete and to keep, POST deletes the listed ones."""
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
        if done.names:
            text = ngettext("Deleted %(n)s file.", "Deleted %(n)s files.", len(done.names))
            messages.success(request, text % {"n": len(done.names)})
        if done.kept:
            text = ngettext(
                (
                    "Kept %(n)s file: it was changed in the last day, is in the "
                    "library now, or was already deleted."
                ),
                (
                    "Kept %(n)s files: they were changed in the last day, are in the "
                    "library now, or were already deleted."
                ),
                len(done.kept),
            )
            messages.warning(request, text % {"n": len(done.kept)})
        return HttpResponseRedirect(back)
    found = orphans(last_check())
    old = [orphan for orphan in found if orphan.is_old]
    if not found:
        messages.info(request, _("No orphaned files left. Check again to be sure."))
        return HttpResponseRedirect(back)
    context = {
        "orphans": old,
        "kept": [orphan for orphan in found if not orphan.is_old],
        "back": back,
    }
    text = ngettext("Delete %(n)s orphaned file?", "Delete %(n)s orphaned files?", len(old))
    title = text % {"n": len(old)} if old else _("Nothing to delete yet")
    return form_page(request, "admin/media/orphans.html", Asset, context, title=title)
