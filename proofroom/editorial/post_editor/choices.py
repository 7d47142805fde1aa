"""Choices in the form of a post: media, posts, terms, modules. Each list is read once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final
from uuid import UUID

from django.db.models import Q
from django.utils.translation import gettext as _

from content.models import ModuleInstance, Post, Term
from media.models import Asset
from proofroom.core.i18n import in_words
from proofroom.core.json import Json
from proofroom.definitions import allowed_modules, find_post_type, taxonomies
from proofroom.editorial.post_editor.controls import Choice
from proofroom.editorial.post_editor.form_fields import EditorField, Typed

_MOST: Final = 50
"""A list without scripts has the newest of these; the pickers search among all there are."""
_MOST_TERMS: Final = 100


class PostChoices:
    """The choices of one form; `keep` are ids that must be offered, because they are chosen."""

    def __init__(self, post: Post, keep: Iterable[str]) -> None:
        self.post = post
        self.keep = list(keep)
        self._lists: dict[str, Sequence[tuple[str, Sequence[Choice]]]] = {}

    def __call__(self, form_field: EditorField) -> Sequence[tuple[str, Sequence[Choice]]]:
        readers: dict[str, Callable[[], Sequence[tuple[str, Sequence[Choice]]]]] = {
            "media": self._media,
            "post-reference": self._posts,
            "terms": self._terms,
            "taxonomy-reference": self._terms,
        }
        if form_field.kind not in self._lists:
            self._lists[form_field.kind] = readers[form_field.kind]()
        return self._lists[form_field.kind]

    def _media(self) -> list[tuple[str, list[Choice]]]:
        newest = Asset.objects.order_by("-created_at").values("pk")[:_MOST]
        rows = Asset.objects.filter(Q(pk__in=newest) | Q(pk__in=self.keep))
        listed = rows.order_by("-created_at").values_list("pk", "filename", "alt_text")
        return [("", [(str(pk), f"{name} — {alt}" if alt else name) for pk, name, alt in listed])]

    def _posts(self) -> list[tuple[str, list[Choice]]]:
        others = Post.objects.alive().filter(is_placeholder=False).exclude(pk=self.post.pk)
        newest = others.filter(locale=self.post.locale).order_by("-updated_at").values("pk")[:_MOST]
        rows = others.filter(Q(pk__in=newest) | Q(pk__in=self.keep))
        groups: dict[str, list[Choice]] = {}
        listed = rows.order_by("type", "title").values_list("pk", "title", "type")
        for pk, title, type_name in listed:
            groups.setdefault(type_name, []).append((str(pk), title))
        return list(groups.items())

    def _terms(self) -> list[tuple[str, list[Choice]]]:
        uses = [use.slug for use in find_post_type(self.post.type).taxonomies]
        own = Term.objects.filter(taxonomy__in=uses, locale__in=["", self.post.locale])
        rows = list(own.order_by("taxonomy", "order_index", "name")[:_MOST_TERMS])
        known = {str(term.pk) for term in rows}
        missing = [id_ for id_ in self.keep if id_ not in known]
        rows += Term.objects.filter(pk__in=missing) if missing else []
        groups: dict[str, list[Choice]] = {}
        for term in rows:
            definition = taxonomies.get(term.taxonomy)
            label = in_words(definition.label) if definition else term.taxonomy
            groups.setdefault(label, []).append((str(term.pk), term.name))
        return list(groups.items())


def chosen_ids(typed: Iterable[Typed]) -> Iterator[str]:
    """The ids that stand in what is typed, however deep."""
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
        return len(text) == 36 and str(UUID(text)) == text
    except ValueError:
        return False


def shared_modules() -> dict[str, tuple[str, Mapping[str, Json]]]:
    """Global modules by slug: instance id and props."""
    rows = ModuleInstance.objects.filter(scope="global").values_list("global_slug", "pk", "props")
    return {str(slug): (str(pk), props) for slug, pk, props in rows}


def addable(post: Post, shared: Iterable[str]) -> list[tuple[str, list[Choice]]]:
    """Return what the button for a new module offers."""
    own = [(module.name, in_words(module.label)) for module in allowed_modules(post.type)]
    groups = [(_("For this post"), own)]
    placed = dict(_types(shared))
    if placed:
        groups.append((_("Shared"), [(f"{kind}@{slug}", slug) for slug, kind in placed.items()]))
    return groups


def _types(slugs: Iterable[str]) -> list[tuple[str, str]]:
    wanted = list(slugs)
    if not wanted:
        return []
    rows = ModuleInstance.objects.filter(global_slug__in=wanted).values_list("global_slug", "type")
    return [(str(slug), type_) for slug, type_ in rows]
