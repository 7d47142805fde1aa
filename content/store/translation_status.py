"""Compares a translation with what it was made from: which of its values are older than the source's, and which posts
have translations that are missing, drafted, changed or waiting.
"""

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
    """`stale_paths` are values of the translation whose source changed since they were written, `untranslated_paths`
    texts that were copied from the source and not translated since. One path can be both.

    `new_modules` are modules of the source that it has none for, `removed_modules` its own whose source is gone,
    each with the id of the source's module.
    """

    stale_paths: tuple[str, ...] = ()
    new_modules: tuple[ModuleDocument, ...] = ()
    removed_modules: tuple[tuple[str, str], ...] = ()
    untranslated_paths: tuple[str, ...] = ()

    @property
    def stale_or_untranslated_paths(self) -> tuple[str, ...]:
        """What is stale or untranslated, each path once."""
        return tuple(dict.fromkeys((*self.stale_paths, *self.untranslated_paths)))

    @property
    def open_paths(self) -> list[str]:
        """The paths of all of it, which are called up to date together."""
        new = [f"modules.{module.id}" for module in self.new_modules]
        return [
            *self.stale_or_untranslated_paths,
            *new,
            *(f"modules.{own}" for own, _ in self.removed_modules),
        ]


def record_source(
    post: Post, source: PostDocument, copy: PostDocument, modules: Mapping[str, str]
) -> None:
    """Keep what a new copy was made from, and which texts of a translation are only copied."""
    origin = CopyOrigin(post=post, modules=dict(modules))
    if post.translated_from_id is not None:
        origin.hashes = source_hashes(source, modules)
        origin.untranslated = sorted(find_copied_texts(copy, source, modules))
    origin.save(force_insert=True)


def source_hashes(source: PostDocument, modules: Mapping[str, str | None]) -> dict[str, str]:
    """A hash of each value of the source, by the path that its translation has for it."""
    return {path: hash_value(value) for path, value in values_for_copy(source, modules).items()}


def present_source_hashes(post: Post) -> dict[str, str]:
    """`source_hashes` of the source as it stands now; empty for a post that is no translation."""
    if post.translated_from is None:
        return {}
    origin = CopyOrigin.objects.filter(post=post).first()
    if origin is None:
        return {}
    return source_hashes(post_repository.load(post.translated_from), origin.modules)


