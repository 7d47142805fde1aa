"""`/api/posts/:id/lock`: keep others from changing a post for a time."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar
from uuid import UUID

from drf_spectacular.utils import OpenApiExample, extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from content.models import Post
from content.posts.page_lock import lock_page, unlock_page
from content.store.page_locks import find_page_lock
from proofroom.core.api.answer import Answer, PersonAnswer
from proofroom.core.api.body import Body, Moment, read_body
from proofroom.core.api.permissions import Declared
from proofroom.core.api.views import ApiViewSet
from proofroom.core.json import JsonObject

LOCKED = OpenApiExample("Until the evening", {"until": "2030-01-31T18:00:00Z"}, request_only=True)


class PageLockStateAnswer(Answer):
    """The lock of a post; `by` and `until` are null if it has none."""

    post_id: UUID
    by: PersonAnswer | None
    until: datetime | None


class NewPageLock(Body):
    """How long only the caller may change the post."""

    until: Moment = Field(description="A time in the next 30 days, with a zone.")


class PageLockViewSet(ApiViewSet):
    """The lock of one post."""

    permissions: ClassVar[dict[str, Declared]] = {
        "create": ("posts.edit", "posts.translate"),
        "destroy": ("posts.edit", "posts.translate"),
    }

    @extend_schema(request=NewPageLock, responses={200: PageLockStateAnswer}, examples=[LOCKED])
    def create(self, request: Request, post_id: str) -> Response:
        """Lock a post, or change the end of your lock. 409 `locked_by` if another person has locked it."""
        body = read_body(request, NewPageLock)
        return Response(_state(lock_page(post_id=post_id, until=body.until, actor=self.actor)))

    @extend_schema(request=None, responses={200: PageLockStateAnswer})
    def destroy(self, request: Request, post_id: str) -> Response:
        """End the lock of a post. `posts.unlock` also ends the lock of another person."""
        return Response(_state(unlock_page(post_id=post_id, actor=self.actor)))


def _state(post: Post) -> JsonObject:
    lock = find_page_lock(post)
    held = lock.to_json() if lock is not None else {"by": None, "until": None}
    return {"postId": str(post.pk), **held}
