"""The sources of find and replace: posts with their modules, and global modules.

Live content is changed with the rules, revisions and events of a normal edit.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from content.document.changes import diff
from content.document.document import PostDocument
from content.document.post_fields import POST_FIELDS
from content.find_replace.documents import (
    MODULES,
    POSTS,
    edit_document,
    edit_props,
    replaceable_props,
    update_hands_after_validation,
)
from content.layers.live import Written, record_updates, write_many
from content.models import ModuleInstance, Post, PostModule
from content.modules.global_modules import changed_prop_names, global_document
from content.post_checks.results import require_live_change
from content.rules import check_changes
from content.rules.publication_gates import before_live_edit
from content.rules.references import PropsChange, check_props
from content.store import post_repository
from content.store.content_links import update_global_links
from content.store.media_usage import update_global_references
from content.store.page_locks import require_unlocked
from content.store.scopes import changeable_by
from content.store.search import keep_words_of_global
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.batches import batches
from proofroom.core.errors import RuleViolation
from proofroom.core.find_replace import Edit, Hand, TextPlace, find_rows, names_of_rows
from proofroom.core.json import JsonObject
from proofroom.core.validation.input_validation import clean_line
from proofroom.definitions import modules, validation
from proofroom.shared_content.revisions import SharedChange, record_revisions
from proofroom.shared_content.shared_types import GLOBAL_MODULE

_TEXTS: Final = tuple(field.column for field in POST_FIELDS.values() if field.is_text)
_JSON: Final = ("jsonld_overrides", "custom_fields")


class PostSource:
    """Live posts: not in the trash, and not placeholders."""

    tables: tuple[str, ...] = (POSTS, MODULES)
    permission: str = "posts.edit"

    def names(self, keys: Sequence[str]) -> dict[str, tuple[str, str]]:
        return names_of_rows(_posts(), keys)

    def find(self, edit: Edit, tables: frozenset[str]) -> list[Any]:
        ids: set[UUID] = set()
        if POSTS in tables:
            ids.update(edit.keys(POSTS, _posts(), texts=_TEXTS, documents=_JSON))
        if MODULES in tables:
            places = PostModule.objects.filter(post__in=_posts())
            local = places.filter(instance__scope="local")
            ids.update(edit.keys(MODULES, local, documents=("instance__props",), key="post_id"))
            own = places.exclude(overrides={})
            ids.update(edit.keys(MODULES, own, documents=("overrides",), key="post_id"))
        variations = set(_posts().filter(variation_of__isnull=False).values_list("pk", flat=True))
        found: list[UUID] = []
        # The same lock order as promotions and slug changes, which lock the original before its variations.
        for part in chain(batches(sorted(ids - variations)), batches(sorted(ids & variations))):
            posts = _posts().filter(pk__in=part).order_by("pk")
            if edit.writes:
                posts = posts.select_for_update(of=("self",), no_key=True)
            found += posts.values_list("pk", flat=True)
        return found

    def change(
        self, keys: Sequence[Any], edit: Edit, tables: frozenset[str], actor: Actor
    ) -> list[TextPlace]:
        places: list[TextPlace] = []
        payloads: list[tuple[UUID, JsonObject]] = []
        for part in batches(keys):
            changed: list[Written] = []
            for post, before in post_repository.load_many(
                changeable_by(_posts(), actor).filter(pk__in=part).order_by("pk")
            ):
                after, hands = _edit_and_validate(post, before, edit, tables, actor)
                places += [place for hand in hands for place in hand.places]
                if any(hand.places for hand in hands):
                    changed.append(Written(post, before, after, diff(before, after)))
            if edit.writes and not edit.problems:
                write_many(changed, actor=actor, reason=edit.reason)
                payloads += [(item.post.pk, item.payload()) for item in changed]
        record_updates(payloads, actor=actor)
        return places


def _posts() -> QuerySet[Post]:
    return Post.objects.filter(deleted_at__isnull=True, is_placeholder=False)


def _edit_and_validate(
    post: Post, before: PostDocument, edit: Edit, tables: frozenset[str], actor: Actor
) -> tuple[PostDocument, list[Hand]]:
    """Return the edited document after validation, or the unchanged one if it is refused."""
    try:
        wanted, hands = edit_document(before, post.pk, edit, tables)
        if not hands:
            return before, []
        if edit.writes:
            require_unlocked(post, actor)
        after = check_changes(post=post, before=before, after=wanted, actor=actor)
        require_live_change([(post, before, after)])
        before_live_edit(post, before, after)
    except RuleViolation as error:
        # Errors of modules already name the module in their path.
        own = {path for path in error.details if path.startswith("modules.")}
        edit.refuse("" if own else f"{POSTS}.{post.pk}", error)
        return before, []
    if after != wanted:
        update_hands_after_validation(hands, after, post.pk, tables)
    return after, hands


GLOBALS: Final = "global_modules"
_LINE: Final = 200


class GlobalModuleSource:
    """Global modules, changed with a revision as by a normal edit."""

    tables: tuple[str, ...] = (GLOBALS,)
    permission: str = "globals.edit"

    def names(self, keys: Sequence[str]) -> dict[str, tuple[str, str]]:
        return names_of_rows(ModuleInstance.objects.globals(), keys)

    def find(self, edit: Edit, tables: frozenset[str]) -> list[Any]:
        return find_rows(edit, GLOBALS, ModuleInstance.objects.globals(), ("label",), ("props",))

    def change(
        self, keys: Sequence[Any], edit: Edit, tables: frozenset[str], actor: Actor
    ) -> list[TextPlace]:
        places: list[TextPlace] = []
        for part in batches(keys):
            changed: list[tuple[ModuleInstance, str, JsonObject]] = []
            for row in ModuleInstance.objects.globals().filter(pk__in=part).order_by("pk"):
                hand = Hand(edit, GLOBALS, row.pk)
                try:
                    label, props = _edit_row(row, hand)
                except RuleViolation as error:
                    edit.refuse(f"{GLOBALS}.{row.pk}", error)
                    continue
                if hand.places:
                    places += hand.places
                    changed.append((row, label, props))
            if edit.writes and not edit.problems:
                _write(changed, edit.reason, actor)
        return places


def _edit_row(row: ModuleInstance, hand: Hand) -> tuple[str, JsonObject]:
    """Return the edited label and props after validation."""
    label = clean_line("label", hand.take("label", row.label), _LINE)
    definition = modules.get(row.type)
    props = dict(row.props)
    if definition is not None:
        wanted = edit_props(definition.Props, row.props, hand, "props")
        changed = {name: value for name, value in wanted.items() if value != props[name]}
        cleaned = validation.check_partial(
            definition.Props, changed, prefix="props", what=f"The module {row.type}"
        )
        check_props(PropsChange(definition.Props, row.props, cleaned))
        props |= cleaned
        hand.settle({"label": label, **replaceable_props(definition.Props, props, "props")})
    return label, props


def _write(
    changed: Sequence[tuple[ModuleInstance, str, JsonObject]], reason: str, actor: Actor
) -> None:
    rows = [row for row, _, _ in changed]
    before = [(row, row.props) for row in rows]
    written: list[SharedChange] = []
    # `bulk_update` doesn't set `auto_now` fields, so `updated_at` is set here.
    for row, label, props in changed:
        earlier_version, earlier, earlier_at = row.version, global_document(row), row.updated_at
        row.label, row.props, row.updated_at = label, props, timezone.now()
        row.version += 1
        written.append(
            SharedChange(
                row.pk, row.version, global_document(row), earlier_version, earlier, earlier_at
            )
        )
    names = ["label", "props", "version", "updated_at"]
    ModuleInstance.objects.bulk_update(rows, names, batch_size=100)
    record_revisions(GLOBAL_MODULE, written, actor=actor, reason=reason)
    update_global_references(before)
    update_global_links(before)
    for row in rows:
        keep_words_of_global(row.pk, actor)
    payloads: list[tuple[None, JsonObject]] = [
        (
            None,
            {
                "what": "global-module",
                "id": str(row.pk),
                "did": "updated",
                "slug": row.global_slug,
                "changed": changed_prop_names(earlier, row.props),
            },
        )
        for row, earlier in before
    ]
    outbox.record_all("content.changed", payloads, actor=actor)
