"""Admin pages of one file: metadata, sizes, crop, replacement and deletion."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd
from typing import Any, Final
from uuid import UUID

from django.contrib import messages
from django.core.files.storage import default_storage
from django.forms import Form
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseNotAllowed,
    HttpResponseRedirect,
)
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from media.admin.file_choice import choice_of
from media.admin.file_forms import CropForm, DeleteForm, EditForm, ReplaceFileForm, initial_of
from media.admin.player_form import PlayerForm
from media.image_sizes import IMAGE_SIZES
from media.models import AltTextState, Asset, AssetStatus, ImageTheme
from media.presenters import format_duration, site_image, site_recording, url_of
from media.scopes import visible_assets
from media.services.alt_text_proposals import (
    accept_alt_text,
    present_alt_text,
    proposals_of,
    reject_alt_text,
)
from media.services.crop import crop_image
from media.services.files import delete_asset, replace_file
from media.services.update import update_asset
from media.services.variants import dark_status, request_variants
from media.usage_sources import places_of
from proofroom.core.activity.presenters import present
from proofroom.core.activity.queries import ActivityFilter, filter_activity, filter_by_entity
from proofroom.core.actor import Actor
from proofroom.core.admin.form_pages import form_page, save_form, service_errors_at_fields
from proofroom.core.admin.permissions import (
    actor_of,
    may,
    require,
    service_errors_as_http,
    service_errors_as_messages,
)
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.i18n import in_words
from proofroom.core.i18n.languages import language_name

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Size:
    """One variant. `bytes` is None if the storage doesn't have the file."""

    theme: str
    name: str
    url: str
    width: int
    height: int
    bytes: int | None


def sizes_of(asset: Asset) -> list[Size]:
    """Return the existing variants, light ones first. One storage request per variant."""
    light = asset.variants if asset.status == AssetStatus.READY else {}
    found = []
    for theme, names in ((ImageTheme.LIGHT, light), (ImageTheme.DARK, asset.dark_variants)):
        width, height = asset.width or 1, asset.height or 1
        for name, widest in IMAGE_SIZES.items():
            if width > widest:
                width, height = widest, max(1, round(height * widest / width))
            if name in names:
                file = names[name]
                try:
                    stored_bytes = default_storage.size(file)
                # Storages raise their own errors, and the page must work without them.
                except Exception:
                    logger.warning(
                        "cannot read the size of %s from the storage", file, exc_info=True
                    )
                    stored_bytes = None
                size = Size(
                    in_words(str(theme.label)),
                    name,
                    url_of(file),
                    width,
                    height,
                    stored_bytes,
                )
                found.append(size)
    return found


_NEWEST: Final = 12
_SHAPES: Final = (("wide", "16:9"), ("square", "1:1"), ("tall", "4:5"), ("banner", "3:1"))
_RATIOS: Final = ("16:9", "4:3", "3:2", "1:1", "4:5")


@dataclass(frozen=True, slots=True)
class CropPreview:
    """A preview of the image on a page that crops it to a shape."""

    name: str
    ratio: str


def file_page_context(asset: Asset, actor: Actor) -> dict[str, Any]:
    """Return the context of the template. A fixed number of queries."""
    image = site_image(asset)
    dark = dark_status(asset) if image else "none"
    # The newest log entries about the file; generated sizes are of no interest to users.
    of_media = filter_activity(ActivityFilter(event="media"))
    rows = filter_by_entity(of_media, str(asset.pk)).exclude(name="media.variants")
    # A ratio such as `3:2`, if the numbers are small enough to be readable.
    if not (asset.width and asset.height):
        ratio = ""
    else:
        common = gcd(asset.width, asset.height)
        across, down = asset.width // common, asset.height // common
        ratio = f"{across}:{down}" if max(across, down) <= 32 else ""
    return {
        "asset": asset,
        "choice": choice_of(asset),
        "image": image,
        "recording": site_recording(asset),
        "duration": format_duration(asset.duration) if asset.duration is not None else "",
        "url": url_of(asset.file.name),
        "kilobytes": f"{max(1, round(asset.size / 1000)):,} kB",
        "ratio": ratio,
        "megapixels": round((asset.width or 0) * (asset.height or 0) / 1e6, 1),
        "previews": [CropPreview(name, ratio) for name, ratio in _SHAPES] if image else [],
        "crop_ratios": _RATIOS,
        "sizes": sizes_of(asset),
        "dark": dark,
        "dark_url": _preview(asset.dark_variants),
        "light_url": _preview(asset.variants),
        "failures": list(asset.works.filter(is_given_up=True)),
        "is_waiting": AssetStatus.PROCESSING in (asset.status, dark),
        "places": places_of(asset, actor),
        "alt_proposals": [
            (row, language_name(row.locale), present_alt_text(asset, row.locale))
            for row in proposals_of(asset).filter(state=AltTextState.WAITING)
        ],
        "words": [(language_name(code), text) for code, text in sorted(asset.alt_texts.items())],
        "history": present(list(rows[:_NEWEST]), actor),
    }


