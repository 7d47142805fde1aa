"""Login, logout, the current user, and the API description."""

from __future__ import annotations

from tests import make
from tests.contract.endpoint import ALL, PEOPLE, Endpoint, Names


def scene() -> Names:
    return {"email": make.user("editor").email, "password": make.PASSWORD}


ENDPOINTS = [
    Endpoint("GET /api/schema/", ALL),
    Endpoint("GET /api/schema/delivery", ALL),
    Endpoint("GET /api/docs/", ALL),
    Endpoint(
        "POST /api/auth/login",
        ALL,
        body={"email": "<email>", "password": "<password>"},
        invalid=({"email": "x"}, "password"),
    ),
    Endpoint("POST /api/auth/logout", ALL),
    Endpoint("GET /api/auth/me", PEOPLE),
]
