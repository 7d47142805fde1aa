"""Media, to look at."""

from __future__ import annotations

from django.contrib import admin
from django.utils.html import format_html
from django.utils.safestring import SafeString

from core.admin.rights import PermittedAdmin
from media.models import Asset


@admin.register(Asset)
class AssetAdmin(PermittedAdmin[Asset]):
    view_permission = "media.view"
    list_display = ("thumbnail", "filename", "alt_text", "mime", "size", "created_at")
    list_display_links = ("filename",)
    list_filter = ("mime",)
    search_fields = ("filename", "alt_text")
    fields = ("thumbnail", "filename", "alt_text", "mime", "size", "width", "height", "created_at")
    readonly_fields = ("thumbnail", "created_at")
    list_per_page = 50

    @admin.display(description="")
    def thumbnail(self, asset: Asset) -> SafeString | str:
        if not asset.mime.startswith("image/") or not asset.file:
            return "—"
        return format_html(
            '<img class="thumbnail" src="{}" alt="{}" loading="lazy">',
            asset.file.url,
            asset.alt_text,
        )
