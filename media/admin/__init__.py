"""Admin for media: upload, view and describe files."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin import site
from django.contrib.admin.utils import unquote
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from media.admin.alt_texts import alt_texts_page
from media.admin.bulk import bulk_page
from media.admin.check_page import check_page, orphans_page
from media.admin.file_page import (
    address,
    alt_text_page,
    crop_page,
    delete_page,
    edit_page,
    player_page,
    replace_page,
    variants_page,
)
from media.admin.library import LibraryList, library_context
from media.admin.list_filters import FILTERS
from media.admin.picker import pick_page
from media.admin.upload_forms import UploadForm
from media.admin.uploads import describe, import_pasted, states, upload
from media.models import Asset
from media.queries import annotate_use_counts, filter_by_words
from media.services.files import store_image
from proofroom.core.admin.form_pages import FormAdmin
from proofroom.core.admin.permissions import actor_of, may
from proofroom.core.errors import CmsError


@admin.register(Asset)
class AssetAdmin(FormAdmin[Asset]):
    view_permission = "media.view"
    list_title = gettext_lazy("Media")
    add_permission = "media.upload"
    add_title = gettext_lazy("New files")
    add_button = gettext_lazy("Upload")
    add_form = UploadForm
    list_display = ("alt_text", "filename", "mime", "size", "uses", "status", "created_at")
    list_filter = FILTERS
    search_fields = ("filename",)  # only enables the search box; `get_search_results` searches
    list_select_related = ("uploaded_by",)
    list_per_page = 48
    has_column_choice = False  # tiles have no columns

    def add(self, request: HttpRequest, form: forms.Form) -> HttpResponse:
        actor = actor_of(request)
        # `store_image` also accepts files of agents, but uploads are made by people.
        actor.require_person("upload files")
        files = form.cleaned_data.pop("file")
        if len(files) == 1:
            asset = store_image(
                **form.cleaned_data, file=files[0], filename=files[0].name, actor=actor
            )
            messages.success(request, _("Uploaded %(name)s.") % {"name": asset})
            return HttpResponseRedirect(address(asset))
        for file in files:
            # A refused file doesn't stop the others.
            try:
                asset = store_image(**form.cleaned_data, file=file, filename=file.name, actor=actor)
                messages.success(request, _("Uploaded %(name)s.") % {"name": asset})
            except CmsError as error:
                messages.error(
                    request,
                    _("%(name)s: %(reason)s") % {"name": file.name, "reason": error.message},
                )
        return HttpResponseRedirect(reverse("admin:media_asset_changelist"))

    def get_queryset(self, request: HttpRequest) -> QuerySet[Asset]:
        return annotate_use_counts(super().get_queryset(request), actor_of(request))

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Asset], search_term: str
    ) -> tuple[QuerySet[Asset], bool]:
        """Search alternative text, description, name and categories."""
        return (filter_by_words(queryset, search_term) if search_term.strip() else queryset), False

    def has_change_permission(self, request: HttpRequest, obj: Asset | None = None) -> bool:
        return may(request, "media.edit")

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[LibraryList]:
        return LibraryList

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        answer = super().changelist_view(request, extra_context)
        if isinstance(answer, TemplateResponse) and answer.context_data:
            listed = answer.context_data.get("cl")
            if isinstance(listed, LibraryList):
                answer.context_data.update(library_context(request, listed))
        return answer

    # Columns for sorting; the page shows more.
    @admin.display(ordering="uses")
    def uses(self, asset: Asset) -> int:
        number: int = asset.uses  # type: ignore[attr-defined]  # annotated by the list's query
        return number

    def get_urls(self) -> list[URLPattern]:
        """Add the pages of files to the URLs of every admin."""
        pages = [
            path("alt-texts/", site.admin_view(alt_texts_page), name="media_asset_alt_texts"),
            path("bulk/", site.admin_view(bulk_page), name="media_asset_bulk"),
            path("check/", site.admin_view(check_page), name="media_asset_check"),
            path("check/orphans/", site.admin_view(orphans_page), name="media_asset_orphans"),
            path("pick/", site.admin_view(pick_page), name="media_asset_pick"),
            path("upload/", site.admin_view(upload), name="media_asset_upload"),
            path("import/", site.admin_view(import_pasted), name="media_asset_import"),
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
                "<uuid:object_id>/alt-text/<uuid:proposal_id>/",
                site.admin_view(alt_text_page),
                name="media_asset_alt_text",
            ),
            path(
                "<uuid:object_id>/player/", site.admin_view(player_page), name="media_asset_player"
            ),
            path("<uuid:object_id>/crop/", site.admin_view(crop_page), name="media_asset_crop"),
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
