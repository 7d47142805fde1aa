"""The page as the form has it, before anything is saved: beside the form, while somebody types. Stores nothing."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from content.models import Layer
from content.rules.check import clean_changes
from proofroom.core.admin.permissions import answers_refusals, require
from proofroom.core.errors import CmsError
from proofroom.core.http.frame_options import allow_admin_frame
from proofroom.editorial.post_editor.choices import shared_modules
from proofroom.editorial.post_editor.form_data import edit_of, read_sheet
from proofroom.editorial.posts.post_pages import read
from proofroom.website.layer_pages import preview_page


@answers_refusals
@require_POST
@allow_admin_frame
def live_preview(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """The page of the site for the form that is sent; a refused one answers 422 with the sentence that says why."""
    require(request, "posts.view")
    require(request, "posts.edit", "posts.translate", "posts.review.save")
    post, layers = read(post_id)
    layer = Layer.REVIEW if request.GET.get("layer") == Layer.REVIEW else None
    document = layers.document(layer)
    sheet = read_sheet(document, shared_modules(), request.POST)
    try:
        typed = clean_changes(post, document, edit_of(sheet, document))
    except CmsError as error:
        return JsonResponse({"message": error.message}, status=error.status)
    page = preview_page(post, typed, _("not saved"))
    for token, id_ in sheet.created.items():
        page = page.replace(id_, token)  # the form knows a new module by its own name
    response = HttpResponse(page)
    response["Cache-Control"] = "no-store"
    response["X-Robots-Tag"] = "noindex, nofollow"
    return response
