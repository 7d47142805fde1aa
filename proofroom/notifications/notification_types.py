"""Kinds of notifications, registered by the apps whose events they report."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from django.db import models
from django.utils.translation import gettext_lazy

from proofroom.core.actor import Actor
from proofroom.core.hooks import ExtensionPoint, Hook
from proofroom.core.models import Event
from proofroom.notifications.models import Channel, Notification

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


class Category(models.TextChoices):
    """What a kind is about: its `kind` in the API, and its heading in the notification settings."""

    MENTION = "mention", gettext_lazy("Mentions")
    ASSIGNMENT = "assignment", gettext_lazy("Assignments")
    DUE = "due", gettext_lazy("Dates")
    DECIDED = "decided", gettext_lazy("Decisions")
    FAILED_RUN = "failed_run", gettext_lazy("Failed runs")
    SUBMISSION = "submission", gettext_lazy("Submissions")


MAILED_AT_ONCE: Final = (Category.MENTION, Category.ASSIGNMENT)
"""Categories that are mailed at once unless the user chose otherwise. Others are in the daily email."""


@dataclass(frozen=True, slots=True)
class Notice:
    """The users an event concerns, and its subject. Notices with the same `group` share one notification."""

    user_ids: Collection[int]
    group: str
    subject: str


@dataclass(frozen=True, slots=True)
class NotificationText:
    """The text of a notification. `icon`: id of a symbol in `static/cms/design/icons.svg`."""

    text: str
    url: str
    icon: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class NotificationKind:
    """A kind of notifications.

    `name` is stored; `label` is shown in the notification settings. Only users with `permission` see it; this is
    checked whenever it is shown or mailed. If `can_be_mailed`, texts contain nothing that must not leave the site; a
    text's `detail` is never mailed. Kinds without a category are not in the API.

    `find_notices` may be called twice for an event. `describe` returns the texts by row id, also for deleted
    subjects. Posts outside of a user's content are left out for every kind; a kind about anything else that only some
    users may see has `find_visible`, which returns the ids of the rows whose subjects the actor may see.
    """

    name: str
    label: StrOrPromise
    permission: str
    events: tuple[str, ...]
    find_notices: Callable[[Event], Sequence[Notice]]
    describe: Callable[[Sequence[Notification]], Mapping[int, NotificationText]]
    can_be_mailed: bool = False
    category: Category | None = None
    find_visible: Callable[[Actor, Sequence[Notification]], Collection[int]] | None = None

    @property
    def default_channel(self) -> Channel:
        """The channel of users who chose none."""
        if not self.can_be_mailed:
            return Channel.ADMIN
        return Channel.MAIL if self.category in MAILED_AT_ONCE else Channel.DIGEST

    @property
    def can_wake_mail(self) -> bool:
        """Whether an event is mailed without waiting for the next sweep.

        False for submissions: visitors cause them, and could cause a mail for each.
        """
        return self.can_be_mailed and self.category is not Category.SUBMISSION


mentions_added: Hook[[Sequence[Event]], None] = Hook()
"""Functions called with events that mention somebody, after their notifications were added. May be called twice."""

notification_kinds: ExtensionPoint[NotificationKind] = ExtensionPoint()
