"""Endpoints for frontends, without login."""

from __future__ import annotations

from content.models import PostTerm
from proofroom.taxonomies.models import Term
from tests import make
from tests.contract.endpoint import ALL, Endpoint, Names
from tests.contract.endpoints import posts


def grow_terms(number: int) -> None:
    """Add terms of a published post."""
    term = Term.objects.get(slug="delivered")
    use = PostTerm.objects.get(term=term)
    begin = Term.objects.count()
    made = make.copies(term, number, slug=lambda place: f"delivered-{begin + place}")
    PostTerm.objects.bulk_create(PostTerm(post_id=use.post_id, term=one) for one in made)


ENDPOINTS = [
    Endpoint("GET /api/public/posts", ALL, invalid=("?page=x", "page"), grow=posts.grow),
    Endpoint("GET /api/public/posts/<post_id>", ALL),
    Endpoint(
        "GET /api/public/terms",
        ALL,
        invalid=("?taxonomy=none", "taxonomy"),
        grow=grow_terms,
    ),
    Endpoint("GET /api/public/terms/<term_id>", ALL),
    Endpoint("GET /api/public/globals/<global_slug>", ALL, invalid=("?locale=xx", "locale")),
    Endpoint("GET /api/public/media/<asset_id>", ALL, invalid=("?locale=xx", "locale")),
    Endpoint("GET /api/public/site", ALL, invalid=("?locale=xx", "locale")),
    Endpoint("GET /api/public/changes", ALL, invalid=("?since=yesterday", "since")),
]


def scene() -> Names:
    term, image = make.term("Delivered"), make.image("delivered.png")
    post = make.post("Of a term", taxonomyTermIds=[str(term.pk)], featuredMediaId=str(image.pk))
    module = make.global_module("delivered")
    make.placed(post, module)
    return {
        **posts.scene(),
        "term_id": str(term.pk),
        "asset_id": str(image.pk),
        "global_slug": "delivered",
    }