def _preview(names: Mapping[str, str]) -> str:
    """Return the URL of the size shown on the page, or an empty string."""
    name = names.get("medium") or names.get("small")
    return url_of(name) if name else ""


def address(asset: Asset, page: str = "change") -> str:
    return reverse(f"admin:media_asset_{page}", args=[asset.pk])


def edit_page(request: HttpRequest, object_id: UUID | str) -> HttpResponse:
    require(request, "media.view")
    asset = _find(request, object_id)
    form = EditForm(
        request.POST if request.method == "POST" else None,
        initial=initial_of(asset),
        is_recording=asset.is_recording,
    )

    def save() -> object:
        return update_asset(asset_id=asset.pk, actor=actor_of(request), **form.cleaned_data)

    if form.is_bound and save_form(form, save):
        messages.success(request, _("Saved %(name)s.") % {"name": asset})
        return HttpResponseRedirect(address(asset))
    return _page(request, asset, edit=form)


@service_errors_as_http
def replace_page(request: HttpRequest, object_id: UUID | str) -> HttpResponse:
    require(request, "media.edit")
    asset = _find(request, object_id)
    if request.method != "POST":
        return HttpResponseRedirect(address(asset))
    form = ReplaceFileForm(request.POST, request.FILES)

    def save() -> object:
        file = form.cleaned_data["file"]
        actor = actor_of(request)
        return replace_file(asset_id=asset.pk, file=file, filename=file.name, actor=actor)

    if save_form(form, save):
        messages.success(request, _("Replaced %(name)s.") % {"name": asset})
        return HttpResponseRedirect(address(asset))
    asset.refresh_from_db()
    return _page(request, asset, replacing=form)


@service_errors_as_http
def player_page(request: HttpRequest, object_id: UUID | str) -> HttpResponse:
    """Save the poster and the captions of a video or audio file."""
    require(request, "media.edit")
    asset = _find(request, object_id)
    if request.method != "POST" or not asset.is_recording:
        return HttpResponseRedirect(address(asset))
    form = PlayerForm(request.POST, request.FILES, asset=asset, actor=actor_of(request))
    if save_form(form, form.save) and not form.errors:
        messages.success(request, _("Saved %(name)s.") % {"name": asset})
        return HttpResponseRedirect(f"{address(asset)}#player")
    asset.refresh_from_db()
    return _page(request, asset, player=form)


@service_errors_as_http
def crop_page(request: HttpRequest, object_id: UUID | str) -> HttpResponse:
    """Crop an image into a new file, or replace it with `in_place`."""
    require(request, "media.edit")
    asset = _find(request, object_id)
    if request.method != "POST":
        return HttpResponseRedirect(address(asset))
    form = CropForm(request.POST)
    made: list[Asset] = []

    def save() -> None:
        is_in_place = "in_place" in request.POST
        actor = actor_of(request)
        made.append(
            crop_image(asset_id=asset.pk, box=form.box(), is_in_place=is_in_place, actor=actor)
        )

    if save_form(form, save):
        message = _("Saved the selection as %(name)s.") % {"name": made[0].filename}
        messages.success(request, message)
        return HttpResponseRedirect(address(made[0]))
    return _page(request, asset, cropping=form)


