"""Editorial briefs, the effective one, and versions."""

from __future__ import annotations

from uuid import uuid4

from proofroom.briefs.models import Brief
from proofroom.briefs.services import list_versions
from tests import make
from tests.contract.endpoint import EDITORS, PEOPLE, Endpoint, Names

BRIEF = {
    "name": "Blog",
    "type": "blog",
    "locale": "de",
    "section": "guides",
    "audience": "Home baristas.",
    "voice": "Warm.",
    "address": "du",
    "readingLevel": "B1",
    "never": ["the best"],
    "terms": [
        {
            "term": "utilise",
            "preferred": "use",
            "forbidden": True,
            "translations": {"de": "nutzen"},
            "note": "In every text.",
        }
    ],
    "protectedNames": ["AeroPress"],
    "examples": [{"before": "We utilise it.", "after": "We use it."}],
}


def scene() -> Names:
    brief = make.brief("Site", voice="Calm.")
    make.changed_brief(brief, voice="Warm.")
    return {"brief_id": str(brief.pk), "version": 1}


def grow(number: int) -> None:
    brief = Brief.objects.earliest("created_at")
    make.copies(brief, number, section=lambda _: f"guides/{uuid4().hex}")


def grow_versions(number: int) -> None:
    newest = list_versions(Brief.objects.get()).latest("version")
    make.copies(newest, number, version=lambda n: newest.version + 1 + n)


ENDPOINTS = [
    Endpoint("GET /api/briefs", PEOPLE, invalid=("?locale=xx", "locale"), grow=grow),
    Endpoint(
        "POST /api/briefs",
        EDITORS,
        201,
        body=BRIEF,
        invalid=({"name": "Blog", "terms": [{"term": ""}]}, "terms.0.term"),
    ),
    Endpoint(
        "GET /api/briefs/effective",
        PEOPLE,
        query="?type=blog&locale=de&section=guides",
        invalid=("?type=nothing", "type"),
    ),
    Endpoint("GET /api/briefs/<brief_id>", PEOPLE),
    Endpoint(
        "PUT /api/briefs/<brief_id>",
        EDITORS,
        body={"voice": "Formal.", "version": 2},
        invalid=({"examples": [{"before": "x"}]}, "examples.0.after"),
        stale={"voice": "Formal.", "version": 1},
    ),
    Endpoint("DELETE /api/briefs/<brief_id>", EDITORS),
    Endpoint("GET /api/briefs/<brief_id>/versions", PEOPLE, grow=grow_versions),
    Endpoint("GET /api/briefs/<brief_id>/versions/<version>", PEOPLE),
    Endpoint(
        "POST /api/briefs/<brief_id>/versions/<version>/restore",
        EDITORS,
        body={"version": 2},
        invalid=({"version": "two"}, "version"),
        stale={"version": 1},
    ),
]
