"""The state of translations: values older than their source, and missing, draft, changed or waiting translations."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db.models import Count, Exists, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from content.document.changes import ABSENT, TERMS_PATH, Changes, Value, part_of, same, value_at
from content.document.document import CUSTOM_PREFIX, ModuleDocument, PostDocument
from content.document.post_fields import POST_FIELDS
from content.models import CopyOrigin, Post, PostModule, PostQuerySet, QueuedChange, Status
from content.store import post_repository
from content.store.duplicate import COPIED_FIELDS
from content.store.scopes import visible_to
from proofroom.core.content_scope import Scoped
from proofroom.core.json import Json
from proofroom.definitions import find_post_type, props_of
from proofroom.definitions import modules as module_types
from proofroom.definitions.richtext.nodes import to_text


@dataclass(frozen=True, slots=True)
class TranslationState:
    """The state of one translation.

    `stale_paths`: values whose source changed since they were written. `untranslated_paths`: texts that are still
    copies of the source. A path can be in both. `new_modules`: source modules without a counterpart.
    `removed_modules`: pairs of an own module id and the id of its removed source module.
    """

    stale_paths: tuple[str, ...] = ()
    new_modules: tuple[ModuleDocument, ...] = ()
    removed_modules: tuple[tuple[str, str], ...] = ()
    untranslated_paths: tuple[str, ...] = ()

    @property
    def stale_or_untranslated_paths(self) -> tuple[str, ...]:
        """Distinct paths that are stale or untranslated."""
        return tuple(dict.fromkeys((*self.stale_paths, *self.untranslated_paths)))

    @property
    def open_paths(self) -> list[str]:
        """All paths that need attention. Marking the whole translation as up to date confirms them together."""
        new = [f"modules.{module.id}" for module in self.new_modules]
        return [
            *self.stale_or_untranslated_paths,
            *new,
            *(f"modules.{own}" for own, _ in self.removed_modules),
        ]


def record_source(
    post: Post, source: PostDocument, copy: PostDocument, modules: Mapping[str, str]
) -> None:
    """Save the origin of a new copy, and for a translation the paths of texts that are still copies."""
    origin = CopyOrigin(post=post, modules=dict(modules))
    if post.translated_from_id is not None:
        origin.hashes = source_hashes(source, modules)
        origin.untranslated = sorted(find_copied_texts(copy, source, modules))
    origin.save(force_insert=True)


def source_hashes(source: PostDocument, modules: Mapping[str, str | None]) -> dict[str, str]:
    """Return a hash of each source value, by path in the translation."""
    return {path: hash_value(value) for path, value in values_for_copy(source, modules).items()}


def current_source_hashes(post: Post) -> dict[str, str]:
    """Return the `source_hashes` of the current source. Empty if the post is not a translation."""
    if post.translated_from is None:
        return {}
    origin = CopyOrigin.objects.filter(post=post).first()
    if origin is None:
        return {}
    return source_hashes(post_repository.load(post.translated_from), origin.modules)


def values_for_copy(source: PostDocument, modules: Mapping[str, str | None]) -> dict[str, Json]:
    """Return each source value that a copy gets, by path in the copy."""
    found: dict[str, Json] = {f"post.{name}": source.fields.get(name) for name in COPIED_FIELDS}
    for name, value in source.fields.items():
        if name.startswith(CUSTOM_PREFIX):
            found[f"post.{name}"] = value
    found[TERMS_PATH] = list(source.taxonomy_term_ids)
    for module in source.modules:
        copy = modules.get(module.id)
        for part in ("props", "overrides") if copy else ():
            for name, value in part_of(module, part).items():
                found[f"modules.{copy}.{part}.{name}"] = value
    return found


def find_copied_texts(
    translation: PostDocument, source: PostDocument, modules: Mapping[str, str | None]
) -> set[str]:
    """Return the paths of texts that are equal in translation and source.

    Empty if both have the same language, such as `en` and `en-GB`. Texts without a letter are omitted.
    """
    if translation.locale.partition("-")[0] == source.locale.partition("-")[0]:
        return set()
    return {
        path
        for path, value in values_for_copy(source, modules).items()
        if is_translated_text(path, translation)
        and same(value_at(translation, path), value)
        and _has_letters(value)
    }


def is_translated_text(path: str, document: PostDocument) -> bool:
    """Return whether translators write the text at a path."""
    if path.startswith("post."):
        name = path.removeprefix("post.")
        if not name.startswith(CUSTOM_PREFIX):
            declared = POST_FIELDS.get(name)
            return declared is not None and declared.translatable and declared.copied
        props, name = find_post_type(document.type).CustomFields, name.removeprefix(CUSTOM_PREFIX)
    else:
        _modules, id_, *rest = path.split(".", 3)
        module = document.module(id_)
        definition = module_types.get(module.type) if module else None
        if definition is None or len(rest) != 2:
            return False
        props, name = definition.Props, rest[1]
    prop = props_of(props).get(name)
    return prop is not None and prop.translatable


def _has_letters(value: Value) -> bool:
    if isinstance(value, str):
        return any(sign.isalpha() for sign in value)
    if isinstance(value, Mapping):
        if value.get("type") == "doc":
            return _has_letters(to_text(value))
        return any(map(_has_letters, value.values()))
    return isinstance(value, Sequence) and any(map(_has_letters, value))


def hash_value(value: Value) -> str:
    """Return the hash that identifies a source value."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def update_copy_origin(
    post: Post, after: PostDocument, changes: Changes, made_from: Mapping[str, str]
) -> None:
    """Update the origin of a translation after a write: the changed values now match the current source.

    `made_from`: source hashes at the time of proposals, by path. They take precedence over the current source. Not
    called when a proposed translation is first approved, because it was made from an earlier source.
    """
    if post.translated_from is None:
        return
    written = {change.path for change in changes if change.kind == "changed"}
    origin = CopyOrigin.objects.filter(post=post).first()
    if origin is None or not (written or origin.untranslated):
        return
    source = post_repository.load(post.translated_from)
    now = source_hashes(source, origin.modules)
    origin.hashes |= {path: made_from.get(path) or now[path] for path in written if path in now}
    touched = set(changes.paths)
    # A text equal to the source counts as untranslated, regardless of its author.
    copied = find_copied_texts(after, source, origin.modules)
    remaining = {path for path in origin.untranslated if value_at(after, path) is not ABSENT}
    origin.untranslated = sorted(
        path
        for path in copied | remaining
        if path in (copied if {path, ".".join(path.split(".")[:2])} & touched else remaining)
    )
    origin.save(update_fields=["hashes", "untranslated", "updated_at"])


