"""The matrix of translations: posts by languages, and what is missing, older than its source, or waiting."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from content.models import Post
from content.review.labels import type_label
from content.translations.queries import STATES, MatrixFilter, originals
from content.translations.translate import create_translation
from proofroom.core.admin.permissions import (
    actor_of,
    answers_refusals,
    may,
    require,
)
from proofroom.core.errors import CmsError, NotAllowed
from proofroom.definitions import post_types
from proofroom.editorial.posts.post_pages import page
from proofroom.editorial.translations.matrix_rows import rows_of

_PAGE: Final = 25
MOST: Final = 20
_LONGEST: Final = 100
_WORDS: Final = {
    "missing": gettext_lazy("A language is missing"),
    "draft": gettext_lazy("Has a draft"),
    "changed": gettext_lazy("The source was saved since"),
    "waiting": gettext_lazy("Changes wait"),
}


@answers_refusals
def translations(request: HttpRequest) -> HttpResponse:
    """GET lists (`?q=`, `type`, `locale`, `state`), POST makes the translations that are ticked."""
    require(request, "posts.view")
    if request.method == "POST":
        return _create(request)
    return _show(request)


def _show(request: HttpRequest, problem: str = "", status: int = 200) -> HttpResponse:
    asked = asked_of(request)
    locales = [asked.locale] if asked.locale else list(settings.CMS_ENV.locales)
    found = Paginator(originals(asked, _types(), settings.CMS_ENV.locales), _PAGE)
    shown = found.get_page(request.GET.get("page"))
    rows = rows_of(list(shown), locales)
    context: dict[str, Any] = {
        "rows": rows,
        "page_obj": shown,
        "locales": locales,
        "asked": asked,
        "types": [(name, type_label(name)) for name in _types()],
        "all_locales": settings.CMS_ENV.locales,
        "states": _WORDS.items(),
        "may_create": may(request, "posts.translate"),
        "offers": any(cell.is_missing for row in rows for cell in row.cells),
        "is_narrowed": bool(asked.words or asked.type or asked.locale or asked.state),
        "most": MOST,
        "problem": problem,
        "hides_ask": True,  # it would stand on the button
    }
    title = _("Translations")
    return page(request, "admin/translations.html", context, title=title, status=status)


def asked_of(request: HttpRequest) -> MatrixFilter:
    """What an address asks for; what is odd in it asks for nothing."""
    query = request.GET
    chosen = {
        "type": query.get("type", "") if query.get("type") in _types() else "",
        "locale": query.get("locale", "")
        if query.get("locale") in settings.CMS_ENV.locales
        else "",
        "state": query.get("state", "") if query.get("state") in STATES else "",
    }
    return MatrixFilter(words=query.get("q", "").strip()[:_LONGEST], **chosen)


def _types() -> list[str]:
    return [type_.name for type_ in post_types if type_.localized]


def _create(request: HttpRequest) -> HttpResponse:
    require(request, "posts.translate")
    marks = _read(request.POST.getlist("make"))
    if not 1 <= len(marks) <= MOST:
        text = _("Tick 1 to %(most)d missing translations.") % {"most": MOST}
        return _show(request, text, 422)
    made: list[Post] = []
    for post_id, locale in marks:
        try:
            made.append(create_translation(post_id=post_id, locale=locale, actor=actor_of(request)))
        except NotAllowed:
            raise
        except CmsError as error:
            text = _("Not made in %(locale)s: %(why)s")
            messages.warning(request, text % {"locale": locale, "why": error.message})
    if made:
        text = ngettext(
            "%(count)d translation was made, as a draft with the words of its source.",
            "%(count)d translations were made, as drafts with the words of their sources.",
            len(made),
        )
        messages.success(request, text % {"count": len(made)})
    query = request.GET.urlencode()
    address = reverse("admin:content-translations")
    return HttpResponseRedirect(f"{address}?{query}" if query else address)


def _read(values: Iterable[str]) -> Sequence[tuple[UUID, str]]:
    """`<post>:<locale>` of each box; what is malformed is none."""
    found: dict[tuple[UUID, str], None] = {}
    for value in values:
        post_id, _colon, locale = value.partition(":")
        if locale not in settings.CMS_ENV.locales:
            continue
        try:
            found[(UUID(post_id), locale)] = None
        except ValueError:
            continue
    return list(found)
