"""Media: upload a file, look at it, say what it shows."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin import site
from django.contrib.admin.utils import unquote
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from core.admin.forms import FormAdmin
from core.admin.rights import actor_of, may
from core.errors import CmsError
from media.admin.check_page import check_page
from media.admin.file_forms import UploadForm
from media.admin.file_page import address, delete_page, edit_page, replace_page, variants_page
from media.admin.list_filters import CategoryFilter, TypeFilter, UseFilter
from media.admin.picker import pick_page
from media.admin.uploads import describe, states, upload
from media.models import Asset, AssetStatus
from media.presenters import site_image
from media.queries import with_use_counts, with_words
from media.services.store import store_image


@admin.register(Asset)
class AssetAdmin(FormAdmin[Asset]):
    view_permission = "media.view"
    list_title = "Media"
    add_permission = "media.upload"
    add_title = "New files"
    add_button = "Upload"
    add_form = UploadForm
    list_display = (
        "thumbnail",
        "filename",
        "alt_text",
        "extent",
        "uses",
        "state",
        "uploaded",
    )
    list_display_links = ("filename",)
    list_filter = (CategoryFilter, TypeFilter, "status", UseFilter)
    search_fields = ("filename",)  # what is found, `get_search_results` says
    list_per_page = 50

    def add(self, request: HttpRequest, form: forms.Form) -> HttpResponse:
        actor = actor_of(request)
        # `store_image` also takes what agents generate; a file that a caller sends comes from a person.
        actor.require_person("upload files")
        files = form.cleaned_data.pop("file")
        if len(files) == 1:
            asset = store_image(
                **form.cleaned_data, file=files[0], filename=files[0].name, actor=actor
            )
            messages.success(request, f"The file {asset} is there.")
            return HttpResponseRedirect(address(asset))
        for file in files:
            # One that is refused keeps no other one out.
            try:
                asset = store_image(**form.cleaned_data, file=file, filename=file.name, actor=actor)
                messages.success(request, f"The file {asset} is there.")
            except CmsError as error:
                messages.error(request, f"The file {file.name}: {error.message}")
        return HttpResponseRedirect(reverse("admin:media_asset_changelist"))

    def get_queryset(self, request: HttpRequest) -> QuerySet[Asset]:
        return with_use_counts(super().get_queryset(request))

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Asset], search_term: str
    ) -> tuple[QuerySet[Asset], bool]:
        """By the words of alternative text, description, name and categories."""
        return (with_words(queryset, search_term) if search_term.strip() else queryset), False

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

    @admin.display(description="Used in", ordering="uses")
    def uses(self, asset: Asset) -> SafeString | str:
        number: int = asset.uses  # type: ignore[attr-defined]  # of the list's query
        if not number:
            return "—"
        text = "1 place" if number == 1 else f"{number} places"
        return format_html('<a href="{}#used">{}</a>', address(asset), text)

    @admin.display(description="State", ordering="status")
    def state(self, asset: Asset) -> str:
        return "" if asset.status == AssetStatus.READY else asset.get_status_display()

    @admin.display(description="Size", ordering="size")
    def extent(self, asset: Asset) -> str:
        # One column for both leaves the alternative text room to be read.
        kilobytes = f"{max(1, round(asset.size / 1000)):,}\u00a0kB"
        if not (asset.width and asset.height):
            return kilobytes
        return f"{asset.width}\u00a0×\u00a0{asset.height} {kilobytes}"

    @admin.display(description="Uploaded", ordering="created_at")
    def uploaded(self, asset: Asset) -> str:
        return f"{asset.created_at:%Y-%m-%d}"

    def get_urls(self) -> list[URLPattern]:
        """The pages of one file beside those that every admin has."""
        pages = [
            path("check/", site.admin_view(check_page), name="media_asset_check"),
            path("pick/", site.admin_view(pick_page), name="media_asset_pick"),
            path("upload/", site.admin_view(upload), name="media_asset_upload"),
            path("states/", site.admin_view(states), name="media_asset_states"),
            path(
                "<uuid:object_id>/describe/",
                site.admin_view(describe),
                name="media_asset_describe",
            ),
            path(
                "<uuid:object_id>/replace/",
                site.admin_view(replace_page),
                name="media_asset_replace",
            ),
            path(
                "<uuid:object_id>/variants/",
                site.admin_view(variants_page),
                name="media_asset_variants",
            ),
        ]
        return [*pages, *super().get_urls()]

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        return edit_page(request, unquote(object_id))

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return delete_page(request, unquote(object_id))
