"""Live content in the database, read and written as a document. Only `content.layers.live` may write."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, cast
from uuid import UUID

import orjson
from django.db.models import OuterRef
from django.db.models.functions import Cast
from django.utils.dateparse import parse_datetime

from content.document.changes import Changes
from content.document.document import CUSTOM_PREFIX, ModuleDocument, PostDocument
from content.document.post_fields import AUTHORS, POST_FIELDS
from content.models import ModuleInstance, Post, PostAuthor, PostModule, PostTerm
from proofroom.core.database.compiled_queries import CompiledQuery, Row, new_instance
from proofroom.core.database.inserts import insert_rows, upsert_rows
from proofroom.core.database.json_text import JSONObject, JSONValue, rows_as_text
from proofroom.core.json import Json, JsonObject, format_time

COLUMNS: Final[Mapping[str, str]] = {name: field.column for name, field in POST_FIELDS.items()}
"""Column by document field."""
MODULE_COLUMNS: Final = (
    "id",
    "instance_id",
    "locked",
    "overrides",
    "instance__type",
    "instance__scope",
    "instance__global_slug",
    "instance__props",
)
_MODULES: Final = CompiledQuery(
    lambda post_id: (
        PostModule.objects.filter(post_id=post_id)
        .order_by("order_index", "id")
        .values(*MODULE_COLUMNS)
    )
)
_TERMS: Final = CompiledQuery(
    lambda post_id: PostTerm.objects.filter(post_id=post_id).values("term_id")
)


def live_rows() -> dict[str, Cast]:
    """Return annotations of posts: their modules and terms as JSON text, for `document_from_rows`."""
    here = {"post": OuterRef("pk")}
    modules = PostModule.objects.filter(**here).order_by("order_index", "id")
    return {
        "module_rows": rows_as_text(
            modules.values(entry=JSONObject(**{name: name for name in MODULE_COLUMNS}))
        ),
        "term_rows": rows_as_text(
            PostTerm.objects.filter(**here).values(entry=JSONValue("term_id"))
        ),
    }


def document_from_rows(post: Post, row: Row) -> PostDocument:
    """Build the live document of a post from a row with `live_rows`."""
    modules = map(module_of, orjson.loads(row["module_rows"]))
    return document_of(post, modules, orjson.loads(row["term_rows"]))


def load(post: Post) -> PostDocument:
    """Return the live document of a post. Two queries."""
    modules = [module_of(row) for row in _MODULES.rows(post.pk)]
    return document_of(post, modules, [str(row["term_id"]) for row in _TERMS.rows(post.pk)])


def document_of(
    post: Post, modules: Iterable[ModuleDocument], term_ids: Iterable[str]
) -> PostDocument:
    """Build the live document of a post from its parts. The modules must be in order."""
    return PostDocument(
        type=post.type,
        locale=post.locale,
        fields=fields_of(post),
        modules=tuple(modules),
        taxonomy_term_ids=tuple(sorted(term_ids)),
    )


def load_many(posts: Iterable[Post]) -> list[tuple[Post, PostDocument]]:
    """Return the live documents of posts. Two queries, and one for the posts."""
    listed = list(posts)
    modules: dict[UUID, list[ModuleDocument]] = defaultdict(list)
    rows = PostModule.objects.filter(post__in=listed).order_by("order_index", "id")
    for row in rows.values("post_id", *MODULE_COLUMNS):
        modules[row["post_id"]].append(module_of(row))
    terms: dict[UUID, list[str]] = defaultdict(list)
    assigned = PostTerm.objects.filter(post__in=listed).values_list("post_id", "term_id")
    for post_id, term_id in assigned:
        terms[post_id].append(str(term_id))
    return [(post, document_of(post, modules[post.pk], terms[post.pk])) for post in listed]


def module_of(row: Row) -> ModuleDocument:
    """Build a module of a live document from a row with `MODULE_COLUMNS`."""
    return ModuleDocument(
        id=str(row["id"]),
        type=row["instance__type"],
        instance_id=str(row["instance_id"]),
        scope=row["instance__scope"],
        global_slug=row["instance__global_slug"],
        locked=row["locked"],
        # The document of a post does not include the props of shared modules.
        props=row["instance__props"] if row["instance__scope"] == "local" else {},
        overrides=row["overrides"] or {},
    )


def fields_of(post: Post) -> JsonObject:
    """Return the live fields of a post in document format."""
    fields: JsonObject = {}
    for name, column in COLUMNS.items():
        value = getattr(post, column)
        if isinstance(value, UUID):
            value = str(value)
        elif isinstance(value, datetime):
            value = format_time(value)
        fields[name] = value
    fields |= {CUSTOM_PREFIX + name: value for name, value in post.custom_fields.items()}
    return fields


def save(post: Post, before: PostDocument, document: PostDocument, changes: Changes) -> None:
    """Write the changed parts of `document` to the rows. The caller saves the post's own columns.

    `before`: the stored document. At most nine statements in total.
    """
    set_fields(post, document, changes)
    if any(change.path == "post.taxonomyTermIds" for change in changes):
        post.post_terms.exclude(term_id__in=document.taxonomy_term_ids).delete()
        PostTerm.objects.bulk_create(
            [PostTerm(post=post, term_id=id_) for id_ in document.taxonomy_term_ids],
            # Terms that stay assigned are in the list too.
            ignore_conflicts=True,
        )
    if any(change.module_id for change in changes):
        _save_modules(post, before, document, changes)


def set_fields(post: Post, document: PostDocument, changes: Changes) -> set[str]:
    """Set the changed fields on the post without saving. Returns the names of the columns."""
    columns: set[str] = set()
    for change in changes:
        name = change.path.removeprefix("post.")
        if name.startswith(CUSTOM_PREFIX):
            post.custom_fields = document.custom_fields
            columns.add("custom_fields")
        elif name in COLUMNS:
            setattr(post, COLUMNS[name], column_value(name, document.fields.get(name)))
            columns.add(COLUMNS[name])
    return columns


def column_value(name: str, value: Json) -> object:
    """Convert a document field's value to the value of its column."""
    field = POST_FIELDS[name]
    if field.kind == "moment":
        return parse_datetime(value) if isinstance(value, str) else None
    if field.kind == "people":
        return list(value) if isinstance(value, list | tuple) else []
    if not field.is_nullable and not field.required:
        return value or (0 if field.kind == "number" else "")
    return value


