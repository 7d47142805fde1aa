"""Feedback as the wire has it."""

from __future__ import annotations

from accounts.models import User
from content.models import Feedback
from content.presenters.modules import Wire


def feedback(row: Feedback) -> Wire:
    return {
        "id": row.pk,
        "postId": row.post_id,
        "category": row.category,
        "content": row.content,
        "x": row.x,
        "y": row.y,
        "elementSelector": row.element_selector,
        "status": row.status,
        "author": _person(row.author),
        "createdAt": row.created_at,
        "resolvedBy": _person(row.resolved_by),
        "resolvedAt": row.resolved_at,
    }


def _person(user: User | None) -> Wire | None:
    return {"id": user.pk, "username": user.username} if user is not None else None
