"""Variations: alternative versions of a post's content for a test; the winner can replace the original."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final
from uuid import UUID, uuid4

from django.db import transaction
from django.utils.translation import gettext as _

from content.document.document import CUSTOM_PREFIX, PostDocument
from content.layers.live import write_live
from content.models import CopyOrigin, Post, Status
from content.models.post import VARIATION_MAX, VARIATION_PATTERN
from content.posts.create import empty_document, insert, new_row, record_created
from content.rules import check_changes
from content.rules.modules import rekey_by_names
from content.store import post_repository
from content.store.arms import ORIGINAL
from content.store.duplicate import COPIED_FIELDS, copied_fields, copy_modules
from content.store.layer_state import check_version, lock_post, settle
from content.store.traffic import (
    before_variation_starts,
    check_weight,
    lock_variation,
    stop_variations,
)
from content.store.translation_status import record_source
from proofroom.core.actor import Actor
from proofroom.core.errors import Conflict, RuleViolation, invalid

USUAL_WEIGHT: Final = 50
MAX_VARIATIONS: Final = 20
_NAME: Final = re.compile(VARIATION_PATTERN, re.ASCII)
_KEEPS: Final = frozenset({"robotsJson"})
"""Copied fields that a promotion doesn't take over: indexing by search engines is not part of the test."""


@transaction.atomic
def create_variation(
    *, post_id: UUID | str, variation: str, actor: Actor, weight: int = USUAL_WEIGHT
) -> Post:
    """Create a draft with a copy of the live content. Raises `RuleViolation` on `variation` if the name is in use."""
    actor.require_person("create variations of live content")
    actor.require("posts.create")
    original = lock_post(post_id, actor)
    _check(original, variation, weight)
    document = post_repository.load(original)
    post = new_row(actor, original.type, original.locale, None)
    post.slug = original.slug
    post.variation_of, post.variation, post.variation_weight = original, variation, weight
    empty = empty_document(post)
    copy = empty.with_fields(copied_fields(document)).with_terms(document.taxonomy_term_ids)
    copy, ids = copy_modules(document, copy)
    try:
        copy = check_changes(post=post, before=empty, after=copy, actor=actor, taken_over=document)
    except RuleViolation as error:
        # The user knows the modules of the original, not the new ids of the copy.
        names = {copied: source_id for source_id, copied in ids.items()}
        raise rekey_by_names(error, names) from None
    changes = insert(post, empty, copy, actor)
    record_source(post, document, copy, ids)
    record_created(post, changes, actor)
    return post


def _check(original: Post, variation: str, weight: int) -> None:
    if original.variation_of_id is not None:
        message = _("A variation cannot have variations. Create another variation of the original.")
        raise RuleViolation(message, code="is_variation")
    if original.is_placeholder:
        message = _("This post was created by an agent. Approve its content before you publish it.")
        raise RuleViolation(message, code="not_approved")
    if not _NAME.fullmatch(variation):
        message = _(
            "The name of a variation can have up to %(variation_max)s letters, digits, - and _."
        ) % {"variation_max": VARIATION_MAX}
        raise invalid("variation", message)
    if variation == ORIGINAL:
        message = _("%(original)s is the original. Choose another name, such as B.") % {
            "original": ORIGINAL
        }
        raise invalid("variation", message, code="variation_exists")
    check_weight(weight)
    names = list(
        Post.objects.kept().filter(variation_of=original).values_list("variation", flat=True)
    )
    if variation in names:
        message = _("The post already has a variation %(variation)s.") % {"variation": variation}
        raise invalid("variation", message, code="variation_exists")
    if len(names) >= MAX_VARIATIONS:
        raise invalid(
            "variation",
            _("A post can have at most %(most_variations)s variations.")
            % {"most_variations": MAX_VARIATIONS},
        )


@transaction.atomic
def promote_variation(
    *,
    post_id: UUID | str,
    variation_id: UUID | str,
    actor: Actor,
    expected_version: int | None = None,
    expected_variation_version: int | None = None,
) -> Post:
    """Replace the content of the original with that of a variation. Place, status and staged changes stay.

    Stops all variations of the post and creates a revision; otherwise the variations and the translations are
    unchanged. Raises `Conflict` (`stale_version`) if either version differs from the expected one.
    """
    actor.require_person("promote variations")
    actor.require("posts.edit")
    original = lock_post(post_id, actor)
    winner = lock_variation(original, variation_id, actor)
    if winner is None:
        message = _("This post has no variation with the ID %(variation_id)s.") % {
            "variation_id": str(variation_id)[:80]
        }
        raise invalid("variationId", message, code="unknown_variation")
    check_version(expected_version, original.version, _("This post"))
    # Reported under its own key, because `version` means the version of the original.
    try:
        check_version(expected_variation_version, winner.version, _("The variation"))
    except Conflict as error:
        details = {"variationVersion": [error.message]}
        raise Conflict(error.message, code=error.code, details=details) from None
    if original.status == Status.PUBLISHED:
        before_variation_starts(winner)
    before = post_repository.load(original)
    after = document_after_promotion(winner, before)
    after = check_changes(post=original, before=before, after=after, actor=actor, taken_over=after)
    note = f"variation {winner.variation}"
    if write_live(
        post=original, before=before, after=after, actor=actor, reason="promoted", note=note
    ):
        settle(original, after)
    stop_variations(original, actor)
    return original


def document_after_promotion(winner: Post, before: PostDocument) -> PostDocument:
    """Return the original's document with the winner's content. Copied modules get the original's ids again."""
    won = post_repository.load(winner)
    fields = {
        name: value
        for name, value in won.fields.items()
        if name.startswith(CUSTOM_PREFIX) or (name in COPIED_FIELDS and name not in _KEEPS)
    }
    origin = CopyOrigin.objects.filter(post=winner).first()
    sources = {copy: source for source, copy in (origin.modules if origin else {}).items()}
    modules = []
    for module in won.modules:
        source_id = sources.get(module.id)
        source = before.module(source_id) if source_id else None
        instance_id = module.instance_id
        if source is not None:
            instance_id = source.instance_id
        elif module.scope != "global":
            instance_id = str(uuid4())
        id_ = source_id or str(uuid4())
        modules.append(replace(module, id=id_, instance_id=instance_id))
    document = before.with_fields(fields).with_terms(won.taxonomy_term_ids)
    return replace(document, modules=tuple(modules))
