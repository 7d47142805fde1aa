"""Refuses approvals and publications while editorial steps are open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final
from uuid import UUID

from django.utils.translation import gettext as _

from content.document.changes import TERMS_PATH, Change, diff
from content.document.document import PostDocument
from content.models import Post, Status
from content.rules.publication_gates import (
    STEPS_OPEN,
    PlannedApproval,
    approval_obstacles,
    before_approval,
    before_live_edit,
    before_publication,
    changes_approved,
    publication_obstacles,
)
from content.store import post_repository
from content.store.traffic import before_variation_starts
from proofroom.core.errors import RuleViolation
from proofroom.definitions import Step, steps_of
from proofroom_apps.steps.models import StepRound
from proofroom_apps.steps.queries import (
    UNSEALED_FIELDS,
    are_sealed,
    is_completed,
    is_document_sealed,
    open_step,
    seal_of,
)

_NO_CONTENT: Final = frozenset({TERMS_PATH, *(f"post.{name}" for name in UNSEALED_FIELDS)})


def register_gates() -> None:
    """Call once, at start."""
    before_approval.register(require_passed_changes)
    approval_obstacles.register(find_open_for_changes)
    publication_obstacles.register(find_open_for_documents)
    before_publication.register(require_passed_document)
    before_live_edit.register(refuse_live_edit)
    before_variation_starts.register(require_passed_variation)
    changes_approved.register(seal_approved)


def require_passed_changes(post: Post, changes: Sequence[Change]) -> None:
    """Raise `RuleViolation` (`steps_open`) unless the steps were done for exactly these changes."""
    steps = steps_of(post.type)
    if not steps:
        return
    row = StepRound.objects.filter(post=post).first()
    if row is None or not is_completed(row, steps) or not are_sealed(row, changes):
        raise _refusal(row, steps)


def require_passed_document(post: Post, load: Callable[[], PostDocument]) -> None:
    """Raise `RuleViolation` (`steps_open`) unless the steps were done for exactly this content."""
    steps = steps_of(post.type)
    if not steps:
        return
    row = StepRound.objects.filter(post=post).first()
    if row is None or not is_completed(row, steps) or not is_document_sealed(row, load()):
        raise _refusal(row, steps)
    row.add_public_seals(row.sealed_document)
    row.save(update_fields=["public_seals"])


def find_open_for_changes(planned: Sequence[PlannedApproval]) -> list[str]:
    """Return for each why `require_passed_changes` would refuse, else empty. One query, none without steps."""
    rows = _rows_of([post for post, _changes in planned])
    texts = []
    for post, changes in planned:
        steps, row = steps_of(post.type), rows.get(post.pk)
        is_open = row is None or not is_completed(row, steps) or not are_sealed(row, changes)
        texts.append(_refusal(row, steps).message if steps and is_open else "")
    return texts


def find_open_for_documents(posts: Sequence[Post]) -> list[str]:
    """Return for each why `require_passed_document` would refuse, else empty. Four queries, none without steps."""
    rows = _rows_of(posts)
    completed = [
        post
        for post in posts
        if (row := rows.get(post.pk)) is not None and is_completed(row, steps_of(post.type))
    ]
    sealed = {
        post.pk
        for post, document in (post_repository.load_many(completed) if completed else ())
        if is_document_sealed(rows[post.pk], document)
    }
    texts = []
    for post in posts:
        steps = steps_of(post.type)
        is_open = bool(steps) and post.pk not in sealed
        texts.append(_refusal(rows.get(post.pk), steps).message if is_open else "")
    return texts


def _rows_of(posts: Sequence[Post]) -> dict[UUID, StepRound]:
    ids = {post.pk for post in posts if steps_of(post.type)}
    return StepRound.objects.in_bulk(ids) if ids else {}


def require_passed_variation(variation: Post) -> None:
    """Raise `RuleViolation` (`steps_open`) unless visitors may see this variation."""
    require_passed_document(variation, lambda: post_repository.load(variation))


def refuse_live_edit(post: Post, before: PostDocument, after: PostDocument) -> None:
    """Raise `RuleViolation` (`steps_open`) if content of a public post is changed past its steps.

    Content that was public before may be restored.
    """
    steps = steps_of(post.type)
    if not steps or not _is_public(post):
        return
    if {*diff(before, after).paths} <= _NO_CONTENT:
        return
    row = StepRound.objects.filter(post=post).first()
    if row is not None and seal_of(after) in row.public_seals:
        return
    message = _(
        "Changes of this post go through the step “%(step)s” first. Save them to Review."
    ) % {"step": steps[0].name}
    raise RuleViolation(message, code=STEPS_OPEN, details={"step": [steps[0].name]})


def seal_approved(post: Post, before: PostDocument) -> None:
    """Seal live content that came from sealed content by a sealed approval."""
    if not steps_of(post.type):
        return
    row = StepRound.objects.filter(post=post).first()
    # A draft that was edited after its steps were done does not pass by an approval.
    if row is not None and (_is_public(post) or is_document_sealed(row, before)):
        # Read again, because the database may store values in another form, such as 1.0 as 1.
        row.sealed_document = seal_of(post_repository.load(Post.objects.get(pk=post.pk)))
        if _is_public(post):
            row.add_public_seals(seal_of(before), row.sealed_document)
        row.save(update_fields=["sealed_document", "public_seals"])


def _is_public(post: Post) -> bool:
    is_shown = post.status == Status.PUBLISHED and not post.is_placeholder
    return is_shown or (post.variation_of_id is not None and post.variation_running)


def _refusal(row: StepRound | None, steps: Sequence[Step]) -> RuleViolation:
    current = open_step(row, steps)
    if current is not None:
        message = _("The step “%(step)s” is open. All steps must be done first.")
    elif row is not None and is_completed(row, steps):
        message = _(
            "The content was changed after its steps were done. Start the step “%(step)s” again."
        )
    else:
        message = _("The step “%(step)s” was not started. All steps must be done first.")
    name = (current or steps[0]).name
    return RuleViolation(message % {"step": name}, code=STEPS_OPEN, details={"step": [name]})
