"""The admin pages of one file: what it is and says, its sizes, another file in its place, its end."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
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

from core.admin.forms import form_page, refusals_at_fields, saved
from core.admin.rights import actor_of, answers_refusals, may, refusals_as_messages, require
from media.admin.file_forms import DeleteForm, EditForm, ReplaceForm, initial_of
from media.admin.file_sizes import sizes_of
from media.models import Asset, AssetStatus, Theme
from media.places import places_of
from media.presenters import site_image, url_of
from media.services.delete import delete_asset
from media.services.replace import replace_file
from media.services.update import update_asset
from media.services.variants import dark_status, request_variants


def address(asset: Asset, page: str = "change") -> str:
    return reverse(f"admin:media_asset_{page}", args=[asset.pk])


def edit_page(request: HttpRequest, object_id: UUID | str) -> HttpResponse:
    require(request, "media.view")
    asset = _find(object_id)
    form = EditForm(request.POST if request.method == "POST" else None, initial=initial_of(asset))

    def save() -> object:
        return update_asset(asset_id=asset.pk, actor=actor_of(request), **form.cleaned_data)

    if form.is_bound and saved(form, save):
        messages.success(request, f"The file {asset} is saved.")
        return HttpResponseRedirect(address(asset))
    return _page(request, asset, form, ReplaceForm())


@answers_refusals
def replace_page(request: HttpRequest, object_id: UUID | str) -> HttpResponse:
    require(request, "media.edit")
    asset = _find(object_id)
    if request.method != "POST":
        return HttpResponseRedirect(address(asset))
    form = ReplaceForm(request.POST, request.FILES)

    def save() -> object:
        file = form.cleaned_data["file"]
        actor = actor_of(request)
        return replace_file(asset_id=asset.pk, file=file, filename=file.name, actor=actor)

    if saved(form, save):
        messages.success(request, f"The file {asset} is replaced.")
        return HttpResponseRedirect(address(asset))
    asset.refresh_from_db()
    return _page(request, asset, EditForm(initial=initial_of(asset)), form)


@answers_refusals
def variants_page(request: HttpRequest, object_id: UUID | str) -> HttpResponse:
    require(request, "media.edit")
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    asset = _find(object_id)
    with refusals_as_messages(request):
        theme = request.POST.get("theme", "")
        request_variants(asset_id=asset.pk, theme=theme, actor=actor_of(request))
        messages.success(request, "The sizes are being made.")
    return HttpResponseRedirect(address(asset))


def delete_page(request: HttpRequest, object_id: UUID | str) -> HttpResponse:
    """GET asks and says where the file is used, POST deletes."""
    require(request, "media.delete")
    asset = _find(object_id)
    places = places_of(asset, actor_of(request))
    form = DeleteForm(
        request.POST if request.method == "POST" else None, is_used=bool(places.total)
    )
    if form.is_bound and form.is_valid():
        force = form.cleaned_data.get("force", False)
        with refusals_at_fields(form):
            delete_asset(asset_id=asset.pk, actor=actor_of(request), force=force)
        if not form.errors:
            messages.success(request, f"The file {asset} is deleted.")
            return HttpResponseRedirect(reverse("admin:media_asset_changelist"))
    context = {"asset": asset, "places": places, "back": address(asset)}
    return form_page(
        request,
        "admin/media/delete.html",
        Asset,
        context,
        title=f"Delete: {asset}",
        form=form,
    )


def _page(request: HttpRequest, asset: Asset, form: Form, replacing: Form) -> TemplateResponse:
    image = site_image(asset)
    is_image = image is not None
    dark = dark_status(asset) if is_image else "none"
    context: dict[str, Any] = {
        "asset": asset,
        "image": image,
        "url": url_of(asset.file.name),
        "kilobytes": f"{max(1, round(asset.size / 1000)):,} kB",
        "replacing": replacing,
        "sizes": sizes_of(asset),
        "dark": dark,
        "failures": list(asset.works.filter(is_given_up=True)),
        "is_waiting": AssetStatus.PROCESSING in (asset.status, dark),
        "themes": Theme,
        "places": places_of(asset, actor_of(request)),
        "may_edit": may(request, "media.edit"),
        "may_delete": may(request, "media.delete"),
        "focal": initial_of(asset),
    }
    title = "Image" if is_image else "File"
    page = form_page(request, "admin/media/asset.html", Asset, context, title=title, form=form)
    if replacing.is_bound and replacing.errors:
        page.status_code = 422
    return page


def _find(id_: UUID | str) -> Asset:
    try:
        asset = Asset.objects.filter(pk=UUID(str(id_))).select_related("uploaded_by").first()
    except ValueError:
        asset = None
    if asset is None:
        raise Http404("No such file.")
    return asset
