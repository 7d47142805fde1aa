"""Find and replace in what posts share: global modules, menus, taxonomy terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.db.models import F, QuerySet
from django.utils import timezone

from content.definitions import checking, modules
from content.models import Menu, ModuleInstance, ModuleRevision, Term
from content.replacing.documents import props_of_places
from content.replacing.props import edit_props
from content.richtext.links import safe_href
from content.rules.values import clean_line
from content.search_following import keep_words_of_global
from core import events
from core.actor import Actor
from core.errors import RuleViolation, invalid
from core.json import Json, JsonObject
from core.replacing import Edit, Hand, Place, batches
from core.replacing_rows import RowSource

GLOBALS: Final = "global_modules"
_LINE: Final = 200


class GlobalModuleSource:
    """Global modules, each changed like by hand: with a revision before and after."""

    tables: tuple[str, ...] = (GLOBALS,)

    def find(self, edit: Edit, tables: frozenset[str]) -> list[Any]:
        keys = edit.keys(GLOBALS, _globals(), texts=("label",), documents=("props",))
        found: list[Any] = []
        for part in batches(keys):
            rows = _globals().filter(pk__in=part).order_by("pk")
            if edit.writes:
                rows = rows.select_for_update(of=("self",))
            found += rows.values_list("pk", flat=True)
        return found

    def change(
        self, keys: Sequence[Any], edit: Edit, tables: frozenset[str], actor: Actor
    ) -> list[Place]:
        places: list[Place] = []
        for part in batches(keys):
            changed: list[tuple[ModuleInstance, str, JsonObject]] = []
            for row in _globals().filter(pk__in=part).order_by("pk"):
                hand = Hand(edit, GLOBALS, row.pk)
                try:
                    label, props = _changed(row, hand)
                except RuleViolation as error:
                    edit.refuse(f"{GLOBALS}.{row.pk}", error)
                    continue
                if hand.places:
                    places += hand.places
                    changed.append((row, label, props))
            if edit.writes and not edit.problems:
                _write(changed, edit.reason, actor)
        return places


def _globals() -> QuerySet[ModuleInstance]:
    return ModuleInstance.objects.filter(scope="global")


def _changed(row: ModuleInstance, hand: Hand) -> tuple[str, JsonObject]:
    """The label and the props as the hand wants them and the rules leave them."""
    label = clean_line("label", hand.take("label", row.label), _LINE)
    definition = modules.get(row.type)
    props = dict(row.props)
    if definition is not None:
        wanted = edit_props(definition.Props, row.props, hand, "props")
        changed = {name: value for name, value in wanted.items() if value != props[name]}
        props |= checking.check_partial(
            definition.Props, changed, prefix="props", what=f"The module {row.type}"
        )
        hand.settle({"label": label, **props_of_places(definition.Props, props, "props")})
    return label, props


def _write(
    changed: Sequence[tuple[ModuleInstance, str, JsonObject]], reason: str, actor: Actor
) -> None:
    rows = [row for row, _, _ in changed]
    known = set(
        ModuleRevision.objects.filter(
            instance__in=rows, version=F("instance__version")
        ).values_list("instance_id", flat=True)
    )
    revisions = [_revision(row, "before", None) for row in rows if row.pk not in known]
    for row, label, props in changed:
        row.label, row.props, row.updated_at = label, props, timezone.now()
        row.version += 1
        revisions.append(_revision(row, reason, actor))
    names = ["label", "props", "version", "updated_at"]
    ModuleInstance.objects.bulk_update(rows, names, batch_size=100)
    ModuleRevision.objects.bulk_create(revisions, batch_size=500)
    for row in rows:
        keep_words_of_global(row.pk, actor)
    payloads: list[tuple[None, JsonObject]] = [
        (None, {"what": "global-module", "id": str(row.pk), "slug": row.global_slug})
        for row in rows
    ]
    events.record_all("content.changed", payloads, actor=actor)


def _revision(row: ModuleInstance, reason: str, actor: Actor | None) -> ModuleRevision:
    return ModuleRevision(
        instance=row,
        version=row.version,
        label=row.label,
        props=dict(row.props),
        reason=reason,
        by_id=actor.user.pk if actor else None,
        by_name=actor.user.username if actor else "",
    )


def _change_term(term: Term, hand: Hand) -> None:
    name = hand.take("name", term.name)
    if hand.places:
        term.name = clean_line("name", name, _LINE, required=True)
        hand.settle({"name": term.name})


def _change_menu(menu: Menu, hand: Hand) -> None:
    name = hand.take("name", menu.name)
    items = [
        _item(item, hand, f"items.{place}") if isinstance(item, Mapping) else item
        for place, item in enumerate(menu.items)
    ]
    if hand.places:
        menu.name = clean_line("name", name, _LINE, required=True)
        hand.settle({"name": menu.name})
        menu.items = items
        menu.version += 1


def _item(item: Mapping[str, Json], hand: Hand, path: str) -> JsonObject:
    """An item of a menu: its label, and the address of one that leads to no post."""
    edited = dict(item)
    label, url = item.get("label"), item.get("url")
    if isinstance(label, str):
        wanted = hand.take(f"{path}.label", label)
        if wanted != label:
            wanted = clean_line(f"{path}.label", wanted, _LINE, required=True)
            hand.settle({f"{path}.label": wanted})
        edited["label"] = wanted
    if isinstance(url, str) and item.get("type") != "post":
        edited["url"] = hand.take(f"{path}.url", url)
        if edited["url"] != url and safe_href(edited["url"]) is None:
            raise invalid(
                f"{path}.url", "This is no path, and no http, https, mailto or tel address."
            )
    children = item.get("children")
    if isinstance(children, list):
        edited["children"] = [
            _item(child, hand, f"{path}.children.{place}") if isinstance(child, Mapping) else child
            for place, child in enumerate(children)
        ]
    return edited


TERMS: Final = RowSource(
    table="taxonomies",
    what="taxonomy-term",
    rows=Term.objects.all,
    change_row=_change_term,
    texts=("name",),
)
MENUS: Final = RowSource(
    table="menus",
    what="menu",
    rows=Menu.objects.all,
    change_row=_change_menu,
    texts=("name",),
    documents=("items",),
    touched=("version",),
)
