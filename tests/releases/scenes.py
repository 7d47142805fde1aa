"""Releases made through the API, for tests."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from content.models import Layer, Post
from content.posts.schedule import run_due_dates
from proofroom.shared_content.models import SharedProposal
from proofroom.shared_content.proposals import propose_change
from proofroom.shared_content.shared_types import SharedKind, SharedRow
from proofroom_apps.menus.models import Menu
from proofroom_apps.menus.services import create_menu, edited_menu
from proofroom_apps.menus.shared_kind import MenuKind
from proofroom_apps.releases.models import Release
from tests import make
from tests.api_client import ApiClient

FUTURE = "2099-01-01T08:00:00.000Z"


def create(name: str = "Spring launch", *, by: str = "editor", **values: Any) -> str:
    """Create a release and return its address."""
    made = ApiClient(by).write("POST", "/api/releases", {"name": name, **values}, expect=201)
    return f"/api/releases/{made['id']}"


def read(release: str) -> dict[str, Any]:
    answer: dict[str, Any] = ApiClient("editor").read(release)
    return answer


def items(release: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = ApiClient("editor").read(f"{release}/items")["data"]
    return rows


def add(release: str, kind: str, id_: object, *, by: str = "editor", **values: Any) -> Any:
    body = {"kind": kind, "id": str(id_), **values}
    return ApiClient(by).write("POST", f"{release}/items", body, expect=201)


def add_changes(release: str, post: Post, *paths: str, by: str = "editor") -> Any:
    more = {"paths": [*paths]} if paths else {}
    return add(release, "changes", post.pk, by=by, digest=digest_of(post), **more)


def publish(release: str, *, by: str = "editor") -> Any:
    return ApiClient(by).write("POST", f"{release}/publish")


def undo(release: str, *, by: str = "editor") -> Any:
    return ApiClient(by).write("POST", f"{release}/undo")


def digest_of(post: Post) -> str:
    answer = ApiClient("editor").read(f"/api/posts/{post.pk}/changes?layer=review")
    digest: str = answer["digest"]
    return digest


def changed_post(title: str = "New title", slug: str = "coffee", **more: Any) -> Post:
    """Create a published post with changes in Review."""
    post = make.post(slug=slug)
    make.staged(post, {"title": title, **more}, layer=Layer.REVIEW)
    return post


def menu(slug: str = "main") -> Menu:
    return create_menu(actor=make.actor("admin"), name="Main", slug=slug, locale="en")


def proposed(of: Menu, name: str = "Main, new", *, by: str = "editor") -> SharedProposal:
    """Send a change of the menu that waits."""
    return propose_change(
        kind=MenuKind(),
        row_id=of.pk,
        document=edited_menu(of, name=name),
        actor=make.actor(by),
        expected_version=of.version,
        expected_proposal=None,
    )


def offered(kind: SharedKind, row: SharedRow, **values: str) -> SharedProposal:
    """Send a change of a term or global module that waits."""
    return propose_change(
        kind=kind,
        row_id=row.pk,
        document={**kind.document_of(row), **values},
        actor=make.actor("editor"),
        expected_version=row.version,
        expected_proposal=None,
    )


def pass_time(release: str, minutes: int = 1) -> None:
    at = timezone.now() - timedelta(minutes=minutes)
    Release.objects.filter(pk=UUID(release.rpartition("/")[2])).update(at=at)


def tick() -> int:
    return run_due_dates(make.actor("admin", via="system"))
