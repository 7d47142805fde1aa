"""Editorial steps: start them, agree to them, send content back, change due dates, and name a deputy.

People decide all of it. The answer of an agent or a guest can only end a step that asks them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from content.models import Post, Status
from content.posts.decide import clean_note
from content.store.digest import digest_of, read_digest, was_seen
from content.store.layer_state import Layers, event_payload, lock_post, open_layers
from content.store.scopes import require_in_scope
from proofroom.accounts.models import User
from proofroom.core import outbox
from proofroom.core.actor import SYSTEM, Actor
from proofroom.core.errors import Conflict, NotAllowed, RuleViolation, invalid
from proofroom.core.hooks import Hook
from proofroom.core.json import Json, format_time
from proofroom.core.validation.input_validation import reject_unstorable
from proofroom.definitions import Step, steps_of
from proofroom_apps.steps.models import Absence, StepAction, StepDecision, StepRound
from proofroom_apps.steps.queries import (
    Standing,
    Way,
    content_digest,
    find_obstacle,
    list_agreements,
    needed_agreements,
    open_step,
    overlapping,
    read_way,
    seal_of,
    standing_of,
)

MAX_REMINDED: Final = 500
_SITE: Final = Actor(SYSTEM, "system")
_OWN: Final = Standing()


@dataclass(frozen=True, slots=True)
class AgentRequest:
    """An agent that a step asks to work on a post. `actor`: the person with whose rights it is started."""

    post: Post
    step: str
    agent_id: str
    actor: Actor


@dataclass(frozen=True, slots=True)
class StartedRun:
    """The run of an agent that a step asks, or why there is none."""

    run_id: UUID | None = None
    problem: str = ""


agent_asked: Hook[[AgentRequest], StartedRun] = Hook()
"""Starts the agent that a step asks, in the transaction of the step. Registered by the app of agents."""


@transaction.atomic
def advance(
    *, post_id: UUID | str, actor: Actor, step: str = "", note: str = "", digest: str = ""
) -> Way:
    """Start the steps of a post, or agree to the open step.

    `step` and `digest`: the open step and the content that the person saw. Raises `Conflict` (`stale_step`,
    `stale_content`) if they differ now, and `NotAllowed` (`not_asked`) for people whom the step does not ask.
    """
    actor.require("posts.view")
    actor.require_person("take editorial steps")
    note = clean_note(note)
    way = _lock_way(post_id, actor)
    if step:
        reject_unstorable(step, "step")
    if step and step != (way.current.name if way.current is not None else ""):
        raise _stale_step(step)
    if digest and digest != content_digest(open_layers(way.post)):
        raise Conflict(
            _("The content was changed since you read it. Read it again."), code="stale_content"
        )
    if way.current is None:
        return _start(way, actor, note)
    return _agree(way, way.current, actor, note)


@transaction.atomic
def send_back(*, post_id: UUID | str, actor: Actor, note: str, step: str = "") -> Way:
    """Send the content back to an earlier step, or to its authors without one, and say why.

    For people whom the open step asks, and for people who may approve. Also possible after the last step, until the
    content is live. Back to the open step of an agent starts it again, see `_run_again`.
    """
    actor.require("posts.view")
    actor.require_person("take editorial steps")
    note = clean_note(note)
    way = _lock_way(post_id, actor)
    row, current = way.row, way.current
    if row is not None and current is not None and current.kind == "agent" and step == current.name:
        return _run_again(way, row, current, actor, note)
    if not note:
        raise invalid("note", _("Say what has to change."))
    target = _find_target(way, step)
    if row is None or not may_return(way, open_layers(way.post)):
        raise invalid("action", _("No step is open."), code="no_open_step")
    standing: Standing | None = Standing()
    if not actor.can("posts.review.approve", way.post):
        standing = standing_of(actor, current, way.post) if current is not None else None
    if standing is None:
        raise _not_asked(current)
    _record_decision(row, StepAction.RETURNED, step, actor, note, standing)
    origin = current.name if current is not None else ""
    _record("post.step.returned", way.post, actor, step=step, origin=origin)
    if target is None:
        _close(row)
    else:
        _open(row, way.post, target, actor)
    return read_way(way.post)


def may_start(actor: Actor, post: Post) -> bool:
    """Return whether the actor may send the content of a post through its steps."""
    return actor.can("posts.edit", post) or actor.can("posts.review.save", post)


def _run_again(way: Way, row: StepRound, step: Step, actor: Actor, note: str) -> Way:
    """Start the agent of the open step again, after a run that did not end the step. Its due date stays."""
    post = way.post
    if not may_start(actor, post) and standing_of(actor, step, post) is None:
        raise _not_asked(step)
    if row.run_id is not None and not row.problem:
        raise invalid("step", _("The agent is still at work."))
    _record_decision(row, StepAction.RETURNED, step.name, actor, note)
    _record("post.step.returned", post, actor, step=step.name, origin=step.name)
    _start_agent(row, post, step, actor)
    row.save()
    if row.problem:
        _record("post.step.stopped", post, actor, step=step.name)
    return read_way(post)


@transaction.atomic
def change_due(
    *,
    post_id: UUID | str,
    actor: Actor,
    step: str,
    due_at: datetime,
    expected_at: datetime | None = None,
) -> StepRound:
    """Give the open step another due date. The people it asks are reminded of it again.

    For people who may approve. Raises `Conflict` if another step is open (`stale_step`), or if the date is
    no longer `expected_at`.
    """
    actor.require("posts.view")
    actor.require_person("change a due date")
    actor.require("posts.review.approve")
    way = _lock_way(post_id, actor)
    actor.require("posts.review.approve", way.post)
    row, current = way.row, way.current
    if row is None or current is None or current.name != step:
        raise _stale_step(step)
    if expected_at is not None and format_time(expected_at) != format_time(row.due_at):
        raise Conflict(_("The due date was changed since you read it."))
    if due_at <= timezone.now():
        raise invalid("dueAt", _("The due date must be in the future."))
    if due_at != row.due_at:
        row.due_at, row.remind_at = due_at, due_at - current.lead
        row.save(update_fields=["due_at", "remind_at"])
        due = format_time(due_at)
        _record("post.step.due-changed", way.post, actor, step=current.name, due=due)
    return row


def may_return(way: Way, layers: Layers) -> bool:
    """Return whether there is content to send back: at an open step, or done and not live yet."""
    if way.current is not None:
        return True
    return way.is_passed and (way.post.status != Status.PUBLISHED or layers.review.exists)


def _lock_way(post_id: UUID | str, actor: Actor) -> Way:
    # Reviewers of a step may be allowed to view the post only.
    post = lock_post(post_id, actor, is_source=True)
    way = read_way(post)
    if not way.steps:
        raise invalid("action", _("Posts of this type have no editorial steps."), code="no_steps")
    return way


def _find_target(way: Way, name: str) -> Step | None:
    """Return the step to send back to. Raises `RuleViolation` unless it is done."""
    if not name:
        return None
    done = [view.step for view in way.steps if view.state == "done"]
    found = next((step for step in done if step.name == name), None)
    if found is None:
        names = ", ".join(step.name for step in done) or _("none")
        raise invalid(
            "step", _("Choose a step that was done. Available: %(names)s.") % {"names": names}
        )
    return found


def _start(way: Way, actor: Actor, note: str) -> Way:
    post = way.post
    if not actor.can("posts.edit"):
        actor.require("posts.review.save")
    require_in_scope(post, actor)
    if way.is_passed:
        raise invalid("action", _("All steps are done."), code="steps_done")
    if post.status == Status.PUBLISHED and not open_layers(post).review.exists:
        raise invalid("action", _("There are no changes in Review."), code="nothing_staged")
    row = way.row or StepRound(post=post)
    if post.status != Status.PUBLISHED:
        # What is public has passed already, and can be published again after it was taken off the site.
        row.sealed_document = ""
    row.started_by_id = actor.user.pk
    first = way.steps[0].step
    row.save()
    _record_decision(row, StepAction.STARTED, first.name, actor, note)
    _open(row, post, first, actor)
    return read_way(post)


def _agree(way: Way, step: Step, actor: Actor, note: str) -> Way:
    actor.require_session("agree to a step")
    row, post = way.row, way.post
    if row is None:
        raise _not_asked(step)
    digest = content_digest(open_layers(post))
    counted = list_agreements(row, step, digest)
    # About other content, or by people whom the step no longer asks: they may have to agree again.
    row.decisions.filter(counts=True).exclude(pk__in=[each.pk for each in counted]).update(
        counts=False
    )
    people = {each.deputy_for_id or each.by_id for each in counted}
    if actor.user.pk in people or any(each.by_id == actor.user.pk for each in counted):
        raise RuleViolation(
            _("You have agreed already. Other people must agree too."),
            code="already_agreed",
            details={"step": [step.name]},
        )
    standing = standing_of(actor, step, post, counted={id_ for id_ in people if id_ is not None})
    if standing is None:
        raise _not_asked(step)
    if standing.needs_note and not note:
        name = standing.stands_for
        raise invalid("note", _("Say why you decide for %(name)s.") % {"name": name})
    _record_decision(row, StepAction.AGREED, step.name, actor, note, standing, counts=True)
    _record("post.step.agreed", post, actor, step=step.name)
    counted = list_agreements(row, step, digest)
    if len(counted) >= needed_agreements(step, post, counted):
        _open_next(way, step, actor)
    return read_way(post)


def _stale_step(name: str) -> Conflict:
    message = _("The step “%(step)s” is no longer open. Read the steps again.")
    return Conflict(message % {"step": name[:80]}, code="stale_step")


def _not_asked(step: Step | None) -> NotAllowed:
    name = step.name if step is not None else ""
    return NotAllowed(
        _("The step “%(step)s” does not ask you.") % {"step": name}
        if name
        else _("Only people who may approve can send content back now."),
        code="not_asked",
        details={"step": [name]} if name else None,
    )


def _open_next(way: Way, step: Step, actor: Actor) -> None:
    """Open the step after this one. After the last one, seal the content."""
    row, following = way.row, way.after(step)
    if row is None:
        return
    if following is not None:
        _open(row, way.post, following, actor)
        return
    layers = open_layers(way.post)
    _close(row)
    row.completed_at = timezone.now()
    row.passed = [view.step.name for view in way.steps]
    row.sealed_changes = digest_of(layers.review.changes)
    row.sealed_document = seal_of(layers.live)
    row.save()
    _record("post.steps.done", way.post, actor, step=step.name)


def _open(row: StepRound, post: Post, step: Step, actor: Actor) -> None:
    _close(row)
    row.step, row.opened_at = step.name, timezone.now()
    if step.due is not None:
        row.due_at = row.opened_at + step.due
        row.remind_at = row.due_at - step.lead
    if step.kind == "agent":
        _start_agent(row, post, step, actor)
    row.save()
    due = format_time(row.due_at) if row.due_at is not None else None
    _record("post.step.opened", post, actor, step=step.name, due=due)
    # Somebody without an account must be invited, and who started the steps must know that nobody can take this one.
    if step.kind == "guest" or row.problem or find_obstacle(step, post):
        _record("post.step.stopped", post, actor, step=step.name)


def _close(row: StepRound) -> None:
    """Close the open step. None of its decisions counts afterwards."""
    row.step, row.problem, row.run_id, row.run_digest = "", "", None, ""
    row.opened_at = row.due_at = row.remind_at = row.completed_at = None
    row.sealed_changes = ""
    row.save()
    row.decisions.filter(counts=True).update(counts=False)


def _start_agent(row: StepRound, post: Post, step: Step, actor: Actor) -> None:
    """Start the agent, and store its run or why there is none. Does not save.

    With the rights of who opened the step, or of who started the steps.
    """
    row.run_id, row.problem, row.run_digest = None, "", content_digest(open_layers(post))
    if not actor.can("agents.dropdown"):
        if row.started_by is None:
            row.problem = _("The account that started the steps was deleted.")
            return
        actor = Actor(user=row.started_by, via="system")
    results = agent_asked(AgentRequest(post, step.name, step.agent, actor))
    started = results[0] if results else StartedRun(problem=_("Agents are not installed."))
    row.run_id, row.problem = started.run_id, started.problem


@transaction.atomic
def end_run(*, run_id: UUID | str, problem: str) -> bool:
    """End the step of an agent whose run has ended, or store why people must decide. Idempotent.

    `problem`: empty if the agent succeeded and proposed nothing that waits for people.
    """
    post = Post.objects.filter(step_round__run_id=run_id, deleted_at__isnull=True).first()
    if post is None:
        return False
    post = Post.objects.select_for_update(of=("self",), no_key=True).get(pk=post.pk)
    way = read_way(post)
    # Somebody may have decided in the meantime.
    if way.row is None or way.current is None or str(way.row.run_id) != str(run_id):
        return False
    if not problem and way.row.run_digest != content_digest(open_layers(post)):
        problem = _("The content was changed while the agent worked.")
    if problem:
        way.row.problem = problem
        way.row.save(update_fields=["problem"])
        _record("post.step.stopped", post, _SITE, step=way.current.name)
        return False
    decision = StepDecision(action=StepAction.AGREED, step=way.current.name, round=way.row)
    decision.agent_id = way.current.agent
    decision.save()
    _record("post.step.agreed", post, _SITE, step=way.current.name)
    _open_next(way, way.current, _SITE)
    return True


@transaction.atomic
def take_advice(
    *, post_id: UUID, guest: str, digest: str, paths: Sequence[str], invited_at: datetime
) -> bool:
    """End the open step of a guest who said yes to all of the changes that are now in Review. Idempotent.

    `digest` and `paths`: the changes that they saw; `invited_at`: when their link was made, which must be after the
    step was opened.
    """
    rows = Post.objects.select_for_update(of=("self",), no_key=True)
    post = rows.filter(pk=post_id, deleted_at__isnull=True).first()
    if post is None or not steps_of(post.type):
        return False
    way = read_way(post)
    step, row = way.current, way.row
    if step is None or row is None or step.kind != "guest":
        return False
    if step.guest.casefold() != guest.casefold():
        return False
    if row.opened_at is None or invited_at < row.opened_at:
        return False
    seen, review = read_digest(digest), open_layers(post).review
    if not review.exists:
        return False
    if not all(change.path in paths and was_seen(seen, change) for change in review.changes):
        return False
    row.decisions.create(action=StepAction.AGREED, step=step.name, stands_for=step.guest)
    _record("post.step.agreed", post, _SITE, step=step.name)
    _open_next(way, step, _SITE)
    return True


@transaction.atomic
def void_agreements(post_id: UUID) -> int:
    """Stop counting agreements to the open step that are about other content than that of now. Return their number.

    The people are asked again. Idempotent.
    """
    post = Post.objects.filter(pk=post_id, deleted_at__isnull=True).first()
    rows = StepDecision.objects.filter(round=post_id, counts=True)
    if post is None or not steps_of(post.type) or not rows.exists():
        return 0
    post = Post.objects.select_for_update(of=("self",), no_key=True).get(pk=post.pk)
    way = read_way(post)
    digest = content_digest(open_layers(post))
    number = rows.exclude(digest=digest).update(counts=False)
    if number and way.current is not None and way.row is not None:
        due = format_time(way.row.due_at) if way.row.due_at is not None else None
        _record("post.step.opened", post, _SITE, step=way.current.name, due=due)
    return number


@transaction.atomic
def remind_of_due() -> int:
    """Record an event for each open step of which people must be reminded. Return their number.

    Once before the due date and once on it. After an outage over both dates they are reminded once.
    """
    now = timezone.now()
    due = StepRound.objects.filter(remind_at__lte=now, post__deleted_at__isnull=True)
    rows = list(
        due.select_related("post")
        .select_for_update(of=("self",))
        .order_by("remind_at", "pk")[:MAX_REMINDED]
    )
    for row in rows:
        is_early = row.due_at is not None and row.due_at > now
        row.remind_at = row.due_at if is_early else None
    StepRound.objects.bulk_update(rows, ["remind_at"], batch_size=MAX_REMINDED)
    # A step that was taken out of the definition asks nobody.
    still_open = [row for row in rows if open_step(row, steps_of(row.post.type)) is not None]
    things = [
        (
            row.post_id,
            {
                **event_payload(row.post),
                "step": row.step,
                "due": format_time(row.due_at) if row.due_at is not None else None,
                "isEarly": row.remind_at is not None,
            },
        )
        for row in still_open
    ]
    outbox.record_all("post.step.due", things, actor=_SITE)
    return len(still_open)


@transaction.atomic
def set_absence(*, actor: Actor, deputy: str, begins_at: datetime, ends_at: datetime) -> Absence:
    """Name who decides for the actor in editorial steps during a time. Replaces an earlier absence."""
    actor.require_person("name a deputy")
    actor.require("posts.view")
    reject_unstorable(deputy, "deputy")
    name = deputy.strip().removeprefix("@")
    # Both accounts are locked, so that two people who name each other at the same moment see it.
    pair = User.objects.select_for_update(of=("self",), no_key=True).order_by("pk")
    users = {user.pk: user for user in pair.filter(Q(username=name) | Q(pk=actor.user.pk))}
    user = next((user for user in users.values() if user.username == name), None)
    if user is None or not user.can_log_in:
        raise invalid("deputy", _("No active person has this username."))
    if user.pk == actor.user.pk:
        raise invalid("deputy", _("Name another person."))
    if not user.has_perm("posts.view"):
        raise invalid("deputy", _("This person cannot view posts."))
    if ends_at <= max(begins_at, timezone.now()):
        raise invalid("ends_at", _("The end must be in the future, and after the beginning."))
    if overlapping(begins_at, ends_at).filter(user=user).exists():
        raise invalid("deputy", _("This person is away in this time too."))
    absence, _made = Absence.objects.update_or_create(
        user_id=actor.user.pk,
        defaults={"deputy": user, "begins_at": begins_at, "ends_at": ends_at},
    )
    return absence


@transaction.atomic
def end_absence(*, actor: Actor) -> None:
    """Remove the absence of the actor, if any."""
    actor.require_person("name a deputy")
    Absence.objects.filter(user_id=actor.user.pk).delete()


def _record_decision(
    row: StepRound,
    action: StepAction,
    step: str,
    actor: Actor,
    note: str,
    standing: Standing = _OWN,
    *,
    counts: bool = False,
) -> None:
    row.decisions.create(
        action=action,
        step=step,
        by_id=actor.user.pk,
        by_name=actor.user.username,
        deputy_for=standing.deputy_for,
        stands_for=standing.stands_for,
        note=note,
        counts=counts,
        digest=content_digest(open_layers(row.post)),
    )


def _record(name: str, post: Post, actor: Actor, **values: Json) -> None:
    payload = {**event_payload(post), **values}
    outbox.record(name, actor=actor, post_id=post.pk, payload=payload)
