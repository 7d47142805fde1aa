"""Bulk actions: delete files or change their categories, after a confirmation page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from media.admin.file_choice import choice_of
from media.admin.library import FileTile
from media.admin.upload_forms import CategoriesField
from media.models import Asset
from media.queries import annotate_use_counts
from media.services.files import delete_asset
from media.services.update import categorize
from proofroom.core.admin.form_pages import form_page, save_form
from proofroom.core.admin.permissions import actor_of, require, service_errors_as_http
from proofroom.core.errors import CmsError
from proofroom.core.validation.input_validation import parse_uuids

MAX_FILES: Final = 100


class DeleteManyForm(forms.Form):
    force = forms.BooleanField(
        label=gettext_lazy("Also delete files in use. Places that use them will show no image."),
        required=False,
    )

    def __init__(self, *args: Any, is_used: bool, **more: Any) -> None:
        super().__init__(*args, **more)
        if not is_used:
            del self.fields["force"]


class CategorizeForm(forms.Form):
    add = CategoriesField(
        label=gettext_lazy("Add categories"),
        required=False,
        help_text=gettext_lazy("Separate with commas."),
    )
    remove = CategoriesField(
        label=gettext_lazy("Remove categories"),
        required=False,
        help_text=gettext_lazy("Separate with commas."),
    )


@service_errors_as_http
def bulk_page(request: HttpRequest) -> HttpResponse:
    """Run the action `do` (`delete`, `categories` or `alt_texts`) on the files `ids`, after confirmation with
    `confirmed`."""
    require(request, "media.edit", "media.delete")
    doing = request.POST.get("do", "")
    ids = parse_uuids(request.POST.getlist("ids"))
    # The list with its filters, if the form names it. Checked, because the value could redirect to another
    # site.
    back, home = request.POST.get("back", ""), reverse("admin:media_asset_changelist")
    is_ours = url_has_allowed_host_and_scheme(back, allowed_hosts=None)
    back = back if is_ours and back.startswith(home) else home
    if len(ids) > MAX_FILES:
        messages.error(request, _("At most %(number)s files at once.") % {"number": MAX_FILES})
        return HttpResponseRedirect(back)
    if doing == "alt_texts" and ids:
        chosen = urlencode({"ids": ids}, doseq=True)
        return HttpResponseRedirect(f"{reverse('admin:media_asset_alt_texts')}?{chosen}")
    if doing not in ("delete", "categories") or not ids:
        if request.method == "POST":
            messages.warning(request, _("Select files first, then an action."))
        return HttpResponseRedirect(back)
    rows = annotate_use_counts(Asset.objects.filter(pk__in=ids), actor_of(request)).order_by(
        "filename", "pk"
    )
    tiles = [FileTile(choice_of(asset), asset.uses) for asset in rows]  # type: ignore[attr-defined]
    page = _delete_files if doing == "delete" else _categorize_files
    return page(request, tiles, back)


def _delete_files(request: HttpRequest, tiles: Sequence[FileTile], back: str) -> HttpResponse:
    require(request, "media.delete")
    used = [tile for tile in tiles if tile.uses]
    is_confirmed = "confirmed" in request.POST
    form = DeleteManyForm(request.POST if is_confirmed else None, is_used=bool(used))
    if is_confirmed and form.is_valid():
        force = bool(form.cleaned_data.get("force"))
        deleted = 0
        for tile in tiles:
            try:
                delete_asset(asset_id=tile.asset.pk, actor=actor_of(request), force=force)
                deleted += 1
            except CmsError as error:
                # A file that can't be deleted doesn't stop the others.
                named = {"name": tile.asset.filename, "reason": error.message}
                messages.warning(request, _("Could not delete %(name)s. %(reason)s") % named)
        if deleted:
            message = ngettext("Deleted %(n)s file.", "Deleted %(n)s files.", deleted)
            messages.success(request, message % {"n": deleted})
        return HttpResponseRedirect(back)
    title = ngettext("Delete %(n)s file", "Delete %(n)s files", len(tiles)) % {"n": len(tiles)}
    return _page(request, tiles, back, form, title, {"doing": "delete", "used": len(used)})


def _categorize_files(request: HttpRequest, tiles: Sequence[FileTile], back: str) -> HttpResponse:
    require(request, "media.edit")
    form = CategorizeForm(request.POST if "confirmed" in request.POST else None)

    def save() -> object:
        ids = [tile.asset.pk for tile in tiles]
        return categorize(asset_ids=ids, actor=actor_of(request), **form.cleaned_data)

    if form.is_bound and save_form(form, save):
        message = ngettext("Saved %(n)s file.", "Saved %(n)s files.", len(tiles))
        messages.success(request, message % {"n": len(tiles)})
        return HttpResponseRedirect(back)
    title = ngettext(
        "Categories of %(n)s file", "Categories of %(n)s files", len(tiles)
    ) % {"n": len(tiles)}  # fmt: skip
    present = sorted({word for tile in tiles for word in tile.asset.categories})
    return _page(request, tiles, back, form, title, {"doing": "categories", "present": present})


def _page(
    request: HttpRequest,
    tiles: Sequence[FileTile],
    back: str,
    form: forms.Form,
    title: str,
    more: dict[str, Any],
) -> HttpResponse:
    context = {"tiles": tiles, "back": back, **more}
    return form_page(request, "admin/media/bulk.html", Asset, context, title=title, form=form)
