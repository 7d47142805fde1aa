"""Endpoints for frontends, without login."""

from __future__ import annotations

from tests.contract.endpoint import ALL, Endpoint, Names
from tests.contract.endpoints import posts

ENDPOINTS = [
    Endpoint("GET /api/public/posts", ALL, invalid=("?page=x", "page"), grow=posts.grow),
    Endpoint("GET /api/public/posts/<post_id>", ALL),
]


def scene() -> Names:
    return posts.scene()
