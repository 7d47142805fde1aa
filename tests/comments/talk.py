"""Comments written through the API, for tests."""

from __future__ import annotations

from typing import Any

from content.models import Post
from media.models import Asset
from tests.api_client import ApiClient


def on(subject: Post | Asset) -> str:
    """Return the address of the comments on a post or file."""
    kind = "posts" if isinstance(subject, Post) else "media"
    return f"/api/{kind}/{subject.pk}/comments"


def say(
    subject: Post | Asset, body: str = "Shorter, please", *, by: str = "editor", **values: Any
) -> dict[str, Any]:
    """Write a comment, and return the answer."""
    sent = {"body": body, **values}
    answer: dict[str, Any] = ApiClient(by).write("POST", on(subject), sent, expect=201)
    return answer


def refuse(
    subject: Post | Asset, *, by: str = "editor", expect: int = 422, **values: Any
) -> dict[str, Any]:
    """Send a comment that is refused, and return the error."""
    sent = {"body": "Shorter, please", **values}
    answer: dict[str, Any] = ApiClient(by).write("POST", on(subject), sent, expect=expect)
    return answer


def threads(subject: Post | Asset, query: str = "", *, by: str = "editor") -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = ApiClient(by).read(f"{on(subject)}{query}")["data"]
    return listed
