"""The rows that hold values of modules or custom fields, rewritten in batches with the models of a state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Any, Final
from uuid import UUID

from django.db import models
from django.db.models import Q, TextField, Value
from django.db.models.functions import Cast
from django.db.models.lookups import Contains

from content.changes import same
from content.migration_operations.rewriting import ModuleRewriting, Rewriting
from proofroom.core.batches import batches
from proofroom.core.json import JsonObject

GLOBAL_MODULE: Final = "global-module"
"""The kind of shared content that global modules are."""
_BATCH: Final = 200


class StoredRows:
    """Everything stored, as the state of a migration knows it. `changed` counts the rows that became others."""

    # The models of a state have no types: they are made from migrations.
    def __init__(self, apps: Any, rewriting: Rewriting) -> None:
        self._apps = apps
        self._rewriting = rewriting
        self.changed: dict[str, int] = {}

    def lock_posts(self, condition: Q) -> list[UUID]:
        """Lock posts until the transaction ends; what belongs to them is locked with them."""
        return _lock(self._rows("Post").filter(condition))

    def with_module(self, module_type: str) -> Q:
        """The posts that have a module of the type, had one, or were to have one that was rejected."""
        holders = (
            self._rows("PostModule").filter(instance__type=module_type),
            self._rows("Draft").filter(_names(module_type, "base", "document")),
            self._rows("Revision").filter(_names(module_type, "document")),
            self._rows("RejectedChange").filter(_names(module_type, "proposal")),
        )
        return reduce(or_, (Q(pk__in=rows.values("post_id")) for rows in holders))

    def custom_fields(self, post_type: str) -> None:
        """Rewrite the live custom fields of posts of the type."""
        self._rewrite(
            self._rows("Post").filter(type=post_type),
            "posts",
            lambda row: {"custom_fields": self._rewriting.values(row.custom_fields, is_whole=True)},
        )

    def modules(self, rewriting: ModuleRewriting) -> None:
        """Rewrite live modules, what posts override of shared ones, module groups, and shared modules of before."""
        for id_ in self._rows("PostModule").filter(instance__type=rewriting.type).values_list("pk"):
            rewriting.meet(str(id_[0]))
        instances = self._rows("ModuleInstance").filter(type=rewriting.type)
        # Posts lock their own modules and these are nobody's. They lock their versions and proposals in turn.
        shared = _lock(instances.filter(scope="global"))
        groups = self._rows("ModuleGroup").filter(_names(rewriting.type, "modules"))
        _lock(groups)
        self._rewrite(
            self._rows("PostModule").filter(instance__type=rewriting.type).exclude(overrides={}),
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
        """Rewrite revisions and drafts that name the type `name`; live content may have lost it long since."""
        self._rewrite(
            self._rows("Revision").filter(_names(name, "document")),
            "revisions",
            lambda row: {"document": self._rewriting.document(row.document)},
        )
        self._rewrite(
            self._rows("Draft").filter(_names(name, "base", "document")),
            "drafts",
            lambda row: {
                "base": self._rewriting.document(row.base),
                "document": self._rewriting.document(row.document),
            },
        )

    def paths(self, posts: Sequence[UUID]) -> None:
        """Rewrite what leads to the values: who wrote them, what changed, what a translation was made from."""
        rewriting = self._rewriting
        self._rewrite(
            self._rows("Draft").filter(is_empty=False, post__in=posts),
            "authors in drafts",
            lambda row: {"marks": rewriting.marks(row.marks)},
        )
        self._rewrite(
            self._rows("Revision").filter(post__in=posts),
            "lists of changes",
            lambda row: {"changed_paths": rewriting.paths(row.changed_paths)},
        )
        self._rewrite(
            self._rows("CopyOrigin").filter(post__in=posts),
            "translations",
            lambda row: {"hashes": rewriting.hashes(row.hashes)},
        )
        self._rewrite(
            self._rows("RejectedChange").filter(post__in=posts), "rejections", self._rejected
        )
        self._provenance(posts)

    def _rejected(self, row: Any) -> dict[str, object]:
        """A change that is not one any more can't be taken back: what was proposed is forgotten."""
        paths = self._rewriting.paths_after(row.path)
        if len(paths) != 1:
            return {"proposal": None}
        return {
            "path": paths[0],
            "proposal": row.proposal and self._rewriting.proposal(row.path, row.proposal),
        }

    def _provenance(self, posts: Sequence[UUID]) -> None:
        """Values that a step removed keep their rows: they tell what was."""
        table = self._rows("Provenance")
        changed = 0
        for batch in _rows_in_batches(table.filter(post__in=posts)):
            first, more = [], []
            for row in batch:
                paths = self._rewriting.paths_after(row.path)
                if not paths or list(paths) == [row.path]:
                    continue
                columns = {field.attname: getattr(row, field.attname) for field in row._meta.fields}
                more += [table.model(**{**columns, "id": None, "path": path}) for path in paths[1:]]
                row.path = paths[0]
                first.append(row)
            table.bulk_update(first, ["path"])
            table.bulk_create(more)
            changed += len(first)
        self.changed["authors of live content"] = changed

    def _rows(self, name: str, app: str = "content") -> Any:
        return self._apps.get_model(app, name).objects.all()

    def _rewrite(
        self, rows: Any, label: str, columns_of: Callable[[Any], Mapping[str, object]]
    ) -> None:
        changed = 0
        for batch in _rows_in_batches(rows):
            written: list[models.Model] = []
            names: set[str] = set()
            for row in batch:
                columns = columns_of(row)
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
    """The rows whose JSON has the string somewhere: a few too many, which stay as they are."""
    text = f'"{name}"'
    parts = (Contains(Cast(column, TextField()), Value(text)) for column in columns)
    return reduce(or_, map(Q, parts))


def _lock(rows: Any) -> list[UUID]:
    """Lock rows until the transaction ends, in the order in which everybody locks several."""
    locked = rows.order_by("pk").select_for_update(of=("self",), no_key=True)
    return list(locked.values_list("pk", flat=True))


def _rows_in_batches(rows: Any) -> Iterable[Sequence[Any]]:
    ids = list(rows.order_by("pk").values_list("pk", flat=True))
    for part in batches(ids, _BATCH):
        yield list(rows.model.objects.filter(pk__in=part).order_by("pk"))


def _shared(rewriting: ModuleRewriting, document: JsonObject) -> JsonObject:
    props: Any = document["props"]
    return {**document, "props": rewriting.values(props, is_whole=True)}
