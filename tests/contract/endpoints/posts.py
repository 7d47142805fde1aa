"""Posts and their modules."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

from django.utils import timezone

from content.models import Draft, Layer, Post, PostModule
from content.posts.trash import delete_post
from tests import make
from tests.contract.endpoint import EDITORS, PEOPLE, Endpoint, Names

TRANSLATOR = frozenset({"translator"})
"""A translator passes the permission check, and is refused by the service for a live original."""


def scene() -> Names:
    post = make.post()
    make.staged(post, {"excerpt": "From an agent"})
    make.staged(post, {"metaTitle": "From an editor"}, layer=Layer.REVIEW)
    gone = make.post("In the trash", slug="gone")
    delete_post(post_id=gone.pk, actor=make.actor("admin"))
    modules = list(make.layers(post).live.order)
    return {
        "post_id": str(post.pk),
        "deleted_id": str(gone.pk),
        "module_id": make.module_id(post, "hero"),
        "free_module_id": make.module_id(post, "faq"),
        "order": modules,
        "soon": (timezone.now() + timedelta(hours=1)).isoformat(),
    }


def grow(number: int) -> None:
    first = Post.objects.filter(deleted_at__isnull=True).earliest("created_at")
    posts = make.copies(
        first, number, slug=lambda _: uuid4().hex, translation_group=lambda _: uuid4()
    )
    for place in PostModule.objects.filter(post=first):
        make.copies(place, number, post_id=lambda number: posts[number].pk)
    for draft in Draft.objects.filter(post=first):
        make.copies(draft, number, post_id=lambda number: posts[number].pk)


ENDPOINTS = [
    Endpoint("GET /api/posts", PEOPLE, invalid=("?per_page=0", "per_page"), grow=grow),
    Endpoint(
        "POST /api/posts",
        EDITORS,
        201,
        body={"type": "blog", "title": "Walked"},
        invalid=({"type": "blog", "title": "x" * 400}, "title"),
    ),
    Endpoint("GET /api/posts/<post_id>", PEOPLE),
    Endpoint(
        "PUT /api/posts/<post_id>",
        PEOPLE,
        body={"title": "Walked"},
        invalid=({"slug": "Not A Slug"}, "slug"),
        stale={"title": "Walked", "version": 99},
        refused=TRANSLATOR,
    ),
    Endpoint("DELETE /api/posts/<post_id>", EDITORS),
    Endpoint("POST /api/posts/<deleted_id>/restore", EDITORS),
    Endpoint("GET /api/posts/<post_id>/export", PEOPLE),
    Endpoint(
        "POST /api/posts/<post_id>/lock",
        PEOPLE,
        body={"until": "<soon>"},
        invalid=({"until": "2000-01-01T00:00:00Z"}, "until"),
    ),
    Endpoint("DELETE /api/posts/<post_id>/lock", PEOPLE),
    Endpoint("GET /api/posts/<post_id>/modules", PEOPLE),
    Endpoint(
        "POST /api/posts/<post_id>/modules",
        EDITORS,
        201,
        body={"type": "callout"},
        invalid=({"type": "no-such-module"}, "type"),
        stale={"type": "callout", "version": 99},
    ),
    Endpoint(
        "POST /api/posts/<post_id>/modules/reorder",
        EDITORS,
        body={"order": "<order>"},
        invalid=({"order": []}, "order"),
        stale={"order": "<order>", "version": 99},
    ),
    Endpoint(
        "PUT /api/post-modules/<module_id>",
        PEOPLE,
        body={"props": {"title": "Walked"}},
        invalid=({"props": {"nonsense": 1}}, "props.nonsense"),
        stale={"props": {"title": "Walked"}, "version": 99},
        refused=TRANSLATOR,
    ),
    Endpoint("DELETE /api/post-modules/<free_module_id>", EDITORS),
]
