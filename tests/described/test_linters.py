"""Redocly and Spectral find nothing in the descriptions of the whole API and of the delivery API."""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any, Final

import pytest
from django.conf import settings

from content.api.delivery.schema import delivery_document
from tests.api_description import api_description
from tests.mcp import npm

pytestmark = pytest.mark.clients

FOLDER: Final = Path(settings.BASE_DIR, "frontend", "description")


def linted(document: Any, folder: Path) -> CompletedProcess[str]:
    path = folder / "openapi.json"
    path.write_text(json.dumps(document))
    return npm.node("lint.mjs", str(path), folder=FOLDER)


@pytest.mark.parametrize("document", [api_description, delivery_document])
def test_the_linters_find_nothing(document: Any, tmp_path: Path) -> None:
    done = linted(document(), tmp_path)

    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr


def test_the_linters_find_what_is_wrong(tmp_path: Path) -> None:
    operation = {"operationId": "x", "responses": {"200": {"description": "X."}}}
    document = {"openapi": "3.1.0", "info": {"title": "X"}, "paths": {"/x": {"get": operation}}}

    done = linted(document, tmp_path)

    assert done.returncode == 1
    assert "redocly security-defined #/paths/~1x/get" in done.stdout
    assert "spectral operation-tags #/paths//x/get" in done.stdout
