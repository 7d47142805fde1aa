"""Menus in an archive."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Final
from uuid import UUID

from django.utils.translation import gettext_lazy

from content.models import Post
from proofroom.archive.export import Export
from proofroom.archive.imports import Import, Mode, Outcome, refused
from proofroom.archive.kinds import ArchiveKind, ArchiveRow, Id
from proofroom.core.errors import CmsError
from proofroom.core.json import Json, JsonObject
from proofroom.menus.links import menu_post_ids
from proofroom.menus.models import Menu
from proofroom.menus.services import create_menu, edited_menu
from proofroom.menus.shared_kind import MenuKind
from proofroom.shared_content.archive import NAME as PROPOSALS
from proofroom.shared_content.archive import import_change

NAME: Final = "menus"


class MenuRow(ArchiveRow):
    id: Id
    slug: str
    locale: str
    name: str
    items: list[Any]


class MenuArchive(ArchiveKind[MenuRow]):
    name = NAME
    label = gettext_lazy("Menus")

    def export(self, export: Export) -> Iterator[JsonObject]:
        for menu in Menu.objects.order_by("pk").iterator(chunk_size=100):
            named = {str(id_) for id_ in menu_post_ids(menu.items)}
            there = Post.objects.alive().filter(pk__in=named).values_list("pk", flat=True)
            yield {
                "id": str(menu.pk),
                "slug": menu.slug,
                "locale": menu.locale,
                "name": menu.name,
                "items": _portable(menu.items, {str(id_) for id_ in there}),
            }

    def match(self, rows: Iterator[MenuRow], job: Import) -> None:
        for row in rows:
            if _find(row.id) is None:
                same = Menu.objects.filter(slug=row.slug, locale=row.locale).first()
                if same is not None:
                    job.map_id(row.id, str(same.pk))

    def write(self, rows: Iterator[MenuRow], job: Import) -> None:
        for row in rows:
            try:
                self._write(row, job)
            except CmsError as error:
                raise refused(NAME, row.name, error) from error

    def _write(self, row: MenuRow, job: Import) -> None:
        menu = _find(row.id)
        if menu is not None:
            document = edited_menu(
                menu, name=row.name, slug=row.slug, locale=row.locale, items=row.items
            )
            import_change(job, MenuKind(), menu.pk, document, name=NAME, title=menu.name)
        elif job.mode == Mode.PROPOSE:
            job.differ(NAME, row.name, "menu", None, row.slug)
            job.tell(NAME, Outcome.KEPT, row.name)
        else:
            create_menu(
                actor=job.actor,
                name=row.name,
                slug=row.slug,
                locale=row.locale,
                items=row.items,
                menu_id=UUID(row.id),
            )
            job.created[PROPOSALS].add(row.id)
            job.tell(NAME, Outcome.CREATED, row.name, row.id)


def _find(id_: str) -> Menu | None:
    return Menu.objects.filter(pk=UUID(id_)).first()


def _portable(items: list[Json], there: Collection[str]) -> list[Json]:
    """The items without the addresses of posts, which follow from the posts; of one that is gone only its label
    stays, where it has one, over the items below it."""
    found: list[Json] = []
    for item in items:
        if not isinstance(item, dict):
            continue
        children = item["children"]
        kept: JsonObject = {**item, "children": _portable(children, there)}
        if item["type"] == "post":
            kept["url"] = ""
            if item["postId"] not in there:
                del kept["postId"]
                kept["type"] = "custom"
                if not item["label"]:
                    continue
        found.append(kept)
    return found
