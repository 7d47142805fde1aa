"""Notes on posts."""

from __future__ import annotations

from proofroom_apps.feedback.models import Feedback
from proofroom_apps.feedback.services import create_feedback
from tests import make
from tests.contract.endpoint import EDITORS, PEOPLE, Endpoint, Names


def scene() -> Names:
    post = make.post()
    row = create_feedback(post_id=str(post.pk), content="A typo", actor=make.actor("editor"))
    return {"post_id": str(post.pk), "feedback_id": str(row.pk)}


def grow(number: int) -> None:
    make.copies(Feedback.objects.earliest("created_at"), number)


ENDPOINTS = [
    Endpoint("GET /api/feedbacks", PEOPLE, invalid=("?postId=x", "postId"), grow=grow),
    Endpoint(
        "POST /api/feedbacks",
        PEOPLE,
        201,
        body={"postId": "<post_id>", "content": "Walked", "x": 10, "y": 20.5},
        invalid=({"postId": "<post_id>", "content": " "}, "content"),
    ),
    Endpoint(
        "PATCH /api/feedbacks/<feedback_id>",
        PEOPLE,
        body={"status": "resolved"},
        invalid=({"status": "done"}, "status"),
    ),
    # The note is the editor's: a translator deletes their own only.
    Endpoint("DELETE /api/feedbacks/<feedback_id>", EDITORS),
]
