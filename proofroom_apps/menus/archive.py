"""Menus in an archive."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from proofroom.archive.export import Export
from proofroom.archive.imports import ArchiveImport, Mode, Outcome
from proofroom.archive.registry import TableKind
from proofroom.archive.rows import IdentifiedRow
from proofroom.core.json import JsonObject
from proofroom.shared_content.archive import NAME as PROPOSALS
from proofroom.shared_content.archive import import_change
from proofroom_apps.menus.links import menu_post_ids, portable_items
from proofroom_apps.menus.models import Menu
from proofroom_apps.menus.services import create_menu, edited_menu
from proofroom_apps.menus.shared_kind import MenuKind

NAME: Final = "menus"


class ArchivedMenu(IdentifiedRow):
    slug: str
    locale: str
    name: str
    items: list[Any]


class MenuArchive(TableKind[ArchivedMenu, Menu]):
    model = Menu
    name = NAME
    unique = (("id",), ("slug", "locale"))
    label = gettext_lazy("Menus")

    def export(self, export: Export) -> Iterator[JsonObject]:
        for menu in Menu.objects.order_by("pk").iterator(chunk_size=100):
            yield {
                "id": str(menu.pk),
                "slug": menu.slug,
                "locale": menu.locale,
                "name": menu.name,
                "items": portable_items(menu.items),
            }

    def key(self, row: ArchivedMenu) -> dict[str, object]:
        return {"slug": row.slug, "locale": row.locale}

    def title(self, row: ArchivedMenu) -> str:
        return row.name

    def write_row(self, row: ArchivedMenu, menu: Menu | None, job: ArchiveImport) -> None:
        if menu is not None:
            document = edited_menu(
                menu, name=row.name, slug=row.slug, locale=row.locale, items=row.items
            )
            import_change(job, MenuKind(), menu.pk, document, name=NAME, title=menu.name)
        # Only changes of an existing menu can be proposed.
        elif job.mode == Mode.PROPOSE:
            job.differ(NAME, row.name, "menu", None, row.slug)
            job.tell(NAME, Outcome.KEPT, row.name)
        elif job.left_out and not job.left_out.isdisjoint(map(str, menu_post_ids(row.items))):
            sentence = _("It contains a post that was not imported.")
            job.leave_out(NAME, row.name, row.id, sentence)
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
