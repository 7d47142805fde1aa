"""Staged changes, decisions, and history."""

from __future__ import annotations

from content.models import Layer, Provenance, Revision
from tests import make
from tests.api_client import ApiClient
from tests.contract.endpoint import EDITORS, PEOPLE, Endpoint, Names
from tests.contract.endpoints.posts import TRANSLATOR


def scene() -> Names:
    post = make.post()
    ApiClient("editor").write("PUT", f"/api/posts/{post.pk}", {"title": "Second"})
    digests = {}
    for when in ("then", "now"):
        make.staged(post, {"excerpt": f"From an agent {when}"})
        make.staged(post, {"metaTitle": f"From an editor {when}"}, layer=Layer.REVIEW)
        for layer in ("review", "ai-review"):
            url = f"/api/posts/{post.pk}/changes?layer={layer}"
            digests[f"{layer} {when}"] = ApiClient("editor").read(url)["digest"]
    newest, oldest = post.revisions.order_by("-version")[:2]
    return {
        "post_id": str(post.pk),
        "revision_id": str(oldest.pk),
        "other_revision_id": str(newest.pk),
        "digest": digests["review now"],
        "old_digest": digests["review then"],
        "old_ai_digest": digests["ai-review then"],
    }


def grow_revisions(number: int) -> None:
    newest = Revision.objects.order_by("-version")[:1].get()
    make.copies(newest, number, version=lambda place: newest.version + 1 + place)


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
