"""What can be chosen in the form of a post: media, posts, terms, modules. Each list is read once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from django.db.models import Max

from accounts.roles import Role
from content.admin.authors import AI_DOORS
from content.admin.controls import Choice
from content.admin.forms import FormField
from content.definitions import allowed_modules, find_post_type, taxonomies
from content.models import ModuleInstance, Post, Provenance, Term
from content.store import iso
from core.json import Json
from media.models import Asset

_MOST: Final = 300


class PostChoices:
    """The choices of one form; `keep` are ids that must be offered, because they are chosen."""

    def __init__(self, post: Post, keep: Iterable[str]) -> None:
        self.post = post
        self.keep = list(keep)
        self._lists: dict[str, Sequence[tuple[str, Sequence[Choice]]]] = {}

    def __call__(self, form_field: FormField) -> Sequence[tuple[str, Sequence[Choice]]]:
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
        rows = list(Asset.objects.values_list("pk", "filename", "alt_text")[:_MOST])
        rows += [
            row
            for row in Asset.objects.filter(pk__in=self.keep).values_list(
                "pk", "filename", "alt_text"
            )
            if row not in rows
        ]
        return [("", [(str(pk), f"{name} — {alt}" if alt else name) for pk, name, alt in rows])]

    def _posts(self) -> list[tuple[str, list[Choice]]]:
        found = (
            Post.objects.alive()
            .filter(is_placeholder=False, locale=self.post.locale)
            .exclude(pk=self.post.pk)
        )
        rows = list(found.order_by("type", "title").values_list("pk", "title", "type")[:_MOST])
        groups: dict[str, list[Choice]] = {}
        for pk, title, type_name in rows:
            groups.setdefault(type_name, []).append((str(pk), title))
        return list(groups.items())

    def _terms(self) -> list[tuple[str, list[Choice]]]:
        uses = [use.slug for use in find_post_type(self.post.type).taxonomies]
        rows = Term.objects.filter(taxonomy__in=uses, locale__in=["", self.post.locale])
        groups: dict[str, list[Choice]] = {}
        for term in rows.order_by("taxonomy", "order_index", "name")[:_MOST]:
            definition = taxonomies.get(term.taxonomy)
            label = definition.label if definition else term.taxonomy
            groups.setdefault(label, []).append((str(term.pk), term.name))
        return list(groups.items())


def shared_modules() -> dict[str, tuple[str, Mapping[str, Json]]]:
    """Global modules by slug: instance id and props."""
    rows = ModuleInstance.objects.filter(scope="global").values_list("global_slug", "pk", "props")
    return {str(slug): (str(pk), props) for slug, pk, props in rows}


def addable(post: Post, shared: Iterable[str]) -> list[tuple[str, list[Choice]]]:
    """What the button for a new module offers."""
    own = [(module.name, module.label) for module in allowed_modules(post.type)]
    groups = [("For this post", own)]
    placed = dict(_types(shared))
    if placed:
        groups.append(("Shared", [(f"{kind}@{slug}", slug) for slug, kind in placed.items()]))
    return groups


def _types(slugs: Iterable[str]) -> list[tuple[str, str]]:
    wanted = list(slugs)
    if not wanted:
        return []
    rows = ModuleInstance.objects.filter(global_slug__in=wanted).values_list("global_slug", "type")
    return [(str(slug), type_) for slug, type_ in rows]


def origins(post: Post) -> dict[str, tuple[str, bool]]:
    """Who wrote each path that changed since the post was made, in words, and whether AI did. One query."""
    # What was there from the beginning needs no line of its own.
    later = Provenance.objects.filter(post=post).exclude(revision__reason="created")
    latest = later.values("path").annotate(last=Max("id")).values("last")
    found = {}
    for row in Provenance.objects.filter(pk__in=latest).values(
        "path",
        "author_name",
        "author__role",
        "agent_id",
        "via",
        "edited_by_name",
        "approved_by_name",
        "created_at",
    ):
        found[row["path"]] = _origin(row)
    return found


def _origin(row: Mapping[str, Any]) -> tuple[str, bool]:
    is_ai = bool(row["agent_id"]) or row["via"] in AI_DOORS or row["author__role"] == Role.AI_AGENT
    words = f"AI: {row['agent_id'] or row['author_name']}" if is_ai else f"By {row['author_name']}"
    if row["edited_by_name"]:
        words += f", edited by {row['edited_by_name']}"
    # A person's own words on live content are not approved by anybody else.
    if row["approved_by_name"] and (is_ai or row["approved_by_name"] != row["author_name"]):
        words += f", approved by {row['approved_by_name']}"
    return f"{words}, {(iso(row['created_at']) or '')[:10]}", is_ai
