"""Rich text in a form: Markdown, or the document of the browser's editor.

The document has priority, since Markdown cannot express everything (merged cells, lettered lists).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NoReturn, TypeAlias, cast

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy
from django.views.decorators.http import require_http_methods

from proofroom.core.admin.permissions import may, require
from proofroom.core.errors import CmsError, invalid
from proofroom.core.json import Json
from proofroom.definitions.fields import RICH_TEXT_MAX_BYTES
from proofroom.definitions.richtext.markdown_reader import from_markdown
from proofroom.definitions.richtext.markdown_writer import to_markdown
from proofroom.definitions.richtext.schema import EMPTY, validate
from proofroom.definitions.richtext.title_headings import lower_title_headings
from proofroom_apps.snippets.models import Snippet
from proofroom_apps.snippets.services import list_snippets

DOCUMENT: Final = "~doc"
"""Suffix of the hidden field with the document, after the field's name."""


@dataclass(frozen=True, slots=True)
class InsertChoice:
    """A choice of the `/` menu on an empty line. `search` are more words that find it; `icon` is SVG path data."""

    name: str
    label: str | Promise
    help: str | Promise
    search: str | Promise
    icon: str


INSERT_MENU: Final = (
    InsertChoice(
        "heading2",
        gettext_lazy("Heading 2"),
        gettext_lazy("Starts a section"),
        pgettext_lazy("words that find a block", "h2 title section"),
        "M3 4v12M10 4v12M3 10h7M13.5 11a2 2 0 1 1 3.6 1.2L13.5 16H17.5",
    ),
    InsertChoice(
        "heading3",
        gettext_lazy("Heading 3"),
        gettext_lazy("Starts a subsection"),
        pgettext_lazy("words that find a block", "h3 subtitle"),
        "M3 4v12M10 4v12M3 10h7M13.5 9.5h3.5l-2 2.5a2 2 0 1 1-1.7 3",
    ),
    InsertChoice(
        "heading4",
        gettext_lazy("Heading 4"),
        gettext_lazy("The smallest heading"),
        pgettext_lazy("words that find a block", "h4"),
        "M3 4v12M10 4v12M3 10h7M16.5 16V9l-3.5 5h5",
    ),
    InsertChoice(
        "bulletList",
        gettext_lazy("List"),
        gettext_lazy("Items with bullets"),
        pgettext_lazy("words that find a block", "bullet unordered ul"),
        "M8 5h9M8 10h9M8 15h9M3.5 5h.01M3.5 10h.01M3.5 15h.01",
    ),
    InsertChoice(
        "orderedList",
        gettext_lazy("Numbered list"),
        gettext_lazy("Steps in order"),
        pgettext_lazy("words that find a block", "ordered ol steps"),
        "M9 5h8M9 10h8M9 15h8M3 3.5h1.5v4M3 12.5h2.5l-2.5 4h2.5",
    ),
    InsertChoice(
        "blockquote",
        gettext_lazy("Quote"),
        gettext_lazy("A quote from somebody else"),
        pgettext_lazy("words that find a block", "blockquote citation"),
        "M4 4v12M8 6h9M8 10h9M8 14h6",
    ),
    InsertChoice(
        "table",
        gettext_lazy("Table"),
        gettext_lazy("Three columns with a header row"),
        pgettext_lazy("words that find a block", "grid columns rows"),
        "M3 4h14v12H3zM3 8h14M3 12h14M9 4v12",
    ),
    InsertChoice(
        "image",
        gettext_lazy("Image"),
        gettext_lazy("From the media library"),
        pgettext_lazy("words that find a block", "picture photo media"),
        "M3 4h14v12H3zM3 13l4-4 4 4 2-2 4 4M13 7.5h.01",
    ),
    InsertChoice(
        "link",
        gettext_lazy("Link to a page"),
        gettext_lazy("A post, a page or an address"),
        pgettext_lazy("words that find a block", "url post address"),
        "M8.5 11.5a3 3 0 0 0 4.2 0l3-3a3 3 0 0 0-4.2-4.2l-1 1M11.5 8.5a3 3 0 0 0-4.2 0l-3 3a3 3 0 0 0 4.2 4.2l1-1",
    ),
    InsertChoice(
        "codeBlock",
        gettext_lazy("Code block"),
        gettext_lazy("Code or commands, as they are typed"),
        pgettext_lazy("words that find a block", "pre snippet"),
        "M7 6 3 10l4 4M13 6l4 4-4 4",
    ),
    InsertChoice(
        "rule",
        gettext_lazy("Divider"),
        gettext_lazy("A line between two sections"),
        pgettext_lazy("words that find a block", "hr rule separator"),
        "M3 10h14",
    ),
    InsertChoice(
        "module",
        gettext_lazy("Add module below"),
        gettext_lazy("Opens the list of modules"),
        pgettext_lazy("words that find a block", "block section"),
        "M3 3h14v8H3zM10 14v5M7.5 16.5h5",
    ),
)

