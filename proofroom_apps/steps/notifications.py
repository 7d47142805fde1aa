"""Notifications about editorial steps: that one asks you, is due, sent content back, or was the last."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.models import Post
from content.store.scopes import can_view
from proofroom.accounts.models import User
from proofroom.core.models import Event
from proofroom.definitions import Step, steps_of
from proofroom.notifications.models import Notification
from proofroom.notifications.notification_types import (
    Category,
    Notice,
    NotificationKind,
    NotificationText,
)
from proofroom_apps.steps.models import StepDecision, StepRound
from proofroom_apps.steps.queries import people_asked


def _find_asked(event: Event) -> list[Notice]:
    """Return a notice for the people whom the step of the event asks, without people who have agreed."""
    post, step = _subject(event)
    if post is None or step is None:
        return []
    counted = StepDecision.objects.filter(round=post.pk, step=step.name, counts=True)
    agreed = set(counted.values_list("by", flat=True))
    people = [user.pk for user in people_asked(step, post)]
    return _notice(event, [id_ for id_ in people if id_ not in agreed])


def _find_late(event: Event) -> list[Notice]:
    """Return a notice for the people whom a step asks, or for who started the steps if it reaches nobody."""
    return _find_asked(event) or _find_starter(event)


def _find_starter(event: Event) -> list[Notice]:
    """Return a notice for who started the steps."""
    if event.post_id is None:
        return []
    row = StepRound.objects.filter(pk=event.post_id).select_related("started_by", "post").first()
    if row is None or row.started_by is None:
        return []
    user: User = row.started_by
    # Since then the account may have been turned off, or its role limited to other content.
    is_reader = user.is_active and user.has_perm("posts.view") and can_view(user, row.post)
    return _notice(event, [user.pk] if is_reader else [])


def _subject(event: Event) -> tuple[Post | None, Step | None]:
    if event.post_id is None:
        return None, None
    post = Post.objects.filter(pk=event.post_id, deleted_at__isnull=True).first()
    if post is None:
        return None, None
    name = event.payload.get("step")
    return post, next((step for step in steps_of(post.type) if step.name == name), None)


def _notice(event: Event, people: Collection[int]) -> list[Notice]:
    # Who opened the step of a guest must still invite them.
    is_own = event.name == "post.step.stopped"
    others = [id_ for id_ in people if is_own or id_ != event.actor_id]
    # The step is part of the subject, because the next event may be about another one.
    subject = f"{event.post_id} {event.payload.get('step', '')}"
    return [Notice(others, subject, subject)] if others else []


def _describe(rows: Sequence[Notification], kind: str) -> Mapping[int, NotificationText]:
    ids = {row.subjects[0].partition(" ")[0] for row in rows}
    posts = {str(post.pk): post for post in Post.objects.filter(pk__in=ids)}
    rounds = StepRound.objects.filter(post__in=posts.values() if kind == "due" else ())
    dates = {(id_, step): due for id_, step, due in rounds.values_list("post", "step", "due_at")}
    texts = {}
    for row in rows:
        id_, _space, step = row.subjects[0].partition(" ")
        post = posts.get(id_)
        if post is None or post.deleted_at is not None:
            texts[row.pk] = NotificationText(_("A post in a step was deleted"), "", "check")
            continue
        sentence = {
            "asked": _("“%(title)s” is at the step “%(step)s” and asks you"),
            "stopped": _("The step “%(step)s” of “%(title)s” needs your decision"),
            "due": _("The step “%(step)s” of “%(title)s” is due"),
            "returned": _("“%(title)s” was sent back to the step “%(step)s”"),
            "done": _("All steps of “%(title)s” are done"),
        }[kind]
        if kind == "returned" and not step:
            sentence = _("“%(title)s” was sent back to its authors")
        names = {"title": post.title, "step": step}
        due = dates.get((post.pk, step))
        if due is not None and due > timezone.now():
            sentence = _("The step “%(step)s” of “%(title)s” is due on %(date)s")
            names["date"] = date_format(timezone.localtime(due), "DATETIME_FORMAT")
        text = sentence % names
        url = reverse("admin:content_post_steps", args=[post.pk])
        texts[row.pk] = NotificationText(text, url, "check")
    return texts


KINDS: Final = (
    NotificationKind(
        "step.asked",
        gettext_lazy("Editorial steps that ask you"),
        "posts.view",
        ("post.step.opened",),
        _find_asked,
        lambda rows: _describe(rows, "asked"),
        can_be_mailed=True,
        category=Category.ASSIGNMENT,
    ),
    NotificationKind(
        "step.due",
        gettext_lazy("Editorial steps that ask you and are due"),
        "posts.view",
        ("post.step.due",),
        _find_late,
        lambda rows: _describe(rows, "due"),
        can_be_mailed=True,
        category=Category.DUE,
    ),
    NotificationKind(
        "step.stopped",
        gettext_lazy("Steps of agents and guests in which you must do something"),
        "posts.view",
        ("post.step.stopped",),
        _find_starter,
        lambda rows: _describe(rows, "stopped"),
        can_be_mailed=True,
        category=Category.ASSIGNMENT,
    ),
    NotificationKind(
        "step.returned",
        gettext_lazy("Content that you sent through its steps and that was sent back"),
        "posts.view",
        ("post.step.returned",),
        _find_starter,
        lambda rows: _describe(rows, "returned"),
        can_be_mailed=True,
        category=Category.DECIDED,
    ),
    NotificationKind(
        "step.done",
        gettext_lazy("Content that you sent through its steps, when all are done"),
        "posts.view",
        ("post.steps.done",),
        _find_starter,
        lambda rows: _describe(rows, "done"),
        can_be_mailed=True,
        category=Category.DECIDED,
    ),
)
