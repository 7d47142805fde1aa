"""Endpoints of the rich-text editor: the words of its tools, Markdown to and from documents. Stores nothing."""

from __future__ import annotations

from typing import Final

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from proofroom.core.admin.permissions import require
from proofroom.core.errors import CmsError, invalid
from proofroom.core.json import JsonObject
from proofroom.definitions.fields import RICH_TEXT_MAX_BYTES
from proofroom.definitions.richtext.markdown import from_markdown, to_markdown
from proofroom.definitions.richtext.schema import validate
from proofroom.editorial.post_editor.rich_text_values import normalize_line_ends, parse_document

_METHODS: Final = ["GET", "HEAD", "POST"]


@require_http_methods(_METHODS)
def richtext(request: HttpRequest) -> HttpResponse:
    """GET: the toolbar. POST `markdown` or `document`: the other of the two, as the form's own door reads it."""
    require(request, "posts.view")
    if request.method != "POST":
        return render(request, "admin/cms/richtext_tools.html")
    try:
        return JsonResponse(_converted(request))
    except CmsError as error:
        return JsonResponse({"message": error.message}, status=error.status)


def _converted(request: HttpRequest) -> JsonObject:
    name = "document" if "document" in request.POST else "markdown"
    text = request.POST.get(name, "")
    if len(text.encode("utf-8", "surrogatepass")) > RICH_TEXT_MAX_BYTES:
        raise invalid(name, _("This text is too long to be shown here."))
    if name == "markdown":
        return {"document": from_markdown(normalize_line_ends(text))}
    document = parse_document(text, name)
    problems = validate(document)
    if problems or not isinstance(document, dict):
        raise invalid(name, " ".join(problems[:3]))
    return {"markdown": normalize_line_ends(to_markdown(document))}
