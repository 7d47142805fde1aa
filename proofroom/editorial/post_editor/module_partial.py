"""One module of the form of a post by itself, so that a page with scripts adds and opens modules without a reload."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods

from content.models import Layer
from proofroom.core.admin.permissions import answers_refusals, require
from proofroom.editorial.post_editor.choices import shared_modules
from proofroom.editorial.post_editor.form_data import open_sheet, read_sheet
from proofroom.editorial.post_editor.module_actions import rearrange
from proofroom.editorial.post_editor.page import Frame, module_partial
from proofroom.editorial.posts.post_pages import read


@require_http_methods(["GET", "POST"])
@answers_refusals
def module_part(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """GET `?module=` answers the fields of a module; POST with the buttons of the form a new one or a copy."""
    require(request, "posts.view")
    post, layers = read(post_id)
    layer = Layer.REVIEW if request.GET.get("layer") == Layer.REVIEW else None
    frame = Frame(request, post, layers, layer)
    document = layers.document(layer)
    if request.method != "POST":
        return module_partial(
            frame, open_sheet(document, shared_modules()), request.GET.get("module", "")
        )
    require(request, "posts.edit")
    sheet = read_sheet(document, shared_modules(), request.POST)
    before = {module.id for module in sheet.modules}
    rearrange(sheet, request.POST.get("do", ""), request.POST)
    made = [module.id for module in sheet.modules if module.id not in before]
    return module_partial(frame, sheet, made[0] if made else "")
