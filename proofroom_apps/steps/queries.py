"""Where posts are on their way through the steps of their type, and whom the open step asks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Final, Literal

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from content.document.changes import Change
from content.document.document import PostDocument
from content.models import Post, Status
from content.store.digest import digest_of, keyed_hash, read_digest, was_seen
from content.store.layer_state import Layers, open_layers
from content.store.publish_permissions import PUBLISH
from content.store.scopes import can_view, filter_by_changeable_post, filter_by_visible_post
from proofroom.accounts.models import SiteRole, User
from proofroom.accounts.roles import grants
from proofroom.core.actor import Actor, ActorUser
from proofroom.core.agent_directory import is_agent_known
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
        agreed = 0
        # The first agreement to a step that needs one person ends it.
        if current.quorum > 1:
            found = open_layers(post) if layers is None else layers
            agreed = len(list_agreements(row, current, content_digest(found)))
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


def list_agreements(row: StepRound, step: Step, digest: str) -> list[StepDecision]:
    """Return the agreements that count for the open step now. One query.

    They are about exactly the content of now, and by people whom the step still asks, themselves or for others.
    """
    rows = row.decisions.filter(counts=True, step=step.name, digest=digest)
    return [
        decision
        for decision in rows.select_related("by", "deputy_for")
        if decision.by is not None
        and decision.by.is_active
        and (
            step.kind in ("agent", "guest")
            or decision.stands_for
            or _asks(step, decision.deputy_for or decision.by)
        )
    ]


def _asks(step: Step, user: ActorUser) -> bool:
    """Return whether a step asks this person by name or by role."""
    if not user.is_active:
        return False
    return user.role == step.role if step.role else user.username == step.person


@dataclass(frozen=True, slots=True)
class Standing:
    """As whom a person decides about a step: for themselves, as a deputy, or for a name with a reason."""

    deputy_for: User | None = None
    stands_for: str = ""

    @property
    def needs_note(self) -> bool:
        return bool(self.stands_for)


def standing_of(
    actor: Actor, step: Step, post: Post, *, counted: Collection[int] = ()
) -> Standing | None:
    """Return as whom a person may decide about a step, None if it does not ask them.

    Editors decide about the work of an agent, and say what a guest said. A deputy decides for somebody who is away
    and who could decide themselves. People who manage the accounts may stand in for everybody. People who may approve
    and publish may stand in where `find_obstacle` names a reason. `counted`: people whose agreement counts already.
    """
    user = actor.user
    if _asks(step, user):
        return Standing()
    if step.kind == "agent" and actor.can("posts.review.approve", post):
        return Standing()
    if step.kind == "guest" and actor.can("reviewers.invite", post):
        return Standing(stands_for=step.guest)
    for absent in absent_people(user.pk):
        if absent.pk not in counted and _asks(step, absent) and _may_view(absent, post):
            return Standing(deputy_for=absent)
    if actor.can("users.manage"):
        return Standing(stands_for=step.asked)
    is_publisher = actor.can("posts.review.approve", post) and actor.can(PUBLISH, post)
    return Standing(stands_for=step.asked) if is_publisher and find_obstacle(step, post) else None


def find_obstacle(step: Step, post: Post) -> str:
    """Return why those whom a step asks cannot take it, empty if they can. At most five queries.

    Roles, accounts and agents are removed and limited without regard to the steps that name them.
    """
    name = {"name": step.asked}
    if step.kind == "agent":
        return (
            "" if is_agent_known(step.agent) else _("The agent “%(name)s” does not exist.") % name
        )
    if step.kind == "guest":
        return ""
    people = _people_named(step, post)
    if len(people) >= step.quorum:
        return ""
    if step.kind == "person":
        account = User.objects.filter(username=step.person).first()
        if account is None:
            return _("There is no account “%(name)s”.") % name
        if not account.is_active:
            return _("The account “%(name)s” is turned off.") % name
        return _("“%(name)s” cannot see this post.") % name
    if people:
        return ngettext(
            "The step needs %(quorum)s people, but only %(n)s can agree.",
            "The step needs %(quorum)s people, but only %(n)s can agree.",
            len(people),
        ) % {"quorum": step.quorum, "n": len(people)}
    if step.role not in grants() and SiteRole.find(step.role) is None:
        return _("The role “%(name)s” does not exist.") % name
    return _("Nobody with the role “%(name)s” can see this post.") % name


def needed_agreements(step: Step, post: Post, agreements: Collection[StepDecision]) -> int:
    """Return how many people must agree. Who stands in does it for all whom a step asks in vain.

    No query unless somebody stands in.
    """
    if step.quorum == 1 or not any(decision.stands_for for decision in agreements):
        return step.quorum
    return min(step.quorum, len(_people_named(step, post)) + 1)


def absent_people(deputy_id: int) -> list[User]:
    """Return the people who are away now and whose deputy this is. One query, or two for roles of the site."""
    rows = _absences_now().filter(deputy=deputy_id, user__is_active=True)
    people = [row.user for row in rows.select_related("user").order_by("pk")]
    User.preload_roles(people)
    return people


def absences_at(step: Step) -> list[Absence]:
    """Return the people whom a step asks and who are away now, with their deputies. One query."""
    if step.kind not in ("role", "person"):
        return []
    asked = Q(user__role=step.role) if step.role else Q(user__username=step.person)
    rows = _absences_now().filter(asked, user__is_active=True, deputy__is_active=True)
    return list(rows.select_related("user", "deputy").order_by("user__username"))


def overlapping(begins_at: datetime, ends_at: datetime) -> QuerySet[Absence]:
    """Return the absences that share a moment with this time."""
    return Absence.objects.filter(begins_at__lt=ends_at, ends_at__gt=begins_at)


def coming_absences(deputy_id: int) -> list[Absence]:
    """Return the absences, of now or later, in which this person is the deputy. One query."""
    rows = Absence.objects.filter(deputy=deputy_id, ends_at__gt=timezone.now())
    return list(rows.select_related("user").order_by("begins_at", "pk"))


def _absences_now() -> QuerySet[Absence]:
    now = timezone.now()
    return Absence.objects.filter(begins_at__lte=now, ends_at__gt=now)


def people_asked(step: Step, post: Post) -> list[User]:
    """Return the people whom a step asks and who may view the post, with deputies of those away. Four queries.

    Agents and guests are no accounts to notify: then these are nobody.
    """
    asked = _people_named(step, post)
    away = _absences_now().filter(user__in=asked).select_related("deputy")
    deputies = {row.deputy_id: row.deputy for row in away}
    return list({user.pk: user for user in (*asked, *_able(deputies.values(), post))}.values())


def _people_named(step: Step, post: Post) -> list[User]:
    """Return the people whom a step asks and who may view the post, without deputies. Two queries."""
    people = User.objects.filter(is_active=True).order_by("pk")
    if step.kind == "role":
        return _able(people.filter(role=step.role), post)
    return _able(people.filter(username=step.person), post) if step.kind == "person" else []


def _able(people: Iterable[User], post: Post) -> list[User]:
    found = list(people)
    User.preload_roles(found)
    return [user for user in found if _may_view(user, post)]


def _may_view(user: User, post: Post) -> bool:
    return user.can_log_in and user.has_perm("posts.view") and can_view(user, post)


def rounds_asking_person(user: User) -> QuerySet[StepRound]:
    """Return the open steps that ask a person by name or by role."""
    return _rounds_at(lambda step: step.role == user.role or step.person == user.username)


def _rounds_at(is_wanted: Callable[[Step], bool]) -> QuerySet[StepRound]:
    """Return the rounds whose open step is one of these."""
    asks = [
        Q(post__type=type_.name, step=step.name)
        for type_ in post_types
        for step in type_.steps
        if is_wanted(step)
    ]
    return StepRound.objects.filter(reduce(or_, asks)) if asks else StepRound.objects.none()


def rounds_asking(actor: Actor) -> QuerySet[StepRound]:
    """Return the open steps that ask this person, or somebody they stand in for, the most urgent first.

    Without steps that they have agreed to, and without agents at work. One query for deputies, and for people who may
    approve and publish one for steps that ask accounts and roles without people.
    """
    named = [(type_.name, step) for type_ in post_types for step in type_.steps]
    own = Q(pk__in=[])
    for type_name, step in named:
        if _asks(step, actor.user):
            own |= Q(post__type=type_name, step=step.name)
    asks = own
    counted = StepDecision.objects.filter(round=OuterRef("pk"), counts=True)
    for absent in absent_people(actor.user.pk):
        theirs = [Q(post__type=name, step=step.name) for name, step in named if _asks(step, absent)]
        if theirs and absent.has_perm("posts.view"):
            seen = filter_by_visible_post(StepRound.objects.all(), absent)
            is_counted = Exists(counted.filter(Q(by=absent) | Q(deputy_for=absent)))
            asks |= reduce(or_, theirs) & Q(pk__in=seen.values("pk")) & ~Q(is_counted)
    changed = _asks_of_rights(actor, named)
    if changed:
        within = filter_by_changeable_post(StepRound.objects.all(), actor)
        asks |= changed & Q(pk__in=within.values("pk")) if actor.scopes else changed
    rows = StepRound.objects.filter(asks, post__deleted_at__isnull=True)
    rows = rows.filter(~Exists(counted.filter(Q(by=actor.user.pk) | Q(deputy_for=actor.user.pk))))
    rows = filter_by_visible_post(rows, actor)
    return rows.select_related("post").order_by(F("due_at").asc(nulls_last=True), "opened_at", "pk")


def _asks_of_rights(actor: Actor, named: Sequence[tuple[str, Step]]) -> Q:
    """Return the steps that ask people by their rights: about agents, guests, and where nobody else can decide."""
    found = Q()
    approves, invites = actor.can("posts.review.approve"), actor.can("reviewers.invite")
    vacant = _vacant_steps(named) if approves and actor.can(PUBLISH) else set()
    for type_name, step in named:
        here = Q(post__type=type_name, step=step.name)
        if step.kind == "agent" and approves:
            # An agent at work needs nobody.
            found |= here & (~Q(problem="") | Q(run_id__isnull=True))
        elif (step.kind == "guest" and invites) or (type_name, step.name) in vacant:
            found |= here
    return found


def _vacant_steps(named: Sequence[tuple[str, Step]]) -> set[tuple[str, str]]:
    """Return the steps that ask accounts and roles without people, by type and name. One query."""
    roles = {step.role for _type, step in named if step.role}
    usernames = {step.person for _type, step in named if step.person}
    if not roles and not usernames:
        return set()
    people = User.objects.filter(Q(role__in=roles) | Q(username__in=usernames), is_active=True)
    taken = list(people.values_list("role", "username"))
    filled = {("role", role) for role, _username in taken} | {
        ("person", name) for _role, name in taken
    }
    return {
        (type_name, step.name)
        for type_name, step in named
        if step.kind in ("role", "person") and (step.kind, step.asked) not in filled
    }
