"""Media: upload a file, look at it, say what it shows."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from core.admin.forms import FormAdmin, form_page, saved
from core.admin.rights import actor_of, may, require
from media.models import Asset
from media.presenters import site_image
from media.services.store import store_image
from media.services.update import update_asset

_KINDS = "image/jpeg,image/png,image/webp,image/gif,image/avif,application/pdf"


class CategoriesField(forms.CharField):
    """Words between commas, as a list."""

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> list[str]:
        return str(super().clean(value)).split(",")


class DescriptionForm(forms.Form):
    alt_text = forms.CharField(
        label="Description",
        max_length=500,
        required=False,
        help_text="What the image shows, for those who cannot see it. Empty for mere decoration.",
    )
    categories = CategoriesField(required=False, help_text="Separated by commas.")


class UploadForm(DescriptionForm):
    file = forms.FileField(
        widget=forms.FileInput(attrs={"accept": _KINDS}),
        help_text="JPEG, PNG, WebP, GIF, AVIF or PDF. Data of the camera, such as the place, is removed.",
    )
    field_order = ("file", "alt_text", "categories")


@admin.register(Asset)
class AssetAdmin(FormAdmin[Asset]):
    view_permission = "media.view"
    list_title = "Media"
    add_permission = "media.upload"
    add_title = "New image"
    add_button = "Upload"
    add_form = UploadForm
    list_display = ("thumbnail", "filename", "alt_text", "dimensions", "kilobytes", "created_at")
    list_display_links = ("filename",)
    list_filter = ("mime",)
    search_fields = ("filename", "alt_text")
    list_per_page = 50

    def add(self, request: HttpRequest, form: forms.Form) -> HttpResponse:
        actor = actor_of(request)
        # `store_image` also takes what agents generate; a file that a caller sends comes from a person.
        actor.require_person("upload files")
        name = form.cleaned_data["file"].name
        asset = store_image(**form.cleaned_data, filename=name, actor=actor)
        messages.success(request, f"{asset} is there.")
        return HttpResponseRedirect(_address(asset))

    def has_change_permission(self, request: HttpRequest, obj: Asset | None = None) -> bool:
        return may(request, "media.edit")

    @admin.display(description="Image")
    def thumbnail(self, asset: Asset) -> SafeString | str:
        image = site_image(asset)
        if image is None:
            return "—"
        source = image["srcset"].partition(" ")[0] or image["url"]
        # The name beside it is the link and says what it is.
        return format_html('<img class="thumbnail" src="{}" alt="" loading="lazy">', source)

    @admin.display(description="Pixels")
    def dimensions(self, asset: Asset) -> str:
        return f"{asset.width} × {asset.height}" if asset.width and asset.height else "—"

    @admin.display(description="Size", ordering="size")
    def kilobytes(self, asset: Asset) -> str:
        return f"{max(1, round(asset.size / 1000)):,} kB"

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        require(request, "media.view")
        asset = _find(unquote(object_id))
        may_edit = may(request, "media.edit")
        form = _description(asset, request.POST if request.method == "POST" else None)
        if request.method == "POST" and saved(form, lambda: _update(request, asset, form)):
            messages.success(request, f"{asset} is saved.")
            return HttpResponseRedirect(_address(asset))
        image = site_image(asset)
        context = {
            "asset": asset,
            "image": image,
            "dimensions": self.dimensions(asset),
            "size": self.kilobytes(asset),
            "may_edit": may_edit,
        }
        title = "Image" if image else "File"
        return form_page(request, "admin/media/asset.html", Asset, context, title=title, form=form)


def _address(asset: Asset) -> str:
    return reverse("admin:media_asset_change", args=[asset.pk])


def _find(id_: str) -> Asset:
    try:
        asset = Asset.objects.filter(pk=UUID(id_)).first()
    except ValueError:
        asset = None
    if asset is None:
        raise Http404("No such file.")
    return asset


def _description(asset: Asset, data: Any) -> DescriptionForm:
    return DescriptionForm(
        data, initial={"alt_text": asset.alt_text, "categories": asset.categories}
    )


def _update(request: HttpRequest, asset: Asset, form: DescriptionForm) -> Asset:
    return update_asset(asset_id=asset.pk, actor=actor_of(request), **form.cleaned_data)
