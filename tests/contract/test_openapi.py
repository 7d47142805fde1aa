"""The OpenAPI document: current, valid, one error shape, every address in it, no secret and no version."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings
from django.core.management import call_command

from tests.api_client import ApiClient
from tests.contract.addresses import addresses

SNAPSHOT = Path(settings.BASE_DIR, "docs", "openapi.yaml")


@pytest.fixture(scope="module")
def document() -> Any:
    made = StringIO()
    call_command("spectacular", "--validate", "--fail-on-warn", stdout=made)
    return yaml.safe_load(made.getvalue())


def test_the_committed_document_is_current(document: Any) -> None:
    assert yaml.safe_load(SNAPSHOT.read_text()) == document


def test_every_address_is_described_with_the_one_error(document: Any) -> None:
    described = {
        (path.replace("{", "<").replace("}", ">"), method.upper())
        for path, item in document["paths"].items()
        for method in item
    }
    served = {(item.path, method) for item in addresses() for method in item.methods}

    assert described == served - {("/api/schema/", "GET")}
    for path, item in document["paths"].items():
        for method, operation in item.items():
            assert operation["description"], (method, path)
            error = operation["responses"]["default"]["content"]["application/json"]["schema"]
            assert error == {"$ref": "#/components/schemas/Error"}
    assert set(document["components"]["schemas"]["Error"]["required"]) == {
        "error",
        "code",
        "details",
    }
    assert document["components"]["securitySchemes"]["session"]["in"] == "cookie"


@pytest.mark.django_db
def test_threat_41_the_served_document_is_public_and_holds_no_secret() -> None:
    response = ApiClient().get("/api/schema/")

    assert response.status_code == 200
    text = response.content.decode()
    for secret in (settings.SECRET_KEY, str(settings.BASE_DIR), str(settings.DATA_DIR)):
        assert secret not in text
    assert yaml.safe_load(text)["info"]["version"] == "1"
