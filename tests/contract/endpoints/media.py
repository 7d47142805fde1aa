"""Media: files, descriptions and usage."""

from __future__ import annotations

from uuid import uuid4

from media.models import AltTextProposal, Asset, MediaReference
from media.services.alt_text_proposals import propose_alt_text
from tests import make
from tests.contract.endpoint import EDITORS, PEOPLE, Endpoint, Names


def scene() -> Names:
    used = make.image("used.png", categories=["kitchen"])
    make.post(featuredMediaId=str(used.pk))
    described = make.image("described.png")
    proposal = propose_alt_text(
        asset_id=described.pk, text="A teal wall", actor=make.mcp_actor("ai_agent")
    )
    return {
        "media_id": str(make.image(categories=["kitchen"]).pk),
        "used_id": str(used.pk),
        "described_id": str(described.pk),
        "proposal_id": str(proposal.pk),
    }


def _more_files(number: int) -> None:
    make.copies(Asset.objects.earliest("created_at"), number)


def _more_categories(number: int) -> None:
    asset = Asset.objects.earliest("created_at")
    make.copies(asset, number, categories=lambda _: [uuid4().hex])


def _more_places(number: int) -> None:
    asset = Asset.objects.get(filename="picture.png")
    post = MediaReference.objects.earliest("id").holder_id
    MediaReference.objects.bulk_create(
        MediaReference(
            asset=asset, holder_kind="post", holder_id=post, layer="live", path=uuid4().hex
        )
        for _ in range(number)
    )


def _more_proposals(number: int) -> None:
    make.copies(AltTextProposal.objects.earliest("created_at"), number)


ENDPOINTS = [
    Endpoint("GET /api/media/alt-text-proposals", PEOPLE, grow=_more_proposals),
    Endpoint("GET /api/media/<described_id>/alt-text-proposals", PEOPLE, grow=_more_proposals),
    Endpoint(
        "POST /api/media/alt-text-proposals/<proposal_id>/accept",
        EDITORS,
        body={},
        invalid=({"present": 7}, "present"),
        stale={"present": "Another one"},
    ),
    Endpoint(
        "POST /api/media/alt-text-proposals/<proposal_id>/reject",
        EDITORS,
        body={"note": "Say what it shows"},
        invalid=({"note": 7}, "note"),
    ),
    Endpoint(
        "POST /api/media/upload",
        EDITORS,
        201,
        body={"file": make.picture(), "alt_text": "A wall", "categories": "walls, teal"},
        invalid=({"file": "a text"}, "file"),
        is_multipart=True,
    ),
    Endpoint("GET /api/media", PEOPLE, invalid=("?status=lost", "status"), grow=_more_files),
    Endpoint("GET /api/media/categories", PEOPLE, grow=_more_categories),
    Endpoint("GET /api/media/<media_id>", PEOPLE),
    Endpoint(
        "PATCH /api/media/<media_id>",
        EDITORS,
        body={"alt_text": "A wall", "focalPoint": {"x": 0.5, "y": 0}},
        invalid=({"focalPoint": {"x": 2, "y": 0}}, "focalPoint.x"),
    ),
    Endpoint("DELETE /api/media/<media_id>", EDITORS),
    Endpoint("GET /api/media/<media_id>/where-used", PEOPLE, grow=_more_places),
    Endpoint(
        "POST /api/media/<media_id>/replace",
        EDITORS,
        body={"file": make.picture((30, 10))},
        invalid=({}, "file"),
        is_multipart=True,
    ),
    Endpoint(
        "POST /api/media/<media_id>/variants",
        EDITORS,
        202,
        body={"theme": "dark"},
        invalid=({"theme": "sepia"}, "theme"),
    ),
]
