"""Conversion of the rows that hold values of modules or custom fields, in batches, with models of a
migration state."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Any, Final
from uuid import UUID

from django.core.management import CommandError
from django.db import models
from django.db.models import CharField, Q, TextField, Value
from django.db.models.functions import Cast
from django.db.models.lookups import Contains

from content.document.changes import same
from content.migration_operations.documents import (
    CustomFieldsRewriting,
    ModuleRewriting,
    Names,
    Rewriting,
    StepFailed,
    with_paths,
)
from proofroom.core.batches import batches
from proofroom.core.json import JsonObject

GLOBAL_MODULE: Final = "global-module"
"""The kind of shared content for global modules."""
_BATCH: Final = 200


class StoredRows:
    """All stored content in a migration state. `changed` counts the changed rows by kind."""

    # The models of a migration state are created at runtime, so they have no static types.
    def __init__(self, apps: Any, rewriting: Rewriting) -> None:
        self._apps = apps
        self._rewriting = rewriting
        self._names: dict[UUID, dict[str, frozenset[str]]] = defaultdict(dict)
        """Names of values before the steps by post, from live content first, then from documents."""
        self._sets: dict[frozenset[str], frozenset[str]] = {}
        """Interned sets of names, because most modules have the same names."""
        self.changed: dict[str, int] = {}

    def lock_posts(self, condition: Q) -> list[UUID]:
        """Lock posts, and so their content, until the end of the transaction, and return their ids."""
        return _lock(self._rows("Post").filter(condition))

    def with_module(self, module_type: str) -> Q:
        """Return the condition for posts with a module of the type, in live content, drafts, revisions or
        rejections."""
        holders = [
            self._rows("PostModule").filter(instance__type=module_type),
            self._rows("Draft").filter(_names(module_type, "base", "document")),
            self._rows("Revision").filter(_names(module_type, "document")),
            self._rows("RejectedChange").filter(_names(module_type, "proposal")),
        ]
        if (edited := self._edited_proposals()) is not None:
            holders.append(edited.filter(_names(module_type, "proposed", "accepted")))
        return reduce(or_, (Q(pk__in=rows.values("post_id")) for rows in holders))

    def custom_fields(self, rewriting: CustomFieldsRewriting) -> None:
        """Convert the live custom fields of posts of the type."""

        def columns_of(row: Any) -> Mapping[str, object]:
            self._remember(row.pk, rewriting.names_of(row.custom_fields))
            return {"custom_fields": rewriting.values(row.custom_fields, is_whole=True)}

        self._rewrite(self._rows("Post").filter(type=rewriting.type), "posts", columns_of)

    def modules(self, rewriting: ModuleRewriting) -> None:
        """Convert live modules, overrides, module groups, and versions and proposals of global modules."""
        places = self._rows("PostModule").filter(instance__type=rewriting.type)
        columns = places.values_list("post_id", "pk", "instance__props", "overrides")
        for post_id, pk, *values in columns.iterator(_BATCH):
            self._remember(post_id, rewriting.names_of(str(pk), *values))
        instances = self._rows("ModuleInstance").filter(type=rewriting.type)
        # Local modules are covered by the lock of their post. Global modules have no post, and their row lock
        # covers their versions and proposals.
        shared = _lock(instances.filter(scope="global"))
        groups = self._rows("ModuleGroup").filter(_names(rewriting.type, "modules"))
        _lock(groups)
        self._rewrite(
            places.exclude(overrides={}),
            "overrides",
            lambda row: {"overrides": rewriting.values(row.overrides, is_whole=False)},
        )
        self._rewrite(
            instances,
            "modules",
            lambda row: {
                "type": rewriting.becomes,
                "props": rewriting.values(row.props, is_whole=True),
            },
        )
        self._rewrite(
            groups,
            "module groups",
            lambda row: {"modules": [rewriting.module(module) for module in row.modules]},
        )
        of_shared = Q(kind=GLOBAL_MODULE, row_id__in=shared)
        self._rewrite(
            self._rows("SharedRevision", "proofroom_shared_content").filter(of_shared),
            "versions of global modules",
            lambda row: {"document": _shared(rewriting, row.document)},
        )
        self._rewrite(
            self._rows("SharedProposal", "proofroom_shared_content").filter(of_shared),
            "proposals for global modules",
            lambda row: {
                name: _shared(rewriting, getattr(row, name)) for name in ("base", "document")
            },
        )

    def documents(self, name: str) -> None:
        """Convert revisions and drafts that contain the type, even if live content no longer does."""
        rewriting = self._rewriting

        def revision(row: Any) -> Mapping[str, object]:
            names = rewriting.names_in(row.document)
            self._remember(row.post_id, names)
            return {
                "document": rewriting.document(row.document),
                "changed_paths": rewriting.paths(row.changed_paths, names),
            }

        def draft(row: Any) -> Mapping[str, object]:
            names = {**rewriting.names_in(row.base), **rewriting.names_in(row.document)}
            self._remember(row.post_id, names)
            return {
                "base": rewriting.document(row.base),
                "document": rewriting.document(row.document),
                "marks": rewriting.marks(row.marks, names),
            }

        named = self._rows("Revision").filter(_names(name, "document"))
        self._rewrite(named, "revisions", revision)
        named = self._rows("Draft").filter(_names(name, "base", "document"))
        self._rewrite(named, "drafts", draft)

    def paths(self, posts: Sequence[UUID]) -> None:
        """Convert data that refers to values by path: provenance, rejections and translation origins."""
        self._rewrite(
            self._rows("CopyOrigin").filter(post__in=posts),
            "translations",
            lambda row: (
                {
                    "hashes": self._rewriting.hashes(row.hashes, self._names[row.post_id]),
                    "untranslated": sorted(
                        new
                        for path in row.untranslated
                        for new in self._rewriting.paths_after(path, self._names[row.post_id])
                    ),
                }
                if row.hashes
                else {}
            ),
        )
        self._rejections(posts)
        self._edits(posts)
        self._provenance(posts)

    def _remember(self, post_id: UUID, names: Names) -> None:
        known = self._names[post_id]
        for prefix, found in names.items():
            known.setdefault(prefix, self._sets.setdefault(found, found))

    def _rejections(self, posts: Sequence[UUID]) -> None:
        """Convert rejections. One whose path no longer has exactly one value can't be undone and is deleted."""
        rows = self._rows("RejectedChange").filter(post__in=posts)
        by_rejection: dict[tuple[int, UUID], dict[int, str]] = defaultdict(dict)
        for pk, rejection, post_id, path in rows.values_list("pk", "rejection", "post_id", "path"):
            by_rejection[rejection, post_id][pk] = path
        originals: dict[int, tuple[str, Names]] = {}
        paths: dict[int, str] = {}
        deleted_ids: list[int] = []
        for (_, post_id), changes in by_rejection.items():
            names = with_paths(self._names[post_id], changes.values())
            for pk, path in changes.items():
                after = self._rewriting.paths_after(path, names)
                if len(after) != 1:
                    deleted_ids.append(pk)
                    continue
                originals[pk], paths[pk] = (path, names), after[0]
        for part in batches(deleted_ids, _BATCH):
            rows.filter(pk__in=part).delete()
        # Paths are unique per rejection, and two of them may swap, so they first get a temporary unique
        # value.
        moved = [pk for pk, path in paths.items() if path != originals[pk][0]]
        for part in batches(moved, _BATCH):
            rows.filter(pk__in=part).update(path=Cast("pk", CharField()))

        def columns_of(row: Any) -> Mapping[str, object]:
            proposal = row.proposal and self._rewriting.proposal(
                originals[row.pk][0], row.proposal, originals[row.pk][1]
            )
            return {"path": paths[row.pk], "proposal": proposal}

        self._rewrite(rows, "rejections", columns_of)
        self.changed["rejections"] += len(deleted_ids)

    def _edits(self, posts: Sequence[UUID]) -> None:
        """Convert edited proposals. One whose path no longer has exactly one value is deleted."""
        if (table := self._edited_proposals()) is None:
            return
        rows, deleted_ids = table.filter(post__in=posts), list[int]()

        def columns_of(row: Any) -> Mapping[str, object]:
            names = with_paths(self._names[row.post_id], [row.path])
            after = self._rewriting.paths_after(row.path, names)
            if len(after) != 1:
                deleted_ids.append(row.pk)
                return {}
            found: dict[str, object] = {"path": after[0]}
            for name in ("proposed", "accepted"):
                if value := getattr(row, name):
                    stored = {"after": value, "marks": {}}
                    found[name] = self._rewriting.proposal(row.path, stored, names)["after"]
            return found

        self._rewrite(rows, "edited proposals", columns_of)
        for part in batches(deleted_ids, _BATCH):
            rows.filter(pk__in=part).delete()
        self.changed["edited proposals"] += len(deleted_ids)

    def _edited_proposals(self) -> Any:
        """Return the rows of edited proposals, None in a migration state from before there were any."""
        try:
            return self._rows("EditedProposal")
        except LookupError:
            return None

    def _provenance(self, posts: Sequence[UUID]) -> None:
        """Convert provenance. Rows of removed values stay as history, unless another value now has the path."""
        table = self._rows("Provenance")
        changed = 0
        for batch in _rows_in_batches(table.filter(post__in=posts)):
            first, more, deleted_ids = [], [], []
            for row in batch:
                names = self._names[row.post_id]
                paths = self._rewriting.paths_after(row.path, names)
                if not paths and self._rewriting.is_taken(row.path, names):
                    deleted_ids.append(row.pk)
                if not paths or list(paths) == [row.path]:
                    continue
                # A value that was split gets a provenance row for each part.
                columns = {field.attname: getattr(row, field.attname) for field in row._meta.fields}
                more += [table.model(**{**columns, "id": None, "path": path}) for path in paths[1:]]
                row.path = paths[0]
                first.append(row)
            table.bulk_update(first, ["path"])
            table.bulk_create(more)
            table.filter(pk__in=deleted_ids).delete()
            changed += len(first) + len(deleted_ids)
        self.changed["authors of live content"] = changed

    def _rows(self, name: str, app: str = "content") -> Any:
        return self._apps.get_model(app, name).objects.all()

    def _place_of(self, row: Any, label: str) -> str:
        """Return the place of a row for an error message: titles of its posts, or its own name."""
        posts = self._rows("Post")
        if row._meta.model_name == "moduleinstance":
            placed = self._rows("PostModule").filter(instance_id=row.pk)
            posts = posts.filter(pk__in=placed.values("post_id"))
        else:
            posts = posts.filter(pk=getattr(row, "post_id", row.pk))
        found = [f"{title!r} ({pk})" for pk, title in posts.values_list("pk", "title")[:3]]
        own = getattr(row, "global_slug", None) or getattr(row, "name", None) or row.pk
        is_revision = row._meta.model_name in ("revision", "sharedrevision")
        version = f", version {row.version}" if is_revision else ""
        return f"{label}, {' and '.join(found) or own}{version}"

    def _rewrite(
        self, rows: Any, label: str, columns_of: Callable[[Any], Mapping[str, Any]]
    ) -> None:
        changed = 0
        for batch in _rows_in_batches(rows):
            written: list[models.Model] = []
            names: set[str] = set()
            for row in batch:
                try:
                    columns = columns_of(row)
                except StepFailed as error:
                    raise CommandError(f"{self._place_of(row, label)}: {error}") from error
                if not all(same(getattr(row, name), value) for name, value in columns.items()):
                    written.append(row)
                    names |= columns.keys()
                for name, value in columns.items():
                    setattr(row, name, value)
            if written:
                rows.model.objects.bulk_update(written, sorted(names))
            changed += len(written)
        self.changed[label] = changed


def _names(name: str, *columns: str) -> Q:
    """Return a condition for rows whose JSON contains the string.

    It may match too many rows, which then don't change.
    """
    text = f'"{name}"'
    parts = (Contains(Cast(column, TextField()), Value(text)) for column in columns)
    return reduce(or_, map(Q, parts))


def _lock(rows: Any) -> list[UUID]:
    """Lock rows until the end of the transaction, and return their ids."""
    # In order of ids, as everywhere, so that transactions can't deadlock.
    locked = rows.order_by("pk").select_for_update(of=("self",), no_key=True)
    return list(locked.values_list("pk", flat=True))


def _rows_in_batches(rows: Any) -> Iterable[Sequence[Any]]:
    ids = list(rows.order_by("pk").values_list("pk", flat=True))
    for part in batches(ids, _BATCH):
        yield list(rows.model.objects.filter(pk__in=part).order_by("pk"))


def _shared(rewriting: ModuleRewriting, document: JsonObject) -> JsonObject:
    props: Any = document["props"]
    return {**document, "props": rewriting.values(props, is_whole=True)}
