"""Redocly and Spectral find nothing in the descriptions of the whole API and of the delivery API."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest
from django.conf import settings

from content.api.delivery_schema import delivery_document
from tests.api_description import api_description
from tests.mcp import npm

pytestmark = pytest.mark.clients

FOLDER: Final = Path(settings.BASE_DIR, "frontend", "description")
LINTERS: Final = {
    "redocly": (
        "node_modules/@redocly/cli/bin/cli.js",
        *("lint", "--config", "redocly.yaml", "--max-problems", "20"),
    ),
    "spectral": (
        "node_modules/@stoplight/spectral-cli/dist/index.js",
        *("lint", "--ruleset", "spectral.yaml", "--fail-severity", "warn"),
    ),
}


@pytest.mark.parametrize("linter", LINTERS)
@pytest.mark.parametrize("document", [api_description, delivery_document])
def test_a_linter_finds_nothing(linter: str, document: Any, tmp_path: Path) -> None:
    path = tmp_path / "openapi.json"
    path.write_text(json.dumps(document()))

    done = npm.node(*LINTERS[linter], str(path), folder=FOLDER)

    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
