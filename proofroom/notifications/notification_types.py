"""Kinds of notifications, registered by the apps whose events they report."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from proofroom.core.hooks import ExtensionPoint
from proofroom.core.models import Event
from proofroom.notifications.models import Notification

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


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
    checked whenever it is shown. If `can_be_mailed`, texts contain nothing that must not leave the site.

    `find_notices` may be called twice for an event. `describe` returns the texts by row id, also for deleted
    subjects.
    """

    name: str
    label: StrOrPromise
    permission: str
    events: tuple[str, ...]
    find_notices: Callable[[Event], Sequence[Notice]]
    describe: Callable[[Sequence[Notification]], Mapping[int, NotificationText]]
    can_be_mailed: bool = False


notification_kinds: ExtensionPoint[NotificationKind] = ExtensionPoint()
