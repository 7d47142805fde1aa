"""The items of a menu as form rows: parsed, moved, added and removed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final
from uuid import uuid4

from proofroom.core.json import Json, JsonObject
from proofroom.core.validation.limits import URL_MAX
from proofroom_apps.menus.items import MAX_MENU_DEPTH, MAX_MENU_ITEMS

MOVES: Final = ("up", "down", "in", "out", "remove")


@dataclass(frozen=True, slots=True)
class MenuRow:
    """A menu item. `depth` is its level below the top."""

    id: str
    depth: int
    label: str = ""
    type: str = "custom"
    url: str = ""
    post_id: str = ""


@dataclass(slots=True)
class MenuNode:
    """A row with its child rows, for the template."""

    row: MenuRow
    children: list[MenuNode] = field(default_factory=list)
    title: str = ""
    where: str = ""
    state: str = ""
    errors: Sequence[str] = ()

    @property
    def name(self) -> str:
        return self.row.label or self.title or self.row.url


def rows_of(items: object, depth: int = 0) -> Iterator[MenuRow]:
    """Yield the rows of a tree of items. The tree may be unvalidated: invalid items are skipped."""
    if not isinstance(items, list) or depth > MAX_MENU_DEPTH:
        return
    # One more than allowed, so that the service reports the limit instead of silently cutting.
    for item in items[: MAX_MENU_ITEMS + 1]:
        if isinstance(item, Mapping):
            # Unvalidated input: use only strings, ignore other types.
            texts = [
                value[:URL_MAX] if isinstance(value := item.get(name), str) else ""
                for name in ("id", "label", "url", "postId")
            ]
            kind = "post" if item.get("type") == "post" else "custom"
            yield MenuRow(texts[0] or str(uuid4()), depth, texts[1], kind, texts[2], texts[3])
            yield from rows_of(item.get("children", []), depth + 1)


def read_rows(data: Mapping[str, str], ids: Sequence[str]) -> list[MenuRow]:
    """Return the rows of the form without scripts. `row` lists their ids in order; each row has its own fields."""
    found: list[MenuRow] = []
    # One more than allowed, so that the service reports the limit instead of silently cutting.
    for id_ in ids[: MAX_MENU_ITEMS + 1]:
        deepest = found[-1].depth + 1 if found else 0
        sent = data.get(f"depth-{id_}", "")
        # isascii(), because isdigit() accepts "²" too, which int() rejects.
        depth = int(sent) if sent.isascii() and sent.isdigit() and len(sent) < 3 else 0
        kind = "post" if data.get(f"type-{id_}") == "post" else "custom"
        texts = [data.get(f"{name}-{id_}", "") for name in ("label", "url", "postId")]
        # A row can be at most one level below the row before it, whatever the form says.
        found.append(MenuRow(id_, min(depth, deepest), texts[0], kind, texts[1], texts[2]))
    return found


def rows_to_items(rows: Sequence[MenuRow]) -> list[Json]:
    """Return the rows as a tree for the service."""
    top: list[Json] = []
    lists = [top]
    for row in rows:
        del lists[row.depth + 1 :]
        children: list[Json] = []
        target: JsonObject = {"postId": row.post_id} if row.type == "post" else {"url": row.url}
        lists[-1].append(
            {"id": row.id, "label": row.label, "type": row.type, "children": children, **target}
        )
        lists.append(children)
    return top


def nodes_of(rows: Sequence[MenuRow]) -> list[MenuNode]:
    """Return the rows as a tree for the template."""
    top: list[MenuNode] = []
    lists = [top]
    for row in rows:
        del lists[row.depth + 1 :]
        node = MenuNode(row)
        lists[-1].append(node)
        lists.append(node.children)
    return top


def by_path(nodes: Sequence[MenuNode], path: str = "items") -> Iterator[tuple[str, MenuNode]]:
    """Yield every node with the path that the service's errors use for it."""
    for place, node in enumerate(nodes):
        yield f"{path}.{place}", node
        yield from by_path(node.children, f"{path}.{place}.children")


def move_row(rows: Sequence[MenuRow], id_: str, way: str) -> list[MenuRow]:
    """Return the rows after a row's button was pressed; unchanged if the row is unknown or cannot move."""
    place = next((at for at, row in enumerate(rows) if row.id == id_), None)
    if place is None:
        return list(rows)
    end = _end(rows, place)
    before, own, after = list(rows[:place]), list(rows[place:end]), list(rows[end:])
    depth = own[0].depth
    if way == "remove":
        # The children of a removed item move up one level.
        return before + _shifted(own[1:], -1) + after
    if (
        way == "in"
        and before
        and before[-1].depth >= depth
        and (max(row.depth for row in own) + 1) < MAX_MENU_DEPTH
    ):
        return before + _shifted(own, 1) + after
    if way == "out" and depth:
        # Move behind the later siblings, or they would become children of this item.
        last = next((at for at, row in enumerate(after) if row.depth < depth), len(after))
        return before + after[:last] + _shifted(own, -1) + after[last:]
    if way == "up" and (start := _before(rows, place)) is not None:
        return list(rows[:start]) + own + list(rows[start:place]) + after
    if way == "down" and after and after[0].depth == depth:
        next_end = _end(rows, end)
        return before + list(rows[end:next_end]) + own + list(rows[next_end:])
    return list(rows)


def _end(rows: Sequence[MenuRow], place: int) -> int:
    """Return the end index of the row's subtree."""
    later = range(place + 1, len(rows))
    return next((at for at in later if rows[at].depth <= rows[place].depth), len(rows))


def _before(rows: Sequence[MenuRow], place: int) -> int | None:
    """Return the index of the previous sibling, or None."""
    for at in range(place - 1, -1, -1):
        if rows[at].depth <= rows[place].depth:
            return at if rows[at].depth == rows[place].depth else None
    return None


def _shifted(rows: Sequence[MenuRow], by: int) -> list[MenuRow]:
    return [replace(row, depth=row.depth + by) for row in rows]
