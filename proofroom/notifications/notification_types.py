"""Kinds of notifications, which the apps register that know what happened."""

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
    """Whom an event concerns, and what it is about. Notices of one `group` become one line."""

    user_ids: Collection[int]
    group: str
    subject: str


@dataclass(frozen=True, slots=True)
class NotificationText:
    """A notification as a person reads it. `icon` is a symbol of `static/cms/design/icons.svg`."""

    text: str
    url: str
    icon: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class NotificationKind:
    """`name` is stored, `label` said where people choose kinds. Only who has `permission` sees it, asked whenever it
    is shown. Texts of a kind that `can_be_mailed` hold nothing that must not leave the site.

    `find_notices` may be asked twice of an event. `describe` returns the text of each row by its id; of what is gone
    it says that.
    """

    name: str
    label: StrOrPromise
    permission: str
    events: tuple[str, ...]
    find_notices: Callable[[Event], Sequence[Notice]]
    describe: Callable[[Sequence[Notification]], Mapping[int, NotificationText]]
    can_be_mailed: bool = False


notification_kinds: ExtensionPoint[NotificationKind] = ExtensionPoint()
