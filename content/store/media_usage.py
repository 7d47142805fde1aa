"""The media files that content uses, stored as rows at every write: from media fields, rich text and links."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext

from content.document.changes import Changes, diff
from content.document.document import CUSTOM_PREFIX, PostDocument
from content.document.post_fields import MEDIA_FIELDS
from content.models import Draft, ModuleInstance, Post
from content.store import post_repository
from content.store.scopes import changeable_by, visible_to
from media.models import LIVE, MediaReference
from media.presenters import delivered_asset
from media.services.references import Held, Token, drop_references, set_references, storage_name
from media.usage_sources import UsageSource
from proofroom.core.content_scope import Scoped
from proofroom.core.errors import invalid
from proofroom.core.hooks import Hook
from proofroom.core.json import Json, JsonObject
from proofroom.core.validation.input_validation import parse_uuid
from proofroom.definitions import FieldType, ModuleProps, modules, post_types
from proofroom.definitions.props import values_in
from proofroom.definitions.richtext.nodes import attributes, children, kind

_BATCH: Final = 100
"""Holders in one transaction of a rebuild."""

other_holders: Final[Hook[[], None]] = Hook()
"""Called by `rebuild_references`, for content that other apps store."""


def rebuild_references() -> int:
    """Rebuild the references of all content. Idempotent, and safe during concurrent writes.

    Returns the total number of references.
    """
    for holder_kind, holders in (
        (POST, find_posts_using_media()),
        (GLOBAL, ModuleInstance.objects.globals()),
    ):
        ids = list(holders.order_by("pk").values_list("pk", flat=True))
        for begin in range(0, len(ids), _BATCH):
            _rebuild(holder_kind, ids[begin : begin + _BATCH])
        # References of holders that no longer exist.
        named = MediaReference.objects.filter(holder_kind=holder_kind).values_list(
            "holder_id", flat=True
        )
        drop_references(
            holder_kind, set(named.distinct()) - set(holders.values_list("pk", flat=True))
        )
    other_holders()
    return MediaReference.objects.count()


def find_posts_using_media() -> QuerySet[Post]:
    """Return the posts whose files count as used. Posts in the trash and their variations use no files."""
    return Post.objects.filter(
        Q(variation_of__isnull=True) | Q(variation_of__deleted_at__isnull=True),
        deleted_at__isnull=True,
    )


@transaction.atomic
def _rebuild(kind: str, ids: Sequence[UUID]) -> None:
    held: Iterable[Held]
    if kind == POST:
        # Read again after the lock: posts can have moved to the trash meanwhile. Ordered, so that locks cannot
        # deadlock.
        locked = Post.objects.filter(pk__in=ids).order_by("pk")
        list(locked.select_for_update(of=("self",), no_key=True).values_list("pk"))
        held = collect_uses(list(find_posts_using_media().filter(pk__in=ids)))
    else:
        rows = (
            ModuleInstance.objects.globals()
            .filter(pk__in=ids)
            .order_by("pk")
            .select_for_update(of=("self",))
        )
        held = collect_global_uses(list(rows))
    drop_references(kind, ids)
    set_references(held)


def label_posts(ids: Collection[UUID]) -> Mapping[UUID, UsageSource]:
    """Return a label by id. Posts in the trash are omitted."""
    rows = Post.objects.kept().filter(pk__in=ids).values_list("pk", "title", "locale")
    return {
        pk: UsageSource(
            title, locale=locale, address=reverse("admin:content_post_change", args=[pk])
        )
        for pk, title, locale in rows
    }


def ids_of_posts_in_scope(who: Scoped, to_change: bool) -> QuerySet[Post, Any]:
    """Return the ids of the posts the user may view, or with `to_change` may change."""
    posts = changeable_by if to_change else visible_to
    return posts(Post.objects.all(), who).values("pk")


def label_global_modules(ids: Collection[UUID]) -> Mapping[UUID, UsageSource]:
    rows = ModuleInstance.objects.globals().filter(pk__in=ids)
    return {
        pk: UsageSource(label or slug or "", global_slug=slug)
        for pk, label, slug in rows.values_list("pk", "label", "global_slug")
    }


POST: Final = "post"
GLOBAL: Final = "global-module"
Rewrite = tuple[Post, PostDocument | None, PostDocument]
"""A post whose live content changed, its document before (None if new) and after."""


def update_live_references(rewrites: Iterable[Rewrite]) -> None:
    """Update the references of changed live content. Raises `RuleViolation` if its image was deleted concurrently."""
    held = [
        Held(
            POST,
            post.pk,
            LIVE,
            collect_references(before) if before else {},
            collect_references(after),
        )
        for post, before, after in rewrites
    ]
    missing = set_references(_changed_in_use(held, [post for post, _, _ in rewrites]))
    for _post, _before, after in rewrites if missing else ():
        for name in MEDIA_FIELDS:
            id_ = after.fields.get(name)
            if id_ is not None and UUID(str(id_)) in missing:
                raise invalid(
                    name,
                    gettext("There is no media file with the ID %(featured)s.") % {"featured": id_},
                )


def staged_references(draft: Draft) -> Uses:
    """Return the files that a draft uses at its changed paths."""
    if draft.is_empty or draft.base is None or draft.document is None:
        return {}
    document = PostDocument.from_json(draft.document)
    return collect_references(document, diff(PostDocument.from_json(draft.base), document))


def update_draft_references(post: Post, layer: str, before: Uses, after: Uses) -> None:
    """Update the references of a changed draft."""
    set_references(_changed_in_use([Held(POST, post.pk, layer, before, after)], [post]))


def update_global_references(
    written: Iterable[tuple[ModuleInstance, Mapping[str, Json] | None]],
) -> None:
    """Update the references of changed global modules, given their previous props (None if new)."""
    set_references(
        replace(held, before=collect_global_references(module.type, before or {}))
        for module, before in written
        for held in collect_global_uses([module])
    )


def collect_global_uses(modules: Iterable[ModuleInstance]) -> list[Held]:
    """Return all references of global modules, as if none were stored."""
    return [
        Held(GLOBAL, module.pk, LIVE, {}, collect_global_references(module.type, module.props))
        for module in modules
    ]


def drop_global_references(module_id: UUID) -> None:
    """Delete the references of a deleted global module."""
    drop_references(GLOBAL, [module_id])


def drop_post_references(post: Post) -> None:
    """Delete the references of a post that moved to the trash, and of its variations."""
    ids = Post.objects.filter(Q(pk=post.pk) | Q(variation_of=post)).values_list("pk", flat=True)
    drop_references(POST, list(ids))


def restore_post_references(post: Post) -> None:
    """Restore the references of a post from the trash, and of its variations that are not in the trash themselves."""
    posts = Post.objects.filter(Q(pk=post.pk) | Q(variation_of=post, deleted_at__isnull=True))
    set_references(collect_uses(list(posts)))


def collect_uses(posts: Sequence[Post]) -> list[Held]:
    """Return all references of posts in every layer, as if none were stored. Three queries."""
    held = [
        Held(POST, post.pk, LIVE, {}, collect_references(document))
        for post, document in post_repository.load_many(posts)
    ]
    drafts = Draft.objects.filter(post__in=posts, is_empty=False)
    return held + [
        Held(POST, draft.post_id, draft.layer, {}, staged_references(draft)) for draft in drafts
    ]


def _changed_in_use(held: Sequence[Held], posts: Sequence[Post]) -> list[Held]:
    """Return the changed holders, except variations of an original in the trash."""
    changed = [item for item in held if item.is_changed]
    originals = {post.pk: post.variation_of_id for post in posts if post.variation_of_id}
    if not changed or not originals:
        return changed
    trashed = set(
        Post.objects.filter(pk__in=set(originals.values()), deleted_at__isnull=False).values_list(
            "pk", flat=True
        )
    )
    return [item for item in changed if originals.get(item.id) not in trashed]


Uses = dict[str, frozenset[Token]]


def collect_references(document: PostDocument, changes: Changes | None = None) -> Uses:
    """Return the files that a document uses, by path. With `changes`, only at the changed paths."""
    if changes is not None and not changes.items:
        return {}
    touched = None if changes is None else {change.module_id for change in changes}
    found = {
        f"post.{name}": frozenset(_file_tokens("media", document.fields.get(name)))
        for name in MEDIA_FIELDS
    }
    post_type = post_types.get(document.type)
    if post_type is not None:
        for name, tokens in files_by_prop(post_type.CustomFields, document.custom_fields).items():
            found[f"post.{CUSTOM_PREFIX}{name}"] = tokens
    for module in document.modules:
        definition = modules.get(module.type)
        if definition is None or (touched is not None and module.id not in touched):
            continue
        for part, values in (("props", module.props), ("overrides", module.overrides)):
            for name, tokens in files_by_prop(definition.Props, values).items():
                found[f"modules.{module.id}.{part}.{name}"] = tokens
    if changes is not None:
        paths = set(changes.paths)
        # An added or replaced module has one change for the whole module, which covers all its parts.
        found = {
            path: used
            for path, used in found.items()
            if path in paths
            or (path.startswith("modules.") and ".".join(path.split(".")[:2]) in paths)
        }
    return {path: used for path, used in found.items() if used}


def collect_global_references(type_: str, props: Mapping[str, Json]) -> Uses:
    """Return the files that a global module uses, by path of the prop."""
    definition = modules.get(type_)
    if definition is None:
        return {}
    found = files_by_prop(definition.Props, props)
    return {f"props.{name}": used for name, used in found.items() if used}


def files_of_text(text: Json) -> frozenset[Token]:
    """Return the files that a rich text shows or links to."""
    return frozenset(_file_tokens("richtext", text))


def media_shown_in(props: type[ModuleProps], values: object) -> Iterator[Token]:
    """Return the files that a page shows for these props, without the files that it only links to."""
    for _, kind_, value in values_in(props, values, _KINDS_THAT_SHOW):
        yield from _file_tokens(kind_, value, with_links=False)


def files_by_prop(props: type[ModuleProps], values: object) -> Uses:
    """Return the files that the values of these props use, by name, also names of nested props."""
    found: dict[str, set[Token]] = {}
    for name, kind_, value in values_in(props, values, _KINDS_WITH_FILES):
        if value:
            found.setdefault(name, set()).update(_file_tokens(kind_, value))
    return {name: frozenset(tokens) for name, tokens in found.items()}


_KINDS_THAT_SHOW: Final[frozenset[FieldType]] = frozenset({"media", "richtext"})
_KINDS_WITH_FILES: Final[frozenset[FieldType]] = _KINDS_THAT_SHOW | {"link", "url"}


def _file_tokens(kind_: str, value: object, *, with_links: bool = True) -> Iterator[Token]:
    addresses: list[object] = []
    if kind_ == "media":
        if isinstance(value, str) and (id_ := parse_uuid(value)) is not None:
            yield id_
    elif kind_ == "richtext":
        waiting = [value] if isinstance(value, Mapping) else []
        while waiting:
            node = waiting.pop()
            if kind(node) == "image":
                addresses.append(attributes(node).get("src"))
            marks = node.get("marks")
            for mark in marks if with_links and isinstance(marks, list) else []:
                if isinstance(mark, Mapping) and kind(mark) == "link":
                    addresses.append(attributes(mark).get("href"))
            waiting.extend(children(node))
    elif kind_ in ("link", "url") and with_links:
        addresses.append(value)
    for address in addresses:
        name = storage_name(address) if isinstance(address, str) else None
        if name is not None:
            yield name


def media_of(
    locales: Mapping[UUID, str], shared: Collection[tuple[UUID, UUID]]
) -> dict[UUID, JsonObject]:
    """Return the files of the live fields and modules of posts, by post id and file id.

    `locales`: for each post, the locale in which its files are described. `shared`: pairs of a post and a global
    module that it places.
    """
    users: dict[UUID, set[UUID]] = defaultdict(set)
    for post_id, instance_id in shared:
        users[instance_id].add(post_id)
    uses = MediaReference.objects.filter(
        Q(holder_kind=POST, holder_id__in=locales) | Q(holder_kind=GLOBAL, holder_id__in=users),
        layer=LIVE,
    )
    found: dict[UUID, JsonObject] = {id_: {} for id_ in locales}
    for use in uses.select_related("asset").order_by("asset_id"):
        for post_id in [use.holder_id] if use.holder_kind == POST else users[use.holder_id]:
            asset = delivered_asset(use.asset, locales[post_id])
            found[post_id][str(use.asset_id)] = asset
    return found