Written: TypeAlias = "str | dict[str, str]"
"""Markdown, or the editor's `{"markdown": …, "document": JSON}`."""


def normalize_line_ends(text: str) -> str:
    """Return the text with LF line ends and no empty lines around it.

    A browser submits other line ends than were stored; so normalized, an unchanged text compares equal.
    """
    return text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")


def markdown_of(value: Json) -> str:
    """Return a stored document as the form's Markdown."""
    return normalize_line_ends(to_markdown(dict(value))) if isinstance(value, Mapping) else ""


def read_written(data: QueryDict, name: str) -> Written:
    markdown, document = normalize_line_ends(data.get(name, "")), data.get(name + DOCUMENT, "")
    return {"markdown": markdown, "document": document} if document else markdown


def rich_text(written: object, old: Json, where: str) -> Json:
    """Return the document to store; the old one if its Markdown is unchanged.

    Raises `RuleViolation` for invalid JSON.
    """
    if isinstance(written, dict):
        return parse_document(str(written.get("document", "")), where)
    typed = str(written)
    # Keep the stored document, which may contain more than Markdown can express.
    if isinstance(old, Mapping) and markdown_of(old) == typed:
        return old
    return lower_title_headings(from_markdown(typed)) if typed else dict(EMPTY)


def is_as_stored(written: object, stored: Json) -> bool:
    """Return whether the editor sent exactly the stored document."""
    if not isinstance(written, dict):
        return False
    try:
        return bool(json.loads(str(written.get("document", ""))) == stored)
    except (ValueError, RecursionError):
        return False


def parse_document(text: str, where: str) -> Json:
    """Return the JSON of a document, which the services validate. Raises `RuleViolation` for invalid JSON."""
    try:
        # Python's parser accepts NaN and Infinity, which are not JSON.
        value = require_encodable(cast("Json", json.loads(text, parse_constant=_refuse_constant)))
        # The services would read a string as Markdown, but the editor sends only documents.
        if isinstance(value, str):
            raise ValueError(text)
        return value
    except (ValueError, RecursionError):
        raise invalid(
            where, _("The text was not received in full. Reload the page and enter it again.")
        ) from None


def require_encodable(value: Json) -> Json:
    """Return the value. Raises `ValueError` for lone surrogates, which no page can contain."""
    json.dumps(value, ensure_ascii=False).encode()
    return value


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(word)


@require_http_methods(["GET", "HEAD", "POST"])
def richtext(request: HttpRequest) -> HttpResponse:
    """GET returns the toolbar. POST converts `markdown` to `document` or back, like the form does."""
    require(request, "posts.view")
    if request.method != "POST":
        most = settings.CMS_ENV.media_max_bytes
        words = {
            "menu": INSERT_MENU,
            "snippets": list_snippets(kind=Snippet.Kind.TEXT, with_content=False),
            "may_save_snippets": may(request, "snippets.manage"),
            "may_upload": may(request, "media.upload"),
            "upload_bytes": most,
            "upload_limit": f"{most / 1024 / 1024:g}",
        }
        return render(request, "admin/cms/richtext_tools.html", words)
    name = "document" if "document" in request.POST else "markdown"
    text = request.POST.get(name, "")
    try:
        if len(text.encode("utf-8", "surrogatepass")) > RICH_TEXT_MAX_BYTES:
            raise invalid(name, _("This text is too long to show here."))
        if name == "markdown":
            return JsonResponse(
                {"document": lower_title_headings(from_markdown(normalize_line_ends(text)))}
            )
        document = parse_document(text, name)
        problems = validate(document)
        if problems or not isinstance(document, dict):
            raise invalid(name, " ".join(problems[:3]))
        return JsonResponse({"markdown": normalize_line_ends(to_markdown(document))})
    except CmsError as error:
        return JsonResponse({"message": error.message}, status=error.status)
