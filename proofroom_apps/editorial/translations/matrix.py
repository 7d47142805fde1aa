"""The translation matrix: posts by language, with missing, outdated and waiting translations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from content.document.labels import type_label
from content.models import Layer, Post, QueuedChange
from content.store.scopes import visible_to
from content.store.translation_status import STATES, MatrixFilter, list_originals, states_of
from content.translations.source_mismatches import count_mismatches
from content.translations.translate import create_translation
from proofroom.core.admin.permissions import actor_of, may, require, service_errors_as_http
from proofroom.core.content_scope import Scoped, allowed_names, reading_scopes, scopes_for
from proofroom.core.errors import CmsError, NotAllowed
from proofroom.core.i18n.languages import language_name
from proofroom.definitions import post_types
from proofroom_apps.editorial.posts.post_pages import (
    page,
    post_url,
    review_url,
    title_of,
    with_proposed_titles,
)
from proofroom_apps.editorial.translations.post_translations import warn_missing_terms

_PAGE_SIZE: Final = 25
MAX_ROWS: Final = 20
_MAX_QUERY_LENGTH: Final = 100
_STATE_LABELS: Final = {
    "missing": gettext_lazy("Missing translations"),
    "untranslated": gettext_lazy("Not translated yet"),
    "draft": gettext_lazy("Has a draft"),
    "changed": gettext_lazy("Out of date"),
    "waiting": gettext_lazy("Changes waiting"),
}


@dataclass(frozen=True, slots=True)
class WaitingChanges:
    """Waiting changes in a layer."""

    layer: str
    count: int
    url: str


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """A post in one language; missing if it has no post.

    `stale` is the number of values older than the source's, `untranslated` of texts equal to the source's,
    `mismatches` of live values that disagree with the source.

    `can_be_created` is for a missing post: True if it would be in the user's scope.
    """

    locale: str
    post: Post | None = None
    title: str = ""
    url: str = ""
    is_original: bool = False
    stale: int = 0
    untranslated: int = 0
    mismatches: int = 0
    stale_url: str = ""
    waits: tuple[WaitingChanges, ...] = ()
    can_be_created: bool = False

    @property
    def is_missing(self) -> bool:
        return self.post is None


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """A post in every language."""

    post: Post
    title: str
    url: str
    type: str
    cells: tuple[MatrixCell, ...]


def rows_of(originals: Sequence[Post], locales: Sequence[str], who: Scoped) -> list[MatrixRow]:
    """Return the rows. At most nine queries; five more if a post changed since it was compared with its source."""
    scopes = scopes_for("posts.translate", who.scopes)
    open_types, open_locales = (
        allowed_names(scopes, "types", _types()),
        allowed_names(scopes, "locales", locales),
    )
    groups = [post.translation_group for post in originals]
    posts = with_proposed_titles(
        visible_to(Post.objects.alive(), who).filter(translation_group__in=groups)
    )
    by_place = {(post.translation_group, post.locale): post for post in posts}
    titles = {post.pk: title_of(post) for post in by_place.values()}
    translated = [post for post in by_place.values() if post.translated_from_id]
    states, mismatches = states_of(translated), count_mismatches(translated, who)
    waiting: dict[UUID, tuple[WaitingChanges, ...]] = defaultdict(tuple)
    rows = QueuedChange.objects.filter(post__in=[post.pk for post in by_place.values()]).order_by(
        "post_id", "layer"
    )
    for row in rows.values("post_id", "layer").annotate(count=Count("pk")):
        post_id, layer = row["post_id"], Layer(row["layer"])
        waiting[post_id] += (WaitingChanges(layer, row["count"], review_url(str(post_id), layer)),)

    def cell(original: Post, locale: str) -> MatrixCell:
        post = by_place.get((original.translation_group, locale))
        if post is None:
            # A placeholder has no approved content to translate.
            is_open = original.type in open_types and locale in open_locales
            return MatrixCell(locale, can_be_created=is_open and not original.is_placeholder)
        state = states.get(post.pk)
        return MatrixCell(
            locale,
            post,
            titles[post.pk],
            post_url("change", post),
            is_original=post.pk == original.pk,
            # Untranslated texts are counted separately.
            stale=len(set(state.open_paths) - set(state.untranslated_paths)) if state else 0,
            untranslated=len(state.untranslated_paths) if state else 0,
            mismatches=mismatches.get(post.pk, 0),
            stale_url=post_url("translate", post),
            waits=waiting.get(post.pk, ()),
        )

    return [
        MatrixRow(
            post,
            titles.get(post.pk, post.title),
            post_url("change", post),
            type_label(post.type),
            tuple(cell(post, locale) for locale in locales),
        )
        for post in originals
    ]


@service_errors_as_http
def translations(request: HttpRequest) -> HttpResponse:
    """GET lists (`?q=`, `type`, `locale`, `state`), POST creates the ticked translations."""
    require(request, "posts.view")
    if request.method == "POST":
        return _create(request)
    return _show(request)


def _show(request: HttpRequest, problem: str = "", status: int = 200) -> HttpResponse:
    actor = actor_of(request)
    seen = reading_scopes(actor)
    types = allowed_names(seen, "types", _types())
    all_locales = allowed_names(seen, "locales", settings.CMS_ENV.locales)
    asked = read_matrix_filter(request)
    locales = [asked.locale] if asked.locale in all_locales else all_locales
    listed = list_originals(asked, types, all_locales, actor)
    found = Paginator(listed, _PAGE_SIZE)
    shown = found.get_page(request.GET.get("page"))
    rows = rows_of(list(shown), locales, actor)
    context: dict[str, Any] = {
        "rows": rows,
        "page_obj": shown,
        "locales": locales,
        "asked": asked,
        "types": [(name, type_label(name)) for name in types],
        "all_locales": all_locales,
        "is_limited": bool(seen),
        "states": _STATE_LABELS.items(),
        "may_create": may(request, "posts.translate"),
        "offers": any(cell.can_be_created for row in rows for cell in row.cells),
        "is_narrowed": bool(asked.words or asked.type or asked.locale or asked.state),
        "most": MAX_ROWS,
        "problem": problem,
        "xliff_url": _xliff_url(asked) if may(request, "posts.translate") else "",
    }
    title = _("Translations")
    return page(request, "admin/translations.html", context, title=title, status=status)


def _xliff_url(asked: MatrixFilter) -> str:
    query = {"type": asked.type, "locale": asked.locale, "q": asked.words}
    chosen = urlencode({name: value for name, value in query.items() if value})
    address = reverse("admin:content-xliff")
    return f"{address}?{chosen}" if chosen else address


def read_matrix_filter(request: HttpRequest) -> MatrixFilter:
    """Return the filter of an address; invalid parameters are ignored."""
    query = request.GET
    chosen = {
        "type": query.get("type", "") if query.get("type") in _types() else "",
        "locale": query.get("locale", "")
        if query.get("locale") in settings.CMS_ENV.locales
        else "",
        "state": query.get("state", "") if query.get("state") in STATES else "",
    }
    return MatrixFilter(words=query.get("q", "").strip()[:_MAX_QUERY_LENGTH], **chosen)


def _types() -> list[str]:
    return [type_.name for type_ in post_types if type_.localized]


def _create(request: HttpRequest) -> HttpResponse:
    require(request, "posts.translate")
    # Each box sends `<post>:<locale>`; malformed values are ignored.
    ticked: dict[tuple[UUID, str], None] = {}
    for value in request.POST.getlist("make"):
        post_id, _colon, locale = value.partition(":")
        if locale in settings.CMS_ENV.locales:
            with suppress(ValueError):
                ticked[UUID(post_id), locale] = None
    if not 1 <= len(ticked) <= MAX_ROWS:
        text = _("Select 1 to %(most)d missing translations.") % {"most": MAX_ROWS}
        return _show(request, text, 422)
    made: list[Post] = []
    for source, locale in ticked:
        try:
            made.append(create_translation(post_id=source, locale=locale, actor=actor_of(request)))
        except NotAllowed:
            raise
        except CmsError as error:
            text = _("Not created in %(language)s: %(why)s")
            messages.warning(
                request, text % {"language": language_name(locale), "why": error.message}
            )
    if made:
        text = ngettext(
            "Created %(count)d draft with the source text.",
            "Created %(count)d drafts with the source text.",
            len(made),
        )
        messages.success(request, text % {"count": len(made)})
        warn_missing_terms(
            request, [(post.translated_from, post.locale) for post in made if post.translated_from]
        )
    query = request.GET.urlencode()
    address = reverse("admin:content-translations")
    return HttpResponseRedirect(f"{address}?{query}" if query else address)