def forget_translated_paths(post: Post, after: PostDocument) -> None:
    """Remove translated texts from `CopyOrigin.untranslated` when a proposed translation is approved."""
    if post.translated_from_id is None:
        return
    origin = CopyOrigin.objects.filter(post=post).exclude(untranslated=[]).first()
    if origin is None:
        return
    remaining = [
        path
        for path in origin.untranslated
        # Keep a missing path: its value can still be approved later.
        if (value := value_at(after, path)) is ABSENT
        or not _has_letters(value)
        or hash_value(value) == origin.hashes.get(path)
    ]
    if remaining != origin.untranslated:
        CopyOrigin.objects.filter(pk=origin.pk).update(untranslated=remaining)


def states_of(translations: Sequence[Post]) -> dict[UUID, TranslationState]:
    """Return the state of each translation among these posts, by id. Five queries in total."""
    ids = [post.pk for post in translations]
    origins = {origin.post_id: origin for origin in CopyOrigin.objects.filter(post_id__in=ids)}
    wanted = {
        post.translated_from_id
        for post in translations
        if post.pk in origins and post.translated_from_id is not None
    }
    sources = {
        source.pk: document
        for source, document in post_repository.load_many(Post.objects.filter(pk__in=wanted))
    }
    placed: dict[UUID, set[str]] = defaultdict(set)
    rows = PostModule.objects.filter(post_id__in=list(origins)).values_list("post_id", "pk")
    for post_id, module_id in rows:
        placed[post_id].add(str(module_id))
    return {
        post.pk: compare_hashes(
            post, origins[post.pk], sources[post.translated_from_id], placed[post.pk]
        )
        for post in translations
        if post.pk in origins and post.translated_from_id in sources
    }


