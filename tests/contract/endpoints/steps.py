"""Editorial steps of posts. No shipped type has steps, so none can be taken here."""

from __future__ import annotations

from tests import make
from tests.contract.endpoint import PEOPLE, Endpoint, Names


def scene() -> Names:
    return {"post_id": str(make.post().pk)}


ENDPOINTS = [
    Endpoint("GET /api/posts/<post_id>/steps", PEOPLE),
    Endpoint(
        "POST /api/posts/<post_id>/steps",
        PEOPLE,
        None,
        body={"action": "advance"},
        invalid=({"action": "jump"}, "action"),
    ),
]
