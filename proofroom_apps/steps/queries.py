"""Where posts are on their way through the steps of their type, and whom the open step asks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Final, Literal

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from content.document.changes import Change
from content.document.document import PostDocument
from content.models import Post, Status
from content.store.digest import digest_of, keyed_hash, read_digest, was_seen
from content.store.layer_state import Layers, open_layers
from content.store.scopes import can_view, filter_by_visible_post
from proofroom.accounts.models import User
from proofroom.core.actor import Actor, ActorUser
from proofroom.core.errors import RuleViolation
from proofroom.definitions import Step, post_types, steps_of
from proofroom_apps.steps.models import Absence, StepDecision, StepRound

State = Literal["waiting", "open", "done"]
UNSEALED_FIELDS: Final = frozenset(
    {"publishAt", "unpublishAt", "orderIndex", "parentId", "canonicalUrl"}
)
"""Fields that are no content: they say when and where a post is shown. Terms are none either."""


@dataclass(frozen=True, slots=True)
class StepView:
    """A step of one post. `agreed`: the number of people who agreed to it, while it is open."""

    step: Step
    state: State
    due: datetime | None = None
    agreed: int = 0


@dataclass(frozen=True, slots=True)
class Way:
    """All steps of one post. `current` is the open one. `is_passed`: all are done for the content of now."""

    post: Post
    steps: Sequence[StepView]
    row: StepRound | None = None
    current: Step | None = None
    is_passed: bool = False

    @property
    def next_step(self) -> Step | None:
        """The open step, or the first one if none was started; None if all are done or the type has none."""
        if self.current is not None or self.is_passed or not self.steps:
            return self.current
        return self.steps[0].step

    def after(self, step: Step) -> Step | None:
        """Return the step that follows, None after the last."""
        names = [view.step.name for view in self.steps]
        rest = self.steps[names.index(step.name) + 1 :]
        return rest[0].step if rest else None

    def find(self, name: str) -> Step | None:
        return next((view.step for view in self.steps if view.step.name == name), None)


def read_way(post: Post, layers: Layers | None = None) -> Way:
    """Return the steps of a post. No query for types without steps, else at most three."""
    steps = steps_of(post.type)
    if not steps:
        return Way(post, ())
    row = StepRound.objects.filter(post=post).first()
    current = open_step(row, steps)
    if row is not None and current is not None:
        agreed = row.decisions.filter(counts=True).count()
        at = list(steps).index(current)
        views = [
            StepView(step, "open", row.due_at, agreed)
            if place == at
            else StepView(step, "done" if place < at else "waiting")
            for place, step in enumerate(steps)
        ]
        return Way(post, views, row, current)
    is_passed = row is not None and is_completed(row, steps) and _is_sealed(row, post, layers)
    state: State = "done" if is_passed else "waiting"
    return Way(post, [StepView(step, state) for step in steps], row, None, is_passed)


def open_step(row: StepRound | None, steps: Sequence[Step]) -> Step | None:
    """Return the open step. A step that the type no longer has counts as not open."""
    if row is None or not row.step:
        return None
    return next((step for step in steps if step.name == row.step), None)


def is_completed(row: StepRound, steps: Sequence[Step]) -> bool:
    """Return whether all steps that the type has now were done."""
    return row.completed_at is not None and {step.name for step in steps} <= {*row.passed}


def _is_sealed(row: StepRound, post: Post, layers: Layers | None) -> bool:
    found = open_layers(post) if layers is None else layers
    if not are_sealed(row, list(found.review.changes)):
        return False
    return post.status == Status.PUBLISHED or is_document_sealed(row, found.live)


def are_sealed(row: StepRound, changes: Collection[Change]) -> bool:
    """Return whether the steps were done for exactly these changes in Review."""
    try:
        sealed = read_digest(row.sealed_changes) if row.sealed_changes else {}
    # Written by another version of the digest.
    except RuleViolation:
        return False
    return all(was_seen(sealed, change) for change in changes)


def is_document_sealed(row: StepRound, document: PostDocument) -> bool:
    """Return whether the steps were done for exactly this live content."""
    return row.sealed_document == seal_of(document)


def seal_of(document: PostDocument) -> str:
    """Return the hash of the content of a document, without its dates and its place."""
    fields = {name: value for name, value in document.fields.items() if name not in UNSEALED_FIELDS}
    modules = [module.to_json(index) for index, module in enumerate(document.modules)]
    return keyed_hash("steps", fields, modules)


def content_digest(layers: Layers) -> str:
    """Return the hash of all content that a step is about: the live content and the changes in Review."""
    return keyed_hash("steps", seal_of(layers.live), digest_of(layers.review.changes))


@dataclass(frozen=True, slots=True)
class Standing:
    """As whom a person decides about a step: for themselves, as a deputy, or for a name with a reason."""

    deputy_for: User | None = None
    stands_for: str = ""

    @property
    def needs_note(self) -> bool:
        return bool(self.stands_for)


def standing_of(user: ActorUser, step: Step, can: Callable[[str], bool]) -> Standing | None:
    """Return as whom a person may decide about a step, None if it does not ask them. At most one query.

    Editors decide about the work of an agent, and say what a guest said. A deputy decides for somebody who is away;
    people who manage the accounts may stand in for everybody.
    """
    if user.role == step.role or user.username == step.person:
        return Standing()
    if step.kind == "agent" and can("posts.review.approve"):
        return Standing()
    if step.kind == "guest" and can("reviewers.invite"):
        return Standing(stands_for=step.guest)
    for absent in absent_people(user.pk):
        if absent.role == step.role or absent.username == step.person:
            return Standing(deputy_for=absent)
    return Standing(stands_for=step.asked) if can("users.manage") else None


def absent_people(deputy_id: int) -> list[User]:
    """Return the people who are away now and whose deputy this is. One query."""
    now = timezone.now()
    rows = Absence.objects.filter(deputy=deputy_id, begins_at__lte=now, ends_at__gt=now)
    return [row.user for row in rows.filter(user__is_active=True).select_related("user")]


def people_asked(step: Step, post: Post) -> list[User]:
    """Return the people whom a step asks and who may view the post, with deputies of those away. Three queries.

    Agents and guests are no accounts to notify: then these are nobody.
    """
    people = User.objects.filter(is_active=True)
    if step.kind == "role":
        asked = list(people.filter(role=step.role))
    elif step.kind == "person":
        asked = list(people.filter(username=step.person))
    else:
        return []
    now = timezone.now()
    away = Absence.objects.filter(user__in=asked, begins_at__lte=now, ends_at__gt=now)
    asked += [row.deputy for row in away.select_related("deputy") if row.deputy.is_active]
    found = {user.pk: user for user in asked}
    User.preload_roles(found.values())
    return [
        user
        for user in found.values()
        if user.can_log_in and user.has_perm("posts.view") and can_view(user, post)
    ]


def rounds_asking(actor: Actor) -> QuerySet[StepRound]:
    """Return the open steps that ask this person, or somebody they stand in for, the most urgent first.

    Without the steps that they have agreed to. One query for deputies.
    """
    people = [(actor.user.username, actor.user.role)]
    people += [(absent.username, absent.role) for absent in absent_people(actor.user.pk)]
    usernames, roles = {name for name, _role in people}, {role for _name, role in people}
    asks = [
        Q(post__type=type_.name, step=step.name)
        for type_ in post_types
        for step in type_.steps
        if step.role in roles
        or step.person in usernames
        or (step.kind == "agent" and actor.can("posts.review.approve"))
        or (step.kind == "guest" and actor.can("reviewers.invite"))
    ]
    if not asks:
        return StepRound.objects.none()
    rows = StepRound.objects.filter(reduce(or_, asks), post__deleted_at__isnull=True)
    own = StepDecision.objects.filter(round=OuterRef("pk"), counts=True, by=actor.user.pk)
    rows = rows.filter(~Exists(own))
    rows = filter_by_visible_post(rows, actor)
    return rows.select_related("post").order_by("due_at", "opened_at", "pk")