def values_for_copy(source: PostDocument, modules: Mapping[str, str | None]) -> dict[str, Json]:
    """Each value of the source that a copy takes over, by the path that the copy has for it."""
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
    """The paths of texts that say in the translation what they say in the source.

    None where both are written in one language, as `en` and `en-GB` are, and none of texts without a letter.
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
    """Return whether a translation has a text of its own at a path, which a translator writes."""
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
    """The hash by which a value of the source is known again."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def follow_writing(
    post: Post, after: PostDocument, changes: Changes, made_from: Mapping[str, str]
) -> None:
    """What was written of a translation counts as made from the source as it is now, or was when it was proposed.

    A text that says what the source says is not translated, whoever wrote it. `made_from` has the hashes of what the
    proposals were made from, empty where nobody knows.

    Not asked where a proposed translation comes live for the first time: it was made from an earlier source.
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
    copied = find_copied_texts(after, source, origin.modules)
    left = {path for path in origin.untranslated if value_at(after, path) is not ABSENT}
    origin.untranslated = sorted(
        path
        for path in copied | left
        if path in (copied if {path, ".".join(path.split(".")[:2])} & touched else left)
    )
    origin.save(update_fields=["hashes", "untranslated", "updated_at"])


def forget_translated_paths(post: Post, after: PostDocument) -> None:
    """Forget texts that were only copied when a translation was proposed, and are translated as it comes live."""
    if post.translated_from_id is None:
        return
    origin = CopyOrigin.objects.filter(post=post).exclude(untranslated=[]).first()
    if origin is None:
        return
    left = [
        path
        for path in origin.untranslated
        # A path that is not approved yet may still come.
        if (value := value_at(after, path)) is ABSENT
        or not _has_letters(value)
        or hash_value(value) == origin.hashes.get(path)
    ]
    if left != origin.untranslated:
        CopyOrigin.objects.filter(pk=origin.pk).update(untranslated=left)


def states_of(translations: Sequence[Post]) -> dict[UUID, TranslationState]:
    """The state of each of these posts that is a translation. Five queries, however many there are."""
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
    """Compare what a translation was made from with the source as it is; `placed` are its live modules."""
    now = source_hashes(source, origin.modules)
    # As long as the translation still has what the path leads to.
    there = [
        path
        for path in now
        if post.is_placeholder or not path.startswith("modules.") or path.split(".")[1] in placed
    ]
    stale = (path for path in there if origin.hashes.get(path) != now[path])
    # Of what is only proposed, Review shows the texts.
    copied = set() if post.is_placeholder else set(origin.untranslated)
    new = (
        module
        for module in source.modules
        if module.id not in origin.modules and module.type in module_types
    )
    removed = (
        (own, of) for of, own in origin.modules.items() if own in placed and of not in source.order
    )
    untranslated = tuple(path for path in there if path in copied)
    return TranslationState(tuple(stale), tuple(new), tuple(removed), untranslated)


STATES: Final = ("missing", "untranslated", "draft", "changed", "waiting")
_COLUMNS: Final = ("pk", "type", "locale", "title", "status", "translation_group", "is_placeholder")


@dataclass(frozen=True, slots=True)
class MatrixFilter:
    """The filter of the table; empty is everything. `state` is one of `STATES`, in `locale` where one is named."""

    words: str = ""
    type: str = ""
    locale: str = ""
    state: str = ""


def list_originals(
    asked: MatrixFilter, types: Iterable[str], locales: Sequence[str], who: Scoped
) -> QuerySet[Post]:
    """One post for each group of translations: of those that somebody may see the one that was there first.

    What changed last comes first.
    """
    posts = visible_to(Post.objects.alive(), who).filter(type__in=list(types))
    earlier = Q(created_at__lt=OuterRef("created_at")) | Q(
        created_at=OuterRef("created_at"), pk__lt=OuterRef("pk")
    )
    rows: QuerySet[Post] = posts.filter(~Exists(visible_to(_group(), who).filter(earlier)))
    if asked.type:
        rows = rows.filter(type=asked.type)
    if asked.words:
        rows = rows.filter(Exists(visible_to(_group(), who).filter(title__icontains=asked.words)))
    if asked.state:
        rows = _in_state(rows, asked, locales)
    return rows.order_by("-updated_at", "pk").only(*_COLUMNS)


def _group() -> PostQuerySet:
    """The posts of the group of an outer post, itself among them."""
    return Post.objects.alive().filter(translation_group=OuterRef("translation_group"))


def _in_state(rows: QuerySet[Post], asked: MatrixFilter, locales: Sequence[str]) -> QuerySet[Post]:
    group = _group().filter(locale=asked.locale) if asked.locale else _group()
    if asked.state == "missing":
        if asked.locale:
            return rows.filter(~Exists(group))
        there = _group().filter(locale__in=list(locales)).order_by().values("translation_group")
        counts = Subquery(there.annotate(count=Count("pk")).values("count"), IntegerField())
        return rows.alias(there=Coalesce(counts, 0)).filter(there__lt=len(locales))
    if asked.state == "draft":
        return rows.filter(Exists(group.filter(status=Status.DRAFT)))
    if asked.state == "waiting":
        waiting = QueuedChange.objects.filter(post=OuterRef("pk"))
        return rows.filter(Exists(group.filter(Exists(waiting))))
    if asked.state == "untranslated":
        copied = CopyOrigin.objects.filter(post=OuterRef("pk"), post__is_placeholder=False)
        return rows.filter(Exists(group.filter(Exists(copied.exclude(untranslated=[])))))
    older = CopyOrigin.objects.filter(
        post=OuterRef("pk"), updated_at__lt=OuterRef("translated_from__updated_at")
    )
    return rows.filter(Exists(group.filter(Exists(older))))
