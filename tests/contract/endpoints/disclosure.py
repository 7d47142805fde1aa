"""The disclosure of AI work to visitors."""

from __future__ import annotations

from tests.contract.endpoint import ADMIN, Endpoint, Names


def scene() -> Names:
    return {}


ENDPOINTS = [
    Endpoint("GET /api/settings/disclosure", ADMIN),
    Endpoint(
        "PUT /api/settings/disclosure",
        ADMIN,
        body={"types": ["blog"], "show": "line"},
        invalid=({"show": "nowhere"}, "show"),
    ),
]
