"""A request that must be refused and leave nothing behind."""

from __future__ import annotations

from typing import Any

from content.models import Draft, Post, Revision
from proofroom.core.models import Event
from tests import make
from tests.api_client import ApiClient


def stored() -> tuple[object, ...]:
    """Return everything that a write could have left behind."""
    drafts = Draft.objects.order_by("pk").values_list("post_id", "layer", "version", "is_empty")
    return (
        make.live_hash(),
        Post.objects.count(),
        list(drafts),
        Revision.objects.count(),
        Event.objects.exclude(name="token.used").count(),  # that it was asked with a token
    )


def refused(
    method: str, path: str, body: Any, status: int, code: str, *keys: str, role: str = "editor"
) -> dict[str, Any]:
    """Send it as an editor; the error has this code, details have only these keys, and nothing changed."""
    client = ApiClient(role)
    before = stored()

    answer: dict[str, Any] = client.write(method, path, body, expect=status)

    assert set(answer) - {"version"} == {"error", "code", "details"}
    assert isinstance(answer["error"], str)
    assert answer["code"] == code, answer
    assert set(answer["details"]) == set(keys), answer
    assert all(isinstance(text, str) for texts in answer["details"].values() for text in texts)
    assert stored() == before
    return answer


def error(response: Any, status: int, code: str) -> dict[str, Any]:
    """Return the body of an error in the common format."""
    assert response.status_code == status, response.content[:300]
    assert response["Content-Type"] == "application/json"
    answer: dict[str, Any] = response.json()
    assert set(answer) - {"version"} == {"error", "code", "details"}
    assert answer["code"] == code
    assert answer["error"]
    assert isinstance(answer["details"], dict)
    return answer