def compare_hashes(
    post: Post, origin: CopyOrigin, source: PostDocument, placed: set[str]
) -> TranslationState:
    """Compare the source values of a translation with the current source. `placed`: ids of its live modules."""
    now = source_hashes(source, origin.modules)
    # Skip paths of modules that the translation has removed.
    existing = [
        path
        for path in now
        if post.is_placeholder or not path.startswith("modules.") or path.split(".")[1] in placed
    ]
    stale = (path for path in existing if origin.hashes.get(path) != now[path])
    # The texts of a translation that is only proposed are shown in Review, not here.
    copied = set() if post.is_placeholder else set(origin.untranslated)
    new = (
        module
        for module in source.modules
        if module.id not in origin.modules and module.type in module_types
    )
    removed = (
        (own, of) for of, own in origin.modules.items() if own in placed and of not in source.order
    )
    untranslated = tuple(path for path in existing if path in copied)
    return TranslationState(tuple(stale), tuple(new), tuple(removed), untranslated)


STATES: Final = ("missing", "untranslated", "draft", "changed", "waiting")
_COLUMNS: Final = (
    *("pk", "type", "locale", "title", "translation_group", "is_placeholder"),
    # The shown status.
    *("status", "published_at", "publish_at"),
)


@dataclass(frozen=True, slots=True)
class MatrixFilter:
    """The filter of the translation table.

    Empty values match all. `state`: one of `STATES`, in `locale` if it is given.
    """

    words: str = ""
    type: str = ""
    locale: str = ""
    state: str = ""


def list_originals(
    asked: MatrixFilter, types: Iterable[str], locales: Sequence[str], who: Scoped
) -> QuerySet[Post]:
    """Return one post per translation group, the oldest the user may view. The latest change comes first."""
    posts = visible_to(Post.objects.alive(), who).filter(type__in=list(types))
    # The id decides between posts created at the same time.
    earlier = Q(created_at__lt=OuterRef("created_at")) | Q(
        created_at=OuterRef("created_at"), pk__lt=OuterRef("pk")
    )
    rows: QuerySet[Post] = posts.filter(
        ~Exists(visible_to(_translation_group(), who).filter(earlier))
    )
    if asked.type:
        rows = rows.filter(type=asked.type)
    if asked.words:
        rows = rows.filter(
            Exists(visible_to(_translation_group(), who).filter(title__icontains=asked.words))
        )
    if asked.state:
        rows = _filter_by_state(rows, asked, locales)
    return rows.order_by("-updated_at", "pk").only(*_COLUMNS)


def _translation_group() -> PostQuerySet:
    """Return the posts in the translation group of an outer post, including that post."""
    return Post.objects.alive().filter(translation_group=OuterRef("translation_group"))


def _filter_by_state(
    rows: QuerySet[Post], filters: MatrixFilter, locales: Sequence[str]
) -> QuerySet[Post]:
    group = (
        _translation_group().filter(locale=filters.locale)
        if filters.locale
        else _translation_group()
    )
    if filters.state == "missing":
        if filters.locale:
            return rows.filter(~Exists(group))
        there = (
            _translation_group()
            .filter(locale__in=list(locales))
            .order_by()
            .values("translation_group")
        )
        counts = Subquery(there.annotate(count=Count("pk")).values("count"), IntegerField())
        return rows.alias(there=Coalesce(counts, 0)).filter(there__lt=len(locales))
    if filters.state == "draft":
        return rows.filter(Exists(group.filter(status=Status.DRAFT)))
    if filters.state == "waiting":
        waiting = QueuedChange.objects.filter(post=OuterRef("pk"))
        return rows.filter(Exists(group.filter(Exists(waiting))))
    if filters.state == "untranslated":
        copied = CopyOrigin.objects.filter(post=OuterRef("pk"), post__is_placeholder=False)
        return rows.filter(Exists(group.filter(Exists(copied.exclude(untranslated=[])))))
    # Hashes cannot be compared in the database, so an older origin counts as changed.
    older = CopyOrigin.objects.filter(
        post=OuterRef("pk"), updated_at__lt=OuterRef("translated_from__updated_at")
    )
    return rows.filter(Exists(group.filter(Exists(older))))
