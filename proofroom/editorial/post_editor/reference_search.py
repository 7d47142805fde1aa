"""Searches of the pickers in a form: posts and terms to refer to, pages to link to. Bounded, whatever there is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db.models import Q, QuerySet
from django.http import HttpRequest, JsonResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from content import search
from content.models import Post, Status, Term
from content.review.labels import type_label
from proofroom.core.admin.permissions import require
from proofroom.core.i18n import in_words
from proofroom.core.json import JsonObject
from proofroom.core.site_urls import canonical_form
from proofroom.definitions import taxonomies
from proofroom.definitions.richtext.links import is_external, safe_href

_MOST: Final = 20
_LONGEST: Final = 200
_POSTS: Final = frozenset({"post-reference", "link"})


@dataclass(frozen=True, slots=True)
class ReferenceSearch:
    """A search; `among` are the post types or taxonomies that may be chosen, all of them where empty."""

    kind: str
    words: str
    locale: str
    among: list[str]
    without: str


@require_safe
def search_targets(request: HttpRequest) -> JsonResponse:
    """`kind` and `q`: what can be chosen; `address`: what a link leads to."""
    require(request, "posts.view")
    if "address" in request.GET:
        return JsonResponse(state_of(request.GET["address"][:2048]))
    asked = ReferenceSearch(
        kind=_word(request, "kind"),
        words=_word(request, "q"),
        locale=_word(request, "locale"),
        among=[one for one in _word(request, "among").split(",") if one],
        without=_word(request, "without"),
    )
    found = search_posts(asked) if asked.kind in _POSTS else search_terms(asked)
    return JsonResponse({"results": found})


def search_posts(asked: ReferenceSearch) -> list[JsonObject]:
    """Posts by title, words, path or id, the best first; without words the newest. At most two queries."""
    rows = Post.objects.alive().filter(is_placeholder=False)
    if asked.locale:
        rows = rows.filter(locale=asked.locale)
    if asked.among:
        rows = rows.filter(type__in=asked.among)
    if _uuid(asked.without):
        rows = rows.exclude(pk=asked.without)
    return [_post(post) for post in _found(rows, asked.words)]


def _found(rows: QuerySet[Post], words: str) -> list[Post]:
    newest = rows.order_by("-updated_at", "id")
    if not words:
        return list(newest[:_MOST])
    if _uuid(words):
        return list(newest.filter(pk=words))
    if words.startswith("/"):
        return list(rows.filter(path__startswith=words).order_by("path", "id")[:_MOST])
    # Half a word is no word to the search, and what people type is mostly half a title.
    titled = list(newest.filter(title__icontains=words)[:_MOST])
    if len(titled) == _MOST:
        return titled
    known = {post.pk for post in titled}
    told = search.order_by_rank(search.search_posts(rows, words))[:_MOST]
    return [*titled, *(post for post in told if post.pk not in known)][:_MOST]


def search_terms(asked: ReferenceSearch) -> list[JsonObject]:
    """Terms whose name begins with the words or has them inside, by taxonomy."""
    rows = Term.objects.filter(locale__in=["", asked.locale]) if asked.locale else Term.objects
    if asked.among:
        rows = rows.filter(taxonomy__in=asked.among)
    if asked.words:
        rows = rows.filter(Q(name__icontains=asked.words) | Q(slug__startswith=asked.words.lower()))
    return [_term(term) for term in rows.order_by("taxonomy", "order_index", "name")[:_MOST]]


def state_of(address: str) -> JsonObject:
    """Return what a link leads to, in a word for the page and a sentence for people."""
    safe = safe_href(address)
    if safe is None:
        return _state("refused", _("Nothing can be linked at this address."))
    if is_external(safe):
        return _state("external", _("Another site."))
    if safe.startswith(("#", "mailto:", "tel:", "?")):
        return _state("plain", "")
    path = canonical_form(safe.split("#", 1)[0].split("?", 1)[0])
    post = Post.objects.alive().filter(path=path).order_by("-status").first()
    if post is None:
        return _state("missing", _("No post has this address. It may be a page of another kind."))
    if post.status == Status.PUBLISHED:
        return _state("live", _("Leads to “%(title)s”, which is live.") % {"title": post.title})
    sentence = _("Leads to “%(title)s”, which is not live: visitors would find nothing.")
    return _state("draft", sentence % {"title": post.title})


def post_id_of(words: str) -> str:
    """The id of the post that somebody named by its id or its path; the words themselves where there is none."""
    if not words.startswith("/"):
        return words
    found = Post.objects.alive().filter(path=canonical_form(words)).values_list("pk", flat=True)
    return str(found[0]) if found else words


def _state(state: str, sentence: str) -> JsonObject:
    return {"state": state, "sentence": sentence}


def _post(post: Post) -> JsonObject:
    return {
        "id": str(post.pk),
        "title": post.title,
        "detail": " · ".join(filter(None, [type_label(post.type), post.locale, post.path])),
        "path": post.path,
        "state": "live" if post.status == Status.PUBLISHED else "draft",
        "status": str(post.get_status_display()),
    }


def _term(term: Term) -> JsonObject:
    definition = taxonomies.get(term.taxonomy)
    label = in_words(definition.label) if definition else term.taxonomy
    locale = term.locale if len(settings.CMS_ENV.locales) > 1 else ""
    detail = " · ".join(filter(None, [label, locale]))
    return {"id": str(term.pk), "title": term.name, "detail": detail, "path": "", "state": ""}


def _word(request: HttpRequest, name: str) -> str:
    return request.GET.get(name, "").replace("\x00", "")[:_LONGEST].strip()


def _uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False
