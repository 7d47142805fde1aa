"""Choices in the form of a post: media, posts, terms, modules, and the searches of its pickers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db.models import Q
from django.http import HttpRequest, JsonResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from content.comparison.references import title_lookups
from content.document.labels import type_label
from content.models import ModuleInstance, Post, Status
from content.store import search
from content.store.scopes import can_view, hidden_post_ids, hidden_title, visible_to
from media.models import Asset
from media.scopes import visible_assets
from proofroom.accounts.models import User
from proofroom.accounts.queries import active_people
from proofroom.core.actor import Actor
from proofroom.core.admin.permissions import actor_of, require
from proofroom.core.content_scope import Scoped
from proofroom.core.i18n import in_words
from proofroom.core.i18n.languages import language_name
from proofroom.core.json import JsonObject
from proofroom.core.site_urls import canonical_form
from proofroom.definitions import allowed_modules, find_post_type, modules, taxonomies
from proofroom.definitions.richtext.links import MAX_HREF, is_external, safe_href
from proofroom.taxonomies.models import Term
from proofroom.taxonomies.rules import taxonomy_label
from proofroom_apps.editorial.post_editor.form_fields import (
    PEOPLE,
    Choice,
    EditorField,
    Typed,
)

_MAX_CHOICES: Final = 50
"""Number of newest choices in a list without scripts."""
_MAX_TERMS: Final = 100
_MAX_PEOPLE: Final = 100
_MAX_RESULTS: Final = 20
_MAX_QUERY_LENGTH: Final = 200
_MAX_AT_PATH: Final = 5


class PostChoices:
    """The choices of a form. `keep` are chosen ids that must stay available.

    Without a post, as in a global module, choices in the default language come first.
    """

    def __init__(self, post: Post | None, keep: Iterable[str], who: Actor) -> None:
        self.post, self.who = post, who
        self.locale = post.locale if post else settings.CMS_ENV.default_locale
        self.keep = list(keep)
        self._lists: dict[str, Sequence[tuple[str, Sequence[Choice]]]] = {}

    def __call__(self, form_field: EditorField) -> Sequence[tuple[str, Sequence[Choice]]]:
        """Return the grouped choices that a field accepts, and always the chosen ones."""
        readers: dict[str, Callable[[], Sequence[tuple[str, Sequence[Choice]]]]] = {
            "media": self._media,
            "post-reference": self._posts,
            "terms": self._terms,
            "taxonomy-reference": self._terms,
            "form-reference": self._forms,
            PEOPLE: self._people,
        }
        if form_field.kind not in self._lists:
            self._lists[form_field.kind] = readers[form_field.kind]()
        listed = self._lists[form_field.kind]
        if form_field.kind == "taxonomy-reference":
            return self._limit(listed, taxonomy_label(form_field.among) if form_field.among else "")
        return self._limit(listed, form_field.among if form_field.kind == "post-reference" else "")

    def creatable(self, kind: str, among: str) -> list[tuple[str, str]]:
        """Return the taxonomies, with labels, in which the user may create terms from a field. No query."""
        if kind not in ("terms", "taxonomy-reference") or not self.who.can("taxonomies.edit"):
            return []
        names = [among] if among else taxonomies.names()
        if kind == "terms" and self.post is not None:
            names = [use.slug for use in find_post_type(self.post.type).taxonomies]
        return [(name, taxonomy_label(name)) for name in names if name in taxonomies]

    def _limit(
        self, listed: Sequence[tuple[str, Sequence[Choice]]], group: str
    ) -> Sequence[tuple[str, Sequence[Choice]]]:
        if not group:
            return listed
        limited = [
            (label, [one for one in choices if label == group or one[0] in self.keep])
            for label, choices in listed
        ]
        return [(label, choices) for label, choices in limited if choices]

    def _media(self) -> list[tuple[str, list[Choice]]]:
        seen = visible_assets(Asset.objects.all(), self.who)
        newest = seen.order_by("-created_at").values("pk")[:_MAX_CHOICES]
        # A chosen file stays available even if the user may not see it: saving must not remove it.
        rows = Asset.objects.filter(Q(pk__in=newest) | Q(pk__in=self.keep))
        listed = rows.order_by("-created_at").values_list("pk", "filename", "alt_text")
        return [("", [(str(pk), f"{name} — {alt}" if alt else name) for pk, name, alt in listed])]

    def _posts(self) -> list[tuple[str, list[Choice]]]:
        others = visible_to(Post.objects.alive(), self.who).filter(is_placeholder=False)
        if self.post is not None and str(self.post.pk) not in self.keep:
            others = others.exclude(pk=self.post.pk)
        own = others.filter(locale=self.locale).order_by("-updated_at")
        newest = own.values("pk")[:_MAX_CHOICES]
        rows = others.filter(Q(pk__in=newest) | Q(pk__in=self.keep))
        groups: dict[str, list[Choice]] = {}
        listed = rows.order_by("type", "title", "path").values_list("pk", "title", "path", "type")
        for pk, title, path, type_name in listed:
            groups.setdefault(type_name, []).append((str(pk), f"{title} — {path}"))
        # Chosen posts that the user may not view stay chosen, without their titles.
        hidden = sorted(map(str, hidden_post_ids(self.keep, self.who)))
        if hidden:
            groups[""] = [(pk, hidden_title()) for pk in hidden]
        return list(groups.items())

    def _people(self) -> list[tuple[str, list[Choice]]]:
        """Return active people, and the authors of the post, who may have left. One query."""
        own = self.post.authors if self.post is not None else []
        offered = active_people().order_by("username").values("pk")[:_MAX_PEOPLE]
        rows = User.objects.filter(Q(pk__in=offered) | Q(pk__in=own)).order_by("username")
        return [("", [(str(pk), name) for pk, name in rows.values_list("pk", "username")])]

    def _forms(self) -> list[tuple[str, list[Choice]]]:
        titles_of_forms = title_lookups.get("form-reference")
        titles = titles_of_forms(None) if titles_of_forms is not None else {}
        forms = [(slug, f"{title} ({slug})") for slug, title in titles.items()]
        return [("", sorted(forms, key=lambda form: form[1].lower()))]

    def _terms(self) -> list[tuple[str, list[Choice]]]:
        own = Term.objects.filter(locale__in=["", self.locale])
        if self.post is not None:
            uses = [use.slug for use in find_post_type(self.post.type).taxonomies]
            own = own.filter(taxonomy__in=uses)
        rows = list(own.order_by("taxonomy", "order_index", "name")[:_MAX_TERMS])
        known = {str(term.pk) for term in rows}
        # Chosen terms stay available beyond the limit, and in other languages.
        missing = [id_ for id_ in self.keep if id_ not in known]
        rows += Term.objects.filter(pk__in=missing) if missing else []
        groups: dict[str, list[Choice]] = {}
        for term in rows:
            label = taxonomy_label(term.taxonomy)
            groups.setdefault(label, []).append((str(term.pk), term.name))
        return list(groups.items())


def chosen_ids(typed: Iterable[Typed]) -> Iterator[str]:
    """Yield the ids in typed values, at any depth."""
    waiting: list[object] = list(typed)
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            if _is_id(value):
                yield value
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            waiting += value.values()


def _is_id(text: str) -> bool:
    try:
        # `UUID` also accepts other spellings, which stored values don't use.
        return str(UUID(text)) == text
    except ValueError:
        return False


def addable_modules(post: Post, shared: Iterable[str]) -> list[tuple[str, list[Choice]]]:
    """Return the modules that can be added to the post."""
    own = [(module.name, in_words(module.label)) for module in allowed_modules(post.type)]
    groups = [(_("For this post"), own)]
    rows = ModuleInstance.objects.filter(global_slug__in=list(shared))
    placed = [
        (f"{type_}@{slug}", str(slug)) for slug, type_ in rows.values_list("global_slug", "type")
    ]
    return [*groups, (_("Shared"), placed)] if placed else groups


@dataclass(frozen=True, slots=True)
class ReferenceSearch:
    """A search. `among` are the allowed post types or taxonomies; empty allows all."""

    kind: str
    text: str
    locale: str
    among: list[str]
    without: str
    only_locale: str | None = None
    """Language of the terms to search: empty for terms that belong to every language, None for no restriction."""


@require_http_methods(["GET", "HEAD", "POST"])
def search_targets(request: HttpRequest) -> JsonResponse:
    """Return choices for `kind` and `q`, or the target of a link for `address`.

    POST also requests facts about the `address` of a module from its provider, without waiting for the answer.
    """
    require(request, "posts.view")
    if request.method == "POST":
        require(request, "posts.edit", "posts.translate")
        address, module = request.POST.get("address", ""), request.POST.get("module", "")
        return JsonResponse(_address_state(request, address, module, requests_facts=True))
    if "address" in request.GET:
        module = _parameter(request, "module")
        return JsonResponse(_address_state(request, request.GET["address"], module))
    asked = ReferenceSearch(
        kind=_parameter(request, "kind"),
        text=_parameter(request, "q"),
        locale=_parameter(request, "locale"),
        among=[one for one in _parameter(request, "among").split(",") if one],
        without=_parameter(request, "without"),
        only_locale=_parameter(request, "only_locale") if "only_locale" in request.GET else None,
    )
    if asked.kind == PEOPLE:
        found = search_people(asked)
    elif asked.kind in ("post-reference", "link"):
        found = search_posts(asked, actor_of(request))
    else:
        found = search_terms(asked)
    return JsonResponse({"results": found})


def _address_state(
    request: HttpRequest, text: str, module_name: str, *, requests_facts: bool = False
) -> JsonObject:
    """Return the state of a link, or what the module says about it, with the `note` that scripts act on."""
    address, module = text[:MAX_HREF], modules.get(module_name)
    if module is None:
        return state_of(address, actor_of(request))
    problem = module.address_problem(address)
    note = module.address_note(address, requests_facts=requests_facts)
    if note is None:
        return _state("draft", problem) if problem else state_of(address, actor_of(request))
    sentence = f"{note.sentence} {problem}".strip()
    return {
        **_state("draft" if problem or note.state == "failed" else "live", sentence),
        "note": note.state,
    }


def search_posts(asked: ReferenceSearch, who: Scoped) -> list[JsonObject]:
    """Return posts by title, text, path or id, best match first; the newest without text. At most two queries."""
    rows = visible_to(Post.objects.alive(), who).filter(is_placeholder=False)
    if asked.locale:
        rows = rows.filter(locale=asked.locale)
    if asked.among:
        rows = rows.filter(type__in=asked.among)
    if _is_id(asked.without):
        rows = rows.exclude(pk=asked.without)
    newest = rows.order_by("-updated_at", "id")
    if not asked.text:
        found = list(newest[:_MAX_RESULTS])
    elif _is_id(asked.text):
        found = list(newest.filter(pk=asked.text))
    elif asked.text.startswith("/"):
        by_path = rows.filter(path__startswith=asked.text).order_by("path", "id")
        found = list(by_path[:_MAX_RESULTS])
    else:
        # The search finds whole words only, but users usually type a part of the title.
        found = list(newest.filter(title__icontains=asked.text)[:_MAX_RESULTS])
        if len(found) < _MAX_RESULTS:
            known = {post.pk for post in found}
            ranked = search.find_posts(rows, asked.text)[:_MAX_RESULTS]
            found += [post for post in ranked if post.pk not in known]
    return [
        {
            "id": str(post.pk),
            "title": post.title,
            "detail": " · ".join(
                filter(None, [type_label(post.type), language_name(post.locale), post.path])
            ),
            "path": post.path,
            "state": "live" if post.status == Status.PUBLISHED else "draft",
            "status": post.shown_status_label,
        }
        for post in found[:_MAX_RESULTS]
    ]


def search_terms(asked: ReferenceSearch) -> list[JsonObject]:
    """Return terms whose name contains the text or whose slug starts with it, by taxonomy."""
    rows = (
        # Terms without a language belong to every language.
        Term.objects.filter(locale__in=["", asked.locale]) if asked.locale else Term.objects.all()
    )
    if asked.only_locale is not None:
        rows = rows.filter(locale=asked.only_locale)
    if _is_id(asked.without):
        rows = rows.exclude(pk=asked.without)
    if asked.among:
        rows = rows.filter(taxonomy__in=asked.among)
    if asked.text:
        rows = rows.filter(Q(name__icontains=asked.text) | Q(slug__startswith=asked.text.lower()))
    found: list[JsonObject] = []
    for term in rows.order_by("taxonomy", "order_index", "name")[:_MAX_RESULTS]:
        language = language_name(term.locale) if len(settings.CMS_ENV.locales) > 1 else ""
        detail = " · ".join(filter(None, [taxonomy_label(term.taxonomy), language]))
        found.append(
            {"id": str(term.pk), "title": term.name, "detail": detail, "path": "", "state": ""}
        )
    return found


def search_people(asked: ReferenceSearch) -> list[JsonObject]:
    """Return active people whose username or name for readers contains the text, by username. One query."""
    rows = active_people()
    if asked.text:
        named = Q(preferences__public_name__icontains=asked.text)
        rows = rows.filter(named | Q(username__icontains=asked.text))
    found = rows.order_by("username").values_list("pk", "username", "preferences__public_name")
    return [
        {"id": str(pk), "title": name, "detail": public or "", "path": "", "state": ""}
        for pk, name, public in found[:_MAX_RESULTS]
    ]


def state_of(address: str, who: Scoped) -> JsonObject:
    """Return the target of a link: a state for the page and a sentence for users."""
    safe = safe_href(address)
    if safe is None:
        return _state("refused", _("You cannot link to this address."))
    if is_external(safe):
        return _state("external", _("Another site."))
    if safe.startswith(("#", "mailto:", "tel:", "?")):
        return _state("plain", "")
    path = canonical_form(safe.split("#", 1)[0].split("?", 1)[0])
    # Descending: “published” before “draft” and “archived”.
    found = list(Post.objects.alive().filter(path=path).order_by("-status")[:_MAX_AT_PATH])
    post = next((one for one in found if can_view(who, one)), None)
    # The user may not view it. Visitors may, so say that it is live, but not its title.
    if post is None and any(one.status == Status.PUBLISHED for one in found):
        return _state("live", _("Links to a live page."))
    if post is None:
        return _state("missing", _("No post has this address. It may be another kind of page."))
    if post.status == Status.PUBLISHED:
        return _state("live", _("Links to “%(title)s”, which is live.") % {"title": post.title})
    sentence = _("Links to “%(title)s”, which is not live. Visitors would see an error page.")
    return _state("draft", sentence % {"title": post.title})


def _state(state: str, sentence: str) -> JsonObject:
    return {"state": state, "sentence": sentence}


def _parameter(request: HttpRequest, name: str) -> str:
    return request.GET.get(name, "").replace("\x00", "")[:_MAX_QUERY_LENGTH].strip()
