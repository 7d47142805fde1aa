"""Rich text on its way through a form: Markdown, or the document itself where the editor of the browser made one.

The editor writes what Markdown cannot say (merged cells, lettered lists), so its document goes before the Markdown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final, NoReturn, TypeAlias, cast

from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from proofroom.core.admin.permissions import require
from proofroom.core.errors import CmsError, invalid
from proofroom.core.json import Json
from proofroom.definitions.fields import RICH_TEXT_MAX_BYTES
from proofroom.definitions.richtext.markdown_reader import from_markdown
from proofroom.definitions.richtext.markdown_writer import to_markdown
from proofroom.definitions.richtext.schema import EMPTY, validate

DOCUMENT: Final = "~doc"
"""The end of the name of the hidden field with the document, behind the name of the field."""

Written: TypeAlias = "str | dict[str, str]"
"""Markdown, or `{"markdown": …, "document": JSON}` of the editor."""


def normalize_line_ends(text: str) -> str:
    """With the line ends that a browser's do not change."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")


def markdown_of(value: Json) -> str:
    """Return what a form shows of a stored document."""
    return normalize_line_ends(to_markdown(dict(value))) if isinstance(value, Mapping) else ""


def read_written(data: QueryDict, name: str) -> Written:
    markdown, document = normalize_line_ends(data.get(name, "")), data.get(name + DOCUMENT, "")
    return {"markdown": markdown, "document": document} if document else markdown


def rich_text(written: object, old: Json, where: str) -> Json:
    """The document to store; the old one where its Markdown is unchanged. Raises `RuleViolation` for no JSON."""
    if isinstance(written, dict):
        return parse_document(str(written.get("document", "")), where)
    typed = str(written)
    if isinstance(old, Mapping) and markdown_of(old) == typed:
        return old
    return cast("Json", from_markdown(typed)) if typed else dict(EMPTY)


def is_as_stored(written: object, stored: Json) -> bool:
    """Return whether the editor sent the very document that is stored."""
    if not isinstance(written, dict):
        return False
    try:
        return bool(json.loads(str(written.get("document", ""))) == stored)
    except (ValueError, RecursionError):
        return False


def parse_document(text: str, where: str) -> Json:
    """The JSON of a document, which the services judge. Raises `RuleViolation` for what is none."""
    try:
        value = require_encodable(cast("Json", json.loads(text, parse_constant=_refuse_constant)))
        if isinstance(value, str):  # Markdown to the services; the editor never sends it so
            raise ValueError(text)
        return value
    except (ValueError, RecursionError):
        raise invalid(
            where, _("The text did not arrive whole. Reload the page and write it again.")
        ) from None


def require_encodable(value: Json) -> Json:
    """The value itself. Raises `ValueError` where JSON wrote half of a character, which no page can show."""
    json.dumps(value, ensure_ascii=False).encode()
    return value


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(word)


@require_http_methods(["GET", "HEAD", "POST"])
def richtext(request: HttpRequest) -> HttpResponse:
    """GET: the toolbar. POST `markdown` or `document`: the other of the two, as the form's own door reads it."""
    require(request, "posts.view")
    if request.method != "POST":
        return render(request, "admin/cms/richtext_tools.html")
    name = "document" if "document" in request.POST else "markdown"
    text = request.POST.get(name, "")
    try:
        if len(text.encode("utf-8", "surrogatepass")) > RICH_TEXT_MAX_BYTES:
            raise invalid(name, _("This text is too long to be shown here."))
        if name == "markdown":
            return JsonResponse({"document": from_markdown(normalize_line_ends(text))})
        document = parse_document(text, name)
        problems = validate(document)
        if problems or not isinstance(document, dict):
            raise invalid(name, " ".join(problems[:3]))
        return JsonResponse({"markdown": normalize_line_ends(to_markdown(document))})
    except CmsError as error:
        return JsonResponse({"message": error.message}, status=error.status)
