"""The official conformance suite against the site as authorization server, with all its scenarios."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.mcp import npm
from tests.mcp.test_clients_conformance import SUITE
from tests.oauth import flow
from tests.ports import free_port

pytestmark = [pytest.mark.clients, pytest.mark.django_db(transaction=True)]
SECONDS = 60


def test_a_client_gets_its_token(live_server: Any, settings: Any) -> None:
    settings.SITE_URL = live_server.url
    port = free_port()
    # Without a secret: where `none` is served, the suite shows none even if it has one.
    client = flow.register(redirect_uris=[f"http://127.0.0.1:{port}/callback"])

    with npm.started(
        SUITE, "authorization", "--url", live_server.url, "--resource", flow.RESOURCE,
        "--client-id", client["client_id"], "--port", str(port),
    ) as suite:  # fmt: skip
        assert suite.stdout is not None
        link = next(line for line in suite.stdout if "/authorize/" in line).strip()
        asked = urlsplit(link)
        answer = flow.consent(flow.person(), f"{asked.path}?{asked.query}")
        httpx.get(answer["Location"], trust_env=False).raise_for_status()
        said = suite.stdout.read()
        code = suite.wait(SECONDS)

    assert code == 0, said
    passed = dict(re.findall(r"^✓ ([\w-]+): (\d+) passed, 0 failed", said, re.MULTILINE))
    assert passed.keys() == {"authorization-server-metadata-endpoint", "authorization-code-grant"}