@service_errors_as_http
def variants_page(request: HttpRequest, object_id: UUID | str) -> HttpResponse:
    require(request, "media.edit")
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    asset = _find(request, object_id)
    with service_errors_as_messages(request):
        theme = request.POST.get("theme", "")
        request_variants(asset_id=asset.pk, theme=theme, actor=actor_of(request))
        messages.success(request, _("Generating sizes…"))
    return HttpResponseRedirect(address(asset))


@service_errors_as_http
def alt_text_page(request: HttpRequest, object_id: UUID | str, proposal_id: UUID) -> HttpResponse:
    """Accept or reject a proposed alt text (`do`). `present` is the alt text that the page showed."""
    require(request, "media.edit")
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    asset = _find(request, object_id)
    actor = actor_of(request)
    with service_errors_as_messages(request):
        if request.POST.get("do") == "accept":
            present = request.POST.get("present")
            accept_alt_text(proposal_id=proposal_id, actor=actor, present=present)
            messages.success(request, _("Saved the proposed alt text."))
        else:
            reject_alt_text(proposal_id=proposal_id, actor=actor, note=request.POST.get("note", ""))
            messages.success(request, _("Rejected the proposed alt text."))
    return HttpResponseRedirect(f"{address(asset)}#alt-proposals")


def delete_page(request: HttpRequest, object_id: UUID | str) -> HttpResponse:
    """GET shows the uses of the file and asks for confirmation, POST deletes it."""
    require(request, "media.delete")
    asset = _find(request, object_id)
    places = places_of(asset, actor_of(request))
    form = DeleteForm(
        request.POST if request.method == "POST" else None, is_used=bool(places.total)
    )
    if form.is_bound and form.is_valid():
        force = form.cleaned_data.get("force", False)
        with service_errors_at_fields(form):
            delete_asset(asset_id=asset.pk, actor=actor_of(request), force=force)
        if not form.errors:
            messages.success(request, _("Deleted %(name)s.") % {"name": asset})
            return HttpResponseRedirect(reverse("admin:media_asset_changelist"))
    context = {
        "asset": asset,
        "image": site_image(asset),
        "places": places,
        "back": address(asset),
    }
    title = _("Delete: %(name)s") % {"name": asset}
    return form_page(request, "admin/media/delete.html", Asset, context, title=title, form=form)


def _page(
    request: HttpRequest,
    asset: Asset,
    *,
    edit: Form | None = None,
    replacing: Form | None = None,
    cropping: Form | None = None,
    player: Form | None = None,
) -> TemplateResponse:
    form = edit or EditForm(initial=initial_of(asset), is_recording=asset.is_recording)
    context: dict[str, Any] = {
        **file_page_context(asset, actor_of(request)),
        "replacing": replacing or ReplaceFileForm(),
        "cropping": cropping or CropForm(),
        "player": player or _player_form(asset, actor_of(request)),
        "may_edit": may(request, "media.edit"),
        "may_delete": may(request, "media.delete"),
        "may_upload": may(request, "media.upload"),
    }
    titles = {"image": _("Image"), "video": _("Video"), "audio": _("Audio file")}
    title = titles.get(asset.mime.partition("/")[0], _("File"))
    page = form_page(request, "admin/media/asset.html", Asset, context, title=title, form=form)
    if any(
        one is not None and one.is_bound and one.errors for one in (replacing, cropping, player)
    ):
        page.status_code = 422
    return page


def _player_form(asset: Asset, actor: Actor) -> PlayerForm | None:
    if not asset.is_recording or not actor.can("media.edit"):
        return None
    return PlayerForm(asset=asset, actor=actor)


def _find(request: HttpRequest, id_: UUID | str) -> Asset:
    rows = visible_assets(Asset.objects.all(), actor_of(request)).select_related("uploaded_by")
    asset = find_by_id(rows, id_)
    if asset is None:
        raise Http404(_("File not found."))
    return asset
