"""Comparison of two states of a global module, menu or term, field by field."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.utils.translation import gettext as _

from content.comparison.comparison import ValueShape, compare
from content.comparison.difference_text import summarize
from content.comparison.references import ReferenceIds, load_titles
from content.comparison.risk import assess
from content.document.changes import ABSENT, Value, same
from content.document.labels import module_label, prop_label
from content.models import ModuleInstance, Post
from content.presenters.cards import CardGroup, ChangeCard, lines_of
from content.store.scopes import visible_to
from proofroom.core.content_scope import Scoped
from proofroom.core.i18n.languages import language_name
from proofroom.core.json import Json, JsonObject
from proofroom.definitions import modules, props_of
from proofroom.shared_content.shared_types import GLOBAL_MODULE, MENU, SharedKind, SharedRow
from proofroom_apps.menus.links import menu_post_ids

_PROPS: Final = "props."


@dataclass(frozen=True, slots=True)
class ComparedField:
    """A field of the documents: path, label, and kind of value."""

    path: str
    label: str
    shape: ValueShape


@dataclass(frozen=True, slots=True)
class SharedComparison:
    """The comparison of a row's documents."""

    kind: SharedKind
    row: SharedRow
    who: Scoped

    def changed_fields(self, before: JsonObject, after: JsonObject) -> list[ComparedField]:
        """Return the fields that differ. No query."""
        return [
            field
            for field in self._fields(before, after)
            if not same(_value(before, field.path), _value(after, field.path))
        ]

    def groups(self, before: JsonObject, after: JsonObject) -> list[CardGroup]:
        """Return the differences of two documents as cards. At most five queries, none if they are equal."""
        changed = self.changed_fields(before, after)
        if not changed:
            return []
        wanted = ReferenceIds()
        for document in (before, after):
            for field in changed:
                value = _value(document, field.path)
                if field.shape.kind in wanted.ids:
                    wanted.add(field.shape.kind, value)
                elif field.shape.nested is not None:
                    for item in value if isinstance(value, list) else [value]:
                        wanted.add_nested(field.shape.nested, item)
        references = load_titles(wanted, self.who)
        titles = self._titles(before, after) if self.kind.name == MENU else {}
        cards: list[ChangeCard] = []
        for field in changed:
            sides = (_value(before, field.path), _value(after, field.path))
            # A menu is compared as text, with one line for each item.
            if field.path == "items":
                before_items, after_items = (outline(side, titles) for side in sides)
                sides = ("\n".join(before_items), "\n".join(after_items))
            comparison = compare(*sides, field.shape)
            cards.append(
                ChangeCard(
                    field.path,
                    "changed",
                    field.label,
                    comparison,
                    lines_of(comparison, references),
                    assess(comparison, is_live=True),
                    summary=summarize(comparison),
                )
            )
        return [CardGroup(self.name, cards)]

    @property
    def name(self) -> str:
        """Heading over the fields: the type of a global module, else the kind."""
        if isinstance(self.row, ModuleInstance):
            return module_label(self.row.type)
        return _("Menu") if self.kind.name == MENU else _("Term")

    def _fields(self, *documents: JsonObject) -> Iterator[ComparedField]:
        if self.kind.name == GLOBAL_MODULE and isinstance(self.row, ModuleInstance):
            yield ComparedField("label", _("Name"), ValueShape("text"))
            yield from _module_fields(self.row.type, documents)
            return
        yield ComparedField("name", _("Name"), ValueShape("text"))
        yield ComparedField("slug", _("Slug"), ValueShape("slug"))
        if self.kind.name == MENU:
            yield ComparedField("locale", _("Language"), ValueShape("select"))
            yield ComparedField("items", _("Items"), ValueShape("textarea"))
        else:
            yield ComparedField("description", _("Description"), ValueShape("textarea"))
            yield ComparedField("parentId", _("Parent term"), ValueShape("taxonomy-reference"))

    def _titles(self, *documents: JsonObject) -> Mapping[str, str]:
        """Return the titles of posts in a menu's items. One query."""
        ids = {id_ for document in documents for id_ in menu_post_ids(_items(document["items"]))}
        seen = visible_to(Post.objects.all(), self.who)
        rows = seen.filter(pk__in=ids).values_list("pk", "title", "path")
        return {str(pk): f"{title} · {path}" for pk, title, path in (rows if ids else ())}


def outline(items: Value, titles: Mapping[str, str], depth: int = 0) -> Iterator[str]:
    """Yield a menu's items as lines with their targets, indented by level."""
    for item in _items(items):
        label, url = str(item.get("label") or ""), str(item.get("url") or "")
        if item.get("type") == "post":
            url = titles.get(str(item.get("postId")).lower(), _("Deleted page"))
        target = f" → {url}" if url else ""
        yield f"{'    ' * depth}{label or url}{target if label else ''}"
        yield from outline(item.get("children"), titles, depth + 1)


def _items(value: object) -> Sequence[Mapping[str, Json]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _plain_items(value: object) -> list[Json]:
    """Return the items without ids, and without addresses that pages look up."""
    return [
        {
            "label": item.get("label"),
            "type": item.get("type"),
            "postId": item.get("postId"),
            "url": "" if item.get("type") == "post" else item.get("url"),
            "children": _plain_items(item.get("children")),
        }
        for item in _items(value)
    ]


def _module_fields(type_: str, documents: Collection[JsonObject]) -> Iterator[ComparedField]:
    """Yield the props in the order of the definition, then undefined ones."""
    definition = modules.get(type_)
    known = props_of(definition.Props) if definition else {}
    stored = [name for document in documents for name in _props(document)]
    for name in dict.fromkeys([*known, *stored]):
        prop = known.get(name)
        shape = ValueShape(prop.kind, prop.nested) if prop else ValueShape("json")
        yield ComparedField(f"{_PROPS}{name}", prop_label(type_, name), shape)


def _props(document: JsonObject) -> Mapping[str, Json]:
    props = document.get("props")
    return props if isinstance(props, dict) else {}


def _value(document: JsonObject, path: str) -> Value:
    if path.startswith(_PROPS):
        return _props(document).get(path.removeprefix(_PROPS), ABSENT)
    value = document.get(path)
    if path == "description":
        # Documents from before this field have none.
        return value or ""
    if path == "items":
        return _plain_items(value)
    return language_name(value) if path == "locale" and isinstance(value, str) else value
