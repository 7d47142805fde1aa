"""Answers to a page that saves in place: what stands now, or where to go next."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse

from proofroom.editorial.post_editor.choices import shared_modules
from proofroom.editorial.post_editor.form_data import Sheet, open_sheet
from proofroom.editorial.post_editor.page import Frame
from proofroom.editorial.posts.post_pages import read


def in_place(request: HttpRequest) -> bool:
    """Whether a script asks, which keeps the page open."""
    return request.headers.get("Accept") == "application/json"


def answered(frame: Frame, url: str) -> HttpResponse:
    if in_place(frame.request):
        return JsonResponse({"stays": False, "url": url})
    return HttpResponseRedirect(url)


def settled(frame: Frame, sheet: Sheet) -> HttpResponse | None:
    """The version and the stamps of what stands now; None where the page does not show just that."""
    if any(name.startswith("take.") for name in frame.request.POST):
        return None
    post, layers = read(frame.post.pk)
    fresh = open_sheet(layers.document(frame.layer), shared_modules())
    is_same = fresh.was_order == [module.id for module in sheet.modules]
    if not is_same or any(sheet.typed.get(path) != typed for path, typed in fresh.typed.items()):
        return None
    return JsonResponse(
        {
            "stays": True,
            "version": layers.review.version if frame.layer else post.version,
            "was": {path: was for path, was in fresh.was.items() if sheet.was.get(path) != was},
            "order": fresh.was_order,
        }
    )
