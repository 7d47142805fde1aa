"""Staged changes, decisions, and history."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

from django.utils import timezone

from content.layers.schedule import schedule_approval
from content.models import Layer, Provenance, Revision, ScheduledApproval
from proofroom_apps.reviewers.links import create_reviewer_link
from proofroom_apps.reviewers.models import ReviewerLink
from tests import make
from tests.api_client import ApiClient
from tests.contract.endpoint import EDITORS, PEOPLE, Endpoint, Names
from tests.contract.endpoints.posts import TRANSLATOR


def scene() -> Names:
    post = make.post()
    ApiClient("editor").write("PUT", f"/api/posts/{post.pk}", {"title": "Second"})
    make.staged(post, {"metaDescription": "Later"}, layer=Layer.REVIEW)
    digests = {}
    for when in ("then", "now"):
        make.staged(post, {"excerpt": f"From an agent {when}"})
        make.staged(post, {"metaTitle": f"From an editor {when}"}, layer=Layer.REVIEW)
        for layer in ("review", "ai-review"):
            url = f"/api/posts/{post.pk}/changes?layer={layer}"
            digests[f"{layer} {when}"] = ApiClient("editor").read(url)["digest"]
    link, _token = create_reviewer_link(
        post_id=post.pk, actor=make.actor("editor"), name="Ada", digest=digests["review now"]
    )
    scheduled = schedule_approval(
        post_id=post.pk,
        actor=make.actor("editor"),
        digest=digests["review now"],
        paths=["post.metaDescription"],
        at=timezone.now() + timedelta(days=1),
    )
    newest, oldest = post.revisions.order_by("-version")[:2]
    return {
        "post_id": str(post.pk),
        "revision_id": str(oldest.pk),
        "other_revision_id": str(newest.pk),
        "digest": digests["review now"],
        "old_digest": digests["review then"],
        "old_ai_digest": digests["ai-review then"],
        "reviewer_link_id": str(link.pk),
        "schedule_id": str(scheduled.pk),
    }


def grow_revisions(number: int) -> None:
    newest = Revision.objects.order_by("-version")[:1].get()
    make.copies(newest, number, version=lambda place: newest.version + 1 + place)


def grow_reviewer_links(number: int) -> None:
    make.copies(ReviewerLink.objects.all()[:1].get(), number, token_hash=lambda _: uuid4().hex)


def grow_schedules(number: int) -> None:
    make.copies(ScheduledApproval.objects.all()[:1].get(), number)


def grow_provenance(number: int) -> None:
    make.copies(Provenance.objects.order_by("-id")[:1].get(), number)


ENDPOINTS = [
    Endpoint("GET /api/posts/<post_id>/changes", PEOPLE, invalid=("?layer=live", "layer")),
    Endpoint("GET /api/posts/<post_id>/checks", PEOPLE, invalid=("?layer=live", "layer")),
    Endpoint(
        "PUT /api/posts/<post_id>/review",
        PEOPLE,
        body={"title": "Walked"},
        invalid=({"nonsense": 1}, "nonsense"),
        stale={"title": "Walked", "version": 99},
        refused=TRANSLATOR,
    ),
    Endpoint(
        "POST /api/posts/<post_id>/review/approve",
        EDITORS,
        body={"digest": "<digest>"},
        invalid=({}, "digest"),
        stale={"digest": "<old_digest>"},
    ),
    Endpoint(
        "GET /api/posts/<post_id>/review/schedule",
        PEOPLE,
        invalid=("?page=x", "page"),
        grow=grow_schedules,
    ),
    Endpoint(
        "POST /api/posts/<post_id>/review/schedule",
        EDITORS,
        201,
        body={"digest": "<digest>", "paths": ["post.metaTitle"], "at": "2099-01-01T08:00:00Z"},
        invalid=({"digest": "<digest>", "at": "2001-01-01T08:00:00Z"}, "at"),
        stale={"digest": "<old_digest>", "at": "2099-01-01T08:00:00Z"},
    ),
    Endpoint("GET /api/posts/<post_id>/review/schedule/<schedule_id>", PEOPLE),
    Endpoint("DELETE /api/posts/<post_id>/review/schedule/<schedule_id>", EDITORS),
    Endpoint(
        "POST /api/posts/<post_id>/review/reject",
        EDITORS,
        body={"note": "No."},
        invalid=({"note": 1}, "note"),
        stale={"digest": "<old_digest>"},
    ),
    Endpoint(
        "POST /api/posts/<post_id>/ai-review/submit",
        EDITORS,
        body={},
        invalid=({"paths": "post.title"}, "paths"),
    ),
    Endpoint(
        "POST /api/posts/<post_id>/ai-review/reject",
        EDITORS,
        body={},
        invalid=({"paths": ["post.nonsense"]}, "paths"),
        stale={"digest": "<old_ai_digest>"},
    ),
    Endpoint(
        "GET /api/posts/<post_id>/reviewer-links",
        EDITORS,
        invalid=("?page=x", "page"),
        grow=grow_reviewer_links,
    ),
    Endpoint(
        "POST /api/posts/<post_id>/reviewer-links",
        EDITORS,
        201,
        body={"name": "Ada", "digest": "<digest>", "expiresInHours": 24},
        invalid=({"name": "Ada", "digest": "<digest>", "expiresInHours": 721}, "expiresInHours"),
        stale={"name": "Ada", "digest": "<old_digest>"},
    ),
    Endpoint("DELETE /api/posts/<post_id>/reviewer-links/<reviewer_link_id>", EDITORS),
    Endpoint(
        "GET /api/posts/<post_id>/revisions",
        PEOPLE,
        invalid=("?page=0", "page"),
        grow=grow_revisions,
    ),
    Endpoint(
        "GET /api/posts/<post_id>/revisions/compare",
        PEOPLE,
        query="?from=<revision_id>&to=<other_revision_id>",
        invalid=("", "from"),
    ),
    Endpoint("GET /api/posts/<post_id>/revisions/<revision_id>", PEOPLE),
    Endpoint(
        "POST /api/posts/<post_id>/revisions/<revision_id>/revert",
        EDITORS,
        body={},
        invalid=({"note": 1}, "note"),
    ),
    Endpoint(
        "GET /api/posts/<post_id>/provenance",
        PEOPLE,
        invalid=("?per_page=101", "per_page"),
        grow=grow_provenance,
    ),
]
