"""Successful answers of every endpoint match the description exactly."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator, FormatChecker

from proofroom.core.api.schema import operations
from tests.contract.endpoint import Area, Endpoint
from tests.contract.test_api_walk import ALL_ENDPOINTS, plain, succeed

pytestmark = pytest.mark.django_db

GOOD = [
    (area, endpoint)
    for area, endpoint in ALL_ENDPOINTS
    if endpoint.answers is not None
    and endpoint.path not in ("/api/schema/", "/api/schema/delivery", "/api/docs/")
]


@pytest.mark.parametrize(("area", "endpoint"), GOOD, ids=[endpoint.address for _, endpoint in GOOD])
def test_an_answer_is_what_is_described(
    area: Area, endpoint: Endpoint, strict_document: Any
) -> None:
    operation = next(
        found
        for path, method, found in operations(strict_document)
        if method.upper() == endpoint.method
        and plain(path.replace("{", "<").replace("}", ">")) == plain(endpoint.path)
    )

    response = succeed(endpoint, area.scene(), "admin" if "admin" in endpoint.who else None)

    described = operation["responses"][str(response.status_code)]
    media_type = response.headers["Content-Type"].partition(";")[0]
    assert media_type in described["content"], media_type
    if media_type == "application/json":
        shape = {
            **described["content"][media_type]["schema"],
            "components": strict_document["components"],
        }
        checker = Draft202012Validator(shape, format_checker=FormatChecker())
        assert [error.message for error in checker.iter_errors(response.json())] == []
