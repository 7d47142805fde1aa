"""The processes of deploy/Procfile answer Prometheus from the first second, during requests of visitors."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.deployment.site import SECRETS, own_redis, until
from tests.deployment.written import procfile
from tests.faults.processes import ROOT, Site, own_database, prepare
from tests.ports import free_port

pytestmark = pytest.mark.deployment
TOKEN = "only-for-tests-" + "p" * 20
STARTS = 3
SCRAPES = 10


def test_every_scrape_from_the_first_second_on_is_answered(tmp_path: Path) -> None:
    programs, beside = procfile(), ROOT / ".venv/bin"
    with own_database() as database, own_redis() as redis:
        site = Site(
            tmp_path, database, METRICS_TOKEN=TOKEN, SITE_URL="https://cms.example.com",
            TRUSTED_PROXIES="1", REDIS_URL=redis, PATH=f"{beside}:{os.environ['PATH']}",
            DJANGO_SETTINGS_MODULE="cms_project.settings", PORT=str(free_port()), **SECRETS,
        )  # fmt: skip
        site.commands |= {
            name: ["sh", "-c", f"exec {programs[name]}"] for name in ("web", "worker")
        }
        site.ask(prepare("First"))
        for _ in range(STARTS):
            site.start("worker")
            site.start("web")
            try:
                with asking(site.environ["PORT"]) as client, ThreadPoolExecutor(16) as visitors:
                    until("an answer", lambda client=client: _answers(client))  # type: ignore[misc]
                    for _ in range(SCRAPES):
                        visits = [visitors.submit(client.get, "/blog/a-post") for _ in range(16)]
                        scraped = client.get(
                            "/health/metrics", headers={"Authorization": f"Bearer {TOKEN}"}
                        )
                        assert scraped.status_code == 200, site.log("web")
                        assert "file_damaged{" not in scraped.text
                        assert all(visit.result().status_code == 200 for visit in visits)
            finally:
                site.kill("web")
                site.kill("worker")


def asking(port: str) -> httpx.Client:
    headers = {"Host": "cms.example.com", "X-Forwarded-Proto": "https"}
    return httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=30)


def _answers(client: httpx.Client) -> bool:
    try:
        client.get("/health/live")
    except httpx.TransportError:
        return False
    return True
