"""The pages that show a global module, menu or term: their list, and previews of unsaved values."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from content.layers import open_layers
from content.models import ModuleInstance, Post, Status
from content.modules.global_modules import build_global_document
from proofroom.core.actor import Actor
from proofroom.core.admin.permissions import actor_of, service_errors_as_http
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import CmsError, invalid
from proofroom.core.json import JsonObject
from proofroom.core.middleware import allow_admin_frame
from proofroom.shared_content.proposals import find_waiting_proposal
from proofroom.shared_content.shared_types import SharedRow
from proofroom.taxonomies.models import Term
from proofroom.taxonomies.services import changed_term_document
from proofroom_apps.editorial.module_layouts.global_module_admin import GlobalForm
from proofroom_apps.editorial.shared_content.history import open_row, shared_page
from proofroom_apps.editorial.shared_content.shown_pages import pages_showing
from proofroom_apps.menus.admin.menu_admin import read_items
from proofroom_apps.menus.models import Menu
from proofroom_apps.menus.services import edited_menu
from proofroom_apps.website.layer_pages import SharedPreview, preview_page

_PAGE_SIZE: Final = 50


@service_errors_as_http
def shared_pages(request: HttpRequest, kind_name: str, row_id: UUID) -> HttpResponse:
    """List the pages that show the row, published ones first."""
    kind, row = open_row(request, kind_name, row_id)
    pages = pages_showing(row, actor_of(request))
    published = pages.filter(status=Status.PUBLISHED).order_by().count()
    rows = pages.only(
        "title", "path", "locale", "status", "published_at", "publish_at", "type", "updated_at"
    )
    return shared_page(
        request,
        "admin/shared/pages.html",
        kind,
        row,
        {
            "pages": Paginator(rows, _PAGE_SIZE).get_page(request.GET.get("page")),
            "published": published,
        },
        title=_("Pages: %(title)s") % {"title": row},
        tab="pages",
    )


@service_errors_as_http
@require_http_methods(["GET", "POST"])
@allow_admin_frame
def shared_preview(request: HttpRequest, kind_name: str, row_id: UUID) -> HttpResponse:
    """Preview one of the pages (`?post=`): POST with the form's values, GET with the waiting change.

    For an invalid form it returns JSON with the reason.
    """
    kind, row = open_row(request, kind_name, row_id)
    post = find_by_id(pages_showing(row, actor_of(request)), request.GET.get("post"))
    if post is None:
        raise Http404(_("This page does not exist."))
    if request.method == "GET":
        waiting = find_waiting_proposal(kind.name, row_id)
        if waiting is None:
            raise Http404(_("No change is waiting here."))
        return preview_response(row, waiting.document, post, str(waiting.get_state_display()))
    try:
        document = _sent_document(row, request.POST, actor_of(request))
    except CmsError as error:
        return JsonResponse({"message": error.message}, status=error.status)
    return preview_response(row, document, post, _("not saved"))


def preview_response(row: SharedRow, document: JsonObject, post: Post, label: str) -> HttpResponse:
    """Return the page of a post as visitors would see it with that state of the row. Not cached or indexed."""
    page = preview_page(post, open_layers(post).live, label, typed=_typed_of(row, document))
    response = HttpResponse(page)
    # Unpublished content must not get into caches and search engines, nor its address to linked sites.
    response["Cache-Control"] = "no-store"
    response["X-Robots-Tag"] = "noindex, nofollow"
    response["Referrer-Policy"] = "no-referrer"
    return response


def _typed_of(row: SharedRow, document: JsonObject) -> SharedPreview:
    if isinstance(row, Menu):
        items = document["items"]
        found = (
            [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
        )
        return SharedPreview(menus={row.slug: found})
    if isinstance(row, ModuleInstance):
        props = document["props"]
        return SharedPreview(props={str(row.pk): props if isinstance(props, dict) else {}})
    return SharedPreview(term_names={str(row.pk): str(document["name"])})


def _sent_document(row: SharedRow, data: QueryDict, actor: Actor) -> JsonObject:
    """Return the row's document with the submitted values, validated like a write. Raises `RuleViolation`."""
    if isinstance(row, Menu):
        try:
            items = read_items(data)
        except ValueError as error:
            raise invalid(
                "items", _("The items are not valid: %(problem)s.") % {"problem": error}
            ) from None
        return edited_menu(row, name=data.get("name"), items=items, actor=actor)
    if isinstance(row, ModuleInstance):
        initial = {"type": row.type, "props": row.props}
        form = GlobalForm(data, initial=initial, who=actor)
        return build_global_document(row, label=data.get("label"), props=form.values(), actor=actor)
    if not isinstance(row, Term):
        raise TypeError(row)
    return changed_term_document(row, name=data.get("name"))
