"""`/api/notifications`: the caller's own notifications."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, ClassVar, Final
from uuid import UUID

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from proofroom.core.api.answer import Answer, list_of, one_of
from proofroom.core.api.body import Body, read_body
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import SIGNED_IN, Declared
from proofroom.core.api.schema import PAGES
from proofroom.core.api.views import ApiViewSet
from proofroom.notifications.notification_types import Category
from proofroom.notifications.queries import describe, listed_notifications, posts_of
from proofroom.notifications.services import mark_listed_read, mark_some_read

MAX_IDS: Final = 1000
_MAX_ID: Final = 2**63 - 1


class NotificationAnswer(Answer):
    """A notification of the caller."""

    id: int
    kind: Annotated[str, one_of(Category.values)]
    title: str
    url: str = Field(description="The page to open. Empty if the subject was deleted.")
    post_id: UUID | None
    read_at: datetime | None
    created_at: datetime


class ReadAnswer(Answer):
    """How many notifications were unread before."""

    read: int


class ReadNotifications(Body):
    """Without `ids`, all notifications are marked as read."""

    ids: Annotated[
        list[Annotated[int, Field(ge=1, le=_MAX_ID)]] | None, Field(max_length=MAX_IDS)
    ] = None


class NotificationViewSet(ApiViewSet):
    """Notifications: list, mark as read."""

    permissions: ClassVar[dict[str, Declared]] = {"list": SIGNED_IN, "read": SIGNED_IN}

    @extend_schema(
        parameters=PAGES,
        responses=list_of(NotificationAnswer, "Your notifications, latest first."),
    )
    def list(self, request: Request) -> Response:
        """List your notifications, latest first."""
        page = page_of(request)
        notifications = listed_notifications(self.actor)
        rows = [*notifications[page.slice]]
        by_id, posts = {row.pk: row for row in rows}, posts_of(rows)
        data = []
        for line in describe(rows, self.actor):
            row = by_id[line.pk]
            data.append(
                NotificationAnswer(
                    id=row.pk,
                    kind=line.category or "",
                    title=line.text.text,
                    url=line.text.url,
                    post_id=posts.get(row.event_id),
                    read_at=row.read_at,
                    created_at=row.created_at,
                )
            )
        return Response(page.envelope(data, notifications.count()))

    @extend_schema(request=ReadNotifications, responses=ReadAnswer)
    def read(self, request: Request) -> Response:
        """Mark notifications as read: those with these ids, or all."""
        ids = read_body(request, ReadNotifications).ids
        if ids is None:
            number = mark_listed_read(actor=self.actor)
        else:
            number = mark_some_read(notification_ids=ids, actor=self.actor)
        return Response(ReadAnswer(read=number))
