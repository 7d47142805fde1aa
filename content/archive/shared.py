"""Global modules, module groups and URL patterns in an archive."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy
from pydantic import Field

from content.archive.documents import LOST_REFERENCES
from content.models import ModuleGroup, ModuleInstance, UrlPattern
from content.modules.global_modules import build_global_document, create_global
from content.modules.module_groups import create_group, edit_group
from content.modules.shared_kind import GlobalModuleKind
from content.paths.url_patterns import change_pattern, create_pattern
from content.store.module_group_queries import place_json, read_places
from proofroom.archive.export import Export
from proofroom.archive.imports import ArchiveImport, Mode, Outcome
from proofroom.archive.registry import TableKind
from proofroom.archive.rows import IdentifiedRow
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.json import JsonObject
from proofroom.shared_content.archive import NAME as PROPOSALS
from proofroom.shared_content.archive import import_change

GLOBALS: Final = "global-modules"
GROUPS: Final = "module-groups"
PATTERNS: Final = "url-patterns"


class GlobalRow(IdentifiedRow):
    slug: str
    type: str
    label: str
    props: dict[str, Any]


class GlobalArchive(TableKind[GlobalRow, ModuleInstance]):
    model = ModuleInstance
    name = GLOBALS
    unique = (("id",), ("slug",))
    label = gettext_lazy("Global modules")

    def export(self, export: Export) -> Iterator[JsonObject]:
        rows = ModuleInstance.objects.globals().order_by("pk")
        wanted = export.of_kind(GLOBALS)
        if wanted is not None:
            rows = rows.filter(pk__in=wanted)
        for row in rows.iterator(chunk_size=100):
            yield {
                "id": str(row.pk),
                "slug": row.global_slug,
                "type": row.type,
                "label": row.label,
                "props": row.props,
            }

    def key(self, row: GlobalRow) -> dict[str, object]:
        return {"global_slug": row.slug}

    def title(self, row: GlobalRow) -> str:
        return row.label or row.slug

    def stored(self) -> QuerySet[ModuleInstance]:
        return ModuleInstance.objects.globals()

    def write_row(self, row: GlobalRow, module: ModuleInstance | None, job: ArchiveImport) -> None:
        if module is None:
            try:
                # A savepoint, so that the first attempt leaves nothing behind if its references are missing.
                with transaction.atomic():
                    self._create(row, job)
            except RuleViolation as error:
                if error.code not in LOST_REFERENCES:
                    raise
                self._create(row, job, has_lost_references=True)
                job.note(f"{row.label or row.slug}: {error.message}")
            job.created[PROPOSALS].add(row.id)
            job.tell(GLOBALS, Outcome.CREATED, row.label or row.slug, row.id)
            return
        if (module.type, module.global_slug) != (row.type, row.slug):
            raise invalid("type", "The global module has another type or slug here.")
        document = build_global_document(module, label=row.label, props=row.props)
        title = module.label or row.slug
        import_change(job, GlobalModuleKind(), module.pk, document, name=GLOBALS, title=title)

    def _create(
        self, row: GlobalRow, job: ArchiveImport, *, has_lost_references: bool = False
    ) -> None:
        create_global(
            actor=job.actor,
            slug=row.slug,
            type=row.type,
            label=row.label,
            props=row.props,
            module_id=UUID(row.id),
            has_lost_references=has_lost_references,
            keeps_undefined=job.keeps_history,
        )


class GroupRow(IdentifiedRow):
    name: str = Field(max_length=80)
    label: str
    description: str
    post_type: str
    modules: list[Any]


class GroupArchive(TableKind[GroupRow, ModuleGroup]):
    """Module groups made by users. Groups defined in code are not archived."""

    model = ModuleGroup
    name = GROUPS
    unique = (("id",), ("name",))
    label = gettext_lazy("Module groups")

    def export(self, export: Export) -> Iterator[JsonObject]:
        for row in ModuleGroup.objects.order_by("pk").iterator(chunk_size=100):
            yield {"id": str(row.pk), **_group_values(row)}

    def key(self, row: GroupRow) -> dict[str, object]:
        return {"name": row.name}

    def title(self, row: GroupRow) -> str:
        return row.name

    def write_row(self, row: GroupRow, group: ModuleGroup | None, job: ArchiveImport) -> None:
        values = row.model_dump(by_alias=True, exclude={"id"})
        if group is None:
            create_group(
                actor=job.actor,
                name=row.name,
                label=row.label,
                post_type=row.post_type,
                modules=row.modules,
                description=row.description,
                group_id=UUID(row.id),
            )
            job.tell(GROUPS, Outcome.CREATED, row.label, row.id)
        elif not job.compare(GROUPS, group.label, _group_values(group), values):
            job.tell(GROUPS, Outcome.UNCHANGED, row.label, row.id)
        elif job.mode == Mode.UPDATE:
            edit_group(
                actor=job.actor,
                name=group.name,
                label=row.label,
                description=row.description,
                modules=row.modules,
            )
            job.tell(GROUPS, Outcome.UPDATED, row.label, row.id)
        else:
            job.tell(GROUPS, Outcome.KEPT, row.label, row.id)


def _group_values(row: ModuleGroup) -> JsonObject:
    return {
        "name": row.name,
        "label": row.label,
        "description": row.description,
        "postType": row.post_type,
        "modules": [place_json(place) for place in read_places(row.modules)],
    }


class PatternRow(IdentifiedRow):
    type: str
    locale: str
    pattern: str


class PatternArchive(TableKind[PatternRow, UrlPattern]):
    model = UrlPattern
    name = PATTERNS
    unique = (("id",), ("type", "locale"))
    label = gettext_lazy("URL patterns")

    def export(self, export: Export) -> Iterator[JsonObject]:
        for row in UrlPattern.objects.filter(is_removed=False).order_by("pk"):
            yield {
                "id": str(row.pk),
                "type": row.type,
                "locale": row.locale,
                "pattern": row.pattern,
            }

    def key(self, row: PatternRow) -> dict[str, object]:
        return {"type": row.type, "locale": row.locale}

    def title(self, row: PatternRow) -> str:
        return f"{row.type}, {row.locale}"

    def find(self, row: PatternRow) -> UrlPattern | None:
        return self.stored().filter(pk=UUID(row.id), is_removed=False).first()

    def write_row(self, row: PatternRow, stored: UrlPattern | None, job: ArchiveImport) -> None:
        title = self.title(row)
        here = {"pattern": stored.pattern} if stored else {}
        if not job.compare(PATTERNS, title, {**here}, {"pattern": row.pattern}):
            job.tell(PATTERNS, Outcome.UNCHANGED, title, row.id)
        elif job.mode == Mode.PROPOSE or (stored is not None and job.mode != Mode.UPDATE):
            job.tell(PATTERNS, Outcome.KEPT, title, row.id)
        elif stored is None:
            create_pattern(
                actor=job.actor,
                type=row.type,
                locale=row.locale,
                pattern=row.pattern,
                pattern_id=UUID(row.id),
            )
            job.tell(PATTERNS, Outcome.CREATED, title, row.id)
        else:
            change_pattern(pattern_id=stored.pk, actor=job.actor, pattern=row.pattern)
            job.tell(PATTERNS, Outcome.UPDATED, title, row.id)
