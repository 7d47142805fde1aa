"""Helpers for tests of the checks of posts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from content.models import Post
from content.post_checks.results import CheckResult, check_post
from content.store import post_repository
from proofroom.definitions import find_post_type
from proofroom.definitions.post_type import CheckLevel
from tests.api_client import ApiClient


def results(post: Post, check: str) -> list[CheckResult]:
    """Return the results of one check for the live content."""
    post = Post.objects.get(pk=post.pk)
    document = post_repository.load(post)
    return [one for one in check_post(post, document) if one.check.name == check]


def failures(post: Post, check: str) -> list[str]:
    """Return the messages of the failures of one check."""
    return [one.message for one in results(post, check) if one.level != "ok"]


def level(post: Post, check: str) -> str:
    """Return `ok`, `warn` or `block`; empty without a result."""
    return next((one.level for one in results(post, check)), "")


def set_levels(
    monkeypatch: pytest.MonkeyPatch, levels: Mapping[str, CheckLevel], type_: str = "blog"
) -> None:
    monkeypatch.setattr(find_post_type(type_), "checks", levels)


def read_checks(post: Post, *, role: str = "editor", query: str = "") -> list[dict[str, Any]]:
    answer = ApiClient(role).read(f"/api/posts/{post.pk}/checks{query}")
    found: list[dict[str, Any]] = answer["data"]
    return found
