"""Running variations, shown to a share of the visitors in place of their original.

A test ends when its original is unpublished. After publishing it again, an editor starts the variations again.
"""

from __future__ import annotations

from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import Sum
from django.utils.translation import gettext as _

from content.models import Post, Status
from content.store.layer_state import event_payload, lock_post, lock_post_in
from content.store.page_locks import require_unlocked
from content.store.publish_permissions import PUBLISH
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import NotFound, RuleViolation, invalid
from proofroom.core.hooks import Hook

WEIGHTS: Final = range(1, 101)
_ALL_VISITORS: Final = 100
before_variation_starts: Hook[[Post], None] = Hook()
"""Called in the transaction before visitors see a variation. An exception keeps it stopped."""


@transaction.atomic
def change_variation(
    *,
    post_id: UUID | str,
    variation_id: UUID | str,
    actor: Actor,
    weight: int | None = None,
    running: bool | None = None,
) -> Post:
    """Change the share of visitors of a variation, or start or stop it. None leaves a value unchanged.

    Raises `RuleViolation` on `weight` if the shares exceed 100 percent, and on `running` if the variation or its
    original cannot be shown.
    """
    actor.require_person("run variations")
    # A request that changes nothing needs a permission too.
    if weight is not None or running is None:
        actor.require("posts.edit")
    if running is not None:
        actor.require(PUBLISH)
    original = lock_post(post_id, actor)
    variation = lock_variation(original, variation_id, actor)
    if variation is None:
        raise NotFound(
            _("This post has no variation with the ID %(variation_id)s.")
            % {"variation_id": str(variation_id)[:80]}
        )
    weight_before, was_running = variation.variation_weight, variation.variation_running
    variation.variation_weight = weight_before if weight is None else check_weight(weight)
    variation.variation_running = was_running if running is None else running
    starts = variation.variation_running and not was_running
    _check_running(original, variation, starts=starts)
    if starts:
        before_variation_starts(variation)
    variation.save(update_fields=["variation_weight", "variation_running"])
    if variation.variation_weight != weight_before:
        _record("changed", variation, actor, weight_before=weight_before)
    if variation.variation_running != was_running:
        _record("started" if variation.variation_running else "stopped", variation, actor)
    return variation


def running_variations(original: Post) -> list[UUID]:
    """Return the ids of the running variations of a post. One query."""
    rows = original.variations.filter(variation_running=True)
    return list(rows.order_by("pk").values_list("pk", flat=True))


def stop_variations(original: Post, actor: Actor) -> None:
    """Stop the running variations of a post that the caller's transaction has locked."""
    rows = original.variations.select_for_update(of=("self",), no_key=True)
    for row in rows.filter(variation_running=True).order_by("pk"):
        stop(row, actor)


def stop(variation: Post, actor: Actor) -> None:
    """Stop a variation that the caller's transaction has locked, if it runs."""
    if not variation.variation_running:
        return
    variation.variation_running = False
    variation.save(update_fields=["variation_running"])
    _record("stopped", variation, actor)


def lock_variation(original: Post, variation_id: UUID | str, actor: Actor) -> Post | None:
    """Return the locked variation of a locked post, or None.

    Raises `Conflict` (`locked_by`) if another person has locked the page of the variation.
    """
    variations = Post.objects.kept().filter(variation_of=original, locale=original.locale)
    variation = lock_post_in(variations, variation_id)
    if variation is not None:
        require_unlocked(variation, actor)
    return variation


def check_weight(weight: int) -> int:
    if isinstance(weight, bool) or weight not in WEIGHTS:
        raise invalid("weight", _("weight must be a whole number from 1 to 100."))
    return weight


def _check_running(original: Post, variation: Post, *, starts: bool) -> None:
    message = code = ""
    if starts and original.status != Status.PUBLISHED:
        message = _("Publish the original first. Variations are shown in its place.")
        code = "original_not_published"
    elif starts and variation.status == Status.ARCHIVED:
        message = _("This variation is archived. Restore it as a draft first.")
        code = "archived"
    elif starts and (variation.is_placeholder or original.is_placeholder):
        message = _("This post was created by an agent. Approve its content before you publish it.")
        code = "not_approved"
    if message:
        raise RuleViolation(message, code=code, details={"running": [message]})
    if not variation.variation_running:
        return
    others = original.variations.filter(variation_running=True).exclude(pk=variation.pk)
    used = others.aggregate(total=Sum("variation_weight"))["total"] or 0
    if used + (variation.variation_weight or 0) > _ALL_VISITORS:
        message = _(
            "The other running variations get %(taken)s of 100 percent of visitors. %(variation)s "
            "can get at most %(all)s."
        ) % {"taken": used, "variation": variation.variation, "all": _ALL_VISITORS - used}
        raise invalid("weight", message, code="too_many_visitors")


def _record(what: str, variation: Post, actor: Actor, *, weight_before: int | None = None) -> None:
    payload = {
        **event_payload(variation),
        "variation": variation.variation,
        "weight": variation.variation_weight,
    }
    if weight_before is not None:
        payload["before"] = weight_before
    outbox.record(f"post.variation.{what}", actor=actor, post_id=variation.pk, payload=payload)
