"""Taxonomies and their terms."""

from __future__ import annotations

from proofroom.taxonomies.models import Term
from tests import make
from tests.contract.endpoint import EDITORS, PEOPLE, Endpoint, Names


def scene() -> Names:
    term = make.term("Coffee")
    return {"taxonomy_slug": "topics", "term_id": str(term.pk)}


def grow(number: int) -> None:
    begin = Term.objects.count()
    root = Term.objects.filter(parent=None).earliest("slug")
    made = make.copies(root, number, slug=lambda place: f"root-{begin + place}")
    make.copies(
        root,
        number,
        slug=lambda place: f"child-{begin + place}",
        parent_id=lambda place: made[place].pk,
    )


ENDPOINTS = [
    Endpoint("GET /api/taxonomies", PEOPLE, invalid=("?page=0", "page")),
    Endpoint(
        "GET /api/taxonomies/<taxonomy_slug>/terms",
        PEOPLE,
        invalid=("?locale=xx", "locale"),
        grow=grow,
    ),
    Endpoint(
        "POST /api/taxonomies/<taxonomy_slug>/terms",
        EDITORS,
        201,
        body={"name": "Tea"},
        invalid=({"name": "Tea", "slug": "Not A Slug"}, "slug"),
    ),
    Endpoint(
        "PATCH /api/taxonomy-terms/<term_id>",
        EDITORS,
        body={"name": "Filter coffee"},
        invalid=({"parentId": "<term_id>"}, "parentId"),
    ),
    Endpoint("DELETE /api/taxonomy-terms/<term_id>", EDITORS),
]