def rows_of(
    post: Post, document: PostDocument
) -> tuple[list[ModuleInstance], list[PostModule], list[PostTerm], list[PostAuthor]]:
    """Return the unsaved rows of a new post, besides the post itself."""
    return (
        [instance(module) for module in document.modules if module.scope != "global"],
        [placement(post, module, index) for index, module in enumerate(document.modules)],
        [
            PostTerm(post=post, term_id=UUID(id_))
            for id_ in dict.fromkeys(document.taxonomy_term_ids)
        ],
        author_rows(post.pk, document),
    )


def author_rows(post_id: UUID, document: PostDocument) -> list[PostAuthor]:
    """Return the unsaved rows of the authors of a post."""
    return [
        PostAuthor(post_id=post_id, user_id=user_id, place=place)
        for place, user_id in enumerate(authors_of(document))
    ]


def authors_of(document: PostDocument) -> list[int]:
    """Return the ids of the authors, in order."""
    return cast("list[int]", document.fields.get(AUTHORS) or [])


def update_author_rows(
    rewrites: Iterable[tuple[Post, PostDocument | None, PostDocument]],
) -> None:
    """Replace the rows of posts whose authors changed. No query if all stay the same."""
    changed = [
        (post.pk, after)
        for post, before, after in rewrites
        if before is not None and authors_of(before) != authors_of(after)
    ]
    if not changed:
        return
    PostAuthor.objects.filter(post__in=[post_id for post_id, _after in changed]).delete()
    insert_rows([row for post_id, after in changed for row in author_rows(post_id, after)])


def _save_modules(
    post: Post, before: PostDocument, document: PostDocument, changes: Changes
) -> None:
    removed = {
        cast(str, change.module_id) for change in changes if change.kind in ("removed", "replaced")
    }
    if removed:
        # Remove the placements, and the local instances that no other placement uses.
        rows = post.placements.filter(pk__in=removed)
        instances = list(rows.values_list("instance_id", flat=True))
        rows.delete()
        own = ModuleInstance.objects.filter(pk__in=instances, placements__isnull=True)
        own.exclude(scope="global").delete()
    places = {
        module.id: index for index, module in enumerate(before.modules) if module.id not in removed
    }
    touched = {change.module_id for change in changes}
    new_instances: list[ModuleInstance] = []
    new_rows: list[PostModule] = []
    changed_instances: list[ModuleInstance] = []
    changed_rows: list[PostModule] = []
    for index, module in enumerate(document.modules):
        # A replaced module has the same id but new rows: the old ones were removed above.
        if module.id not in places:
            new_rows.append(placement(post, module, index))
            if module.scope != "global":
                new_instances.append(instance(module))
            continue
        if module.id in touched and module.scope == "local":
            changed_instances.append(instance(module))
        if module.id in touched or places[module.id] != index:
            changed_rows.append(placement(post, module, index))
    insert_rows(new_instances, new_rows)
    write_over_instances(changed_instances)
    upsert_rows(changed_rows, ["order_index", "overrides"])


def write_over_instances(instances: Sequence[ModuleInstance]) -> None:
    """Update the props of existing instances in one statement."""
    upsert_rows(instances, ["props", "updated_at"])


def instance(module: ModuleDocument) -> ModuleInstance:
    """Build the row of a module that belongs to one post."""
    return new_instance(
        ModuleInstance,
        id=module.instance_id,
        type=module.type,
        scope=module.scope,
        props=dict(module.props),
    )


def placement(post: Post, module: ModuleDocument, index: int) -> PostModule:
    """Build the row of a module's placement on a post."""
    return new_instance(
        PostModule,
        id=module.id,
        post_id=post.pk,
        instance_id=module.instance_id,
        order_index=index,
        locked=module.locked,
        overrides=dict(module.overrides),
    )
