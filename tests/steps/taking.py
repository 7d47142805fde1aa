"""Helpers for tests of editorial steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from content.models import Layer, Post
from proofroom.definitions import Step, find_post_type
from tests import make
from tests.api_client import ApiClient

LEGAL = Step("Legal", role="translator")
HEAD = Step("Head", person="editor")


def set_steps(monkeypatch: pytest.MonkeyPatch, *steps: Step, type_: str = "blog") -> Sequence[Step]:
    monkeypatch.setattr(find_post_type(type_), "steps", steps)
    return steps


def read(post: Post, *, role: str = "editor") -> dict[str, Any]:
    answer: dict[str, Any] = ApiClient(role).read(f"/api/posts/{post.pk}/steps")
    return answer


def states(post: Post) -> list[str]:
    return [step["state"] for step in read(post)["steps"]]


def move(
    post: Post, action: str = "advance", *, role: str = "editor", expect: int = 200, **values: Any
) -> dict[str, Any]:
    """Advance or return by the session of a role, and return the answer."""
    body = {"action": action, **values}
    client = ApiClient(role)
    answer: dict[str, Any] = client.write(
        "POST", f"/api/posts/{post.pk}/steps", body, expect=expect
    )
    return answer


def passed(post: Post) -> None:
    """Take both steps, `LEGAL` and `HEAD`."""
    move(post)
    move(post, role="translator")
    move(post)


def staged(post: Post, **fields: Any) -> None:
    make.staged(post, fields, layer=Layer.REVIEW)


def approve(post: Post, *, expect: int = 200) -> dict[str, Any]:
    client = ApiClient("editor")
    digest = client.read(f"/api/posts/{post.pk}/changes?layer=review")["digest"]
    answer: dict[str, Any] = client.write(
        "POST", f"/api/posts/{post.pk}/review/approve", {"digest": digest}, expect=expect
    )
    return answer


def publish(post: Post, *, expect: int = 200) -> dict[str, Any]:
    answer: dict[str, Any] = ApiClient("editor").write(
        "PUT", f"/api/posts/{post.pk}", {"status": "published"}, expect=expect
    )
    return answer
