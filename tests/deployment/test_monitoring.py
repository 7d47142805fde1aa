"""The files of deploy/monitoring: rules, their tests and pages, and the dashboard, with a real Prometheus."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import httpx
import pytest
import yaml

from tests.deployment.site import SECRETS, own_redis, until
from tests.faults.processes import ROOT, Site, own_database, prepare
from tests.ports import free_port

pytestmark = pytest.mark.deployment
FOLDER: Final = ROOT / "deploy/monitoring"
PAGES: Final = ROOT / "docs/how-to/alerts"
DASHBOARD: Final = ROOT / "deploy/grafana-dashboard.json"
TOKEN: Final = "only-for-tests-" + "p" * 20
QUIET: Final = ("Agent runs", "Changes that wait", "Deliveries", "Tasks that failed", "Tool calls")
"""Beginnings of the titles of panels that have no data on a site without such work."""


def rules() -> list[dict[str, object]]:
    groups = yaml.safe_load((FOLDER / "alerts.yaml").read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def promtool(*arguments: str) -> None:
    done = subprocess.run(["promtool", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_rules_are_valid_and_pass_their_tests() -> None:
    promtool("check", "rules", "--lint-fatal", str(FOLDER / "alerts.yaml"))
    promtool("test", "rules", str(FOLDER / "alerts_test.yaml"))


def test_each_alert_has_a_test_and_a_page_that_the_index_names() -> None:
    tested = (FOLDER / "alerts_test.yaml").read_text()
    index = (PAGES / "index.md").read_text()
    for rule in rules():
        name, annotations = str(rule["alert"]), rule["annotations"]
        assert isinstance(annotations, dict)
        page = ROOT / annotations["runbook"]
        assert name in page.read_text().splitlines()[0], page
        assert f"({page.name})" in index
        assert name in index
        assert f"alertname: {name}\n        eval_time" in tested, name


@contextmanager
def prometheus(folder: Path, port: int) -> Iterator[httpx.Client]:
    """Yield a client of a Prometheus with the shipped configuration that scrapes the port."""
    shipped = (FOLDER / "prometheus.yml").read_text()
    own = shipped.replace("web:8000", f"127.0.0.1:{port}").replace(
        "_interval: 15s", "_interval: 1s"
    )
    assert own.count(f"127.0.0.1:{port}") == 1
    folder.mkdir()
    (folder / "prometheus.yml").write_text(own)
    (folder / "metrics-token").write_text(TOKEN)
    shutil.copy(FOLDER / "alerts.yaml", folder)
    promtool("check", "config", str(folder / "prometheus.yml"))
    address = f"127.0.0.1:{free_port()}"
    command = [
        "prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
        f"--web.listen-address={address}", "--log.level=warn",
    ]  # fmt: skip
    process = subprocess.Popen(command)
    try:
        with httpx.Client(base_url=f"http://{address}/api/v1", timeout=30) as client:
            until("Prometheus", lambda: _is_ready(client))
            yield client
    finally:
        process.terminate()
        process.wait(30)


def _is_ready(client: httpx.Client) -> bool:
    try:
        return client.get("/status/buildinfo").status_code == 200
    except httpx.TransportError:
        return False


def _values(client: httpx.Client, query: str) -> list[float]:
    answer = client.get("/query", params={"query": query}).json()
    assert answer["status"] == "success", (query, answer)
    return [float(row["value"][1]) for row in answer["data"]["result"]]


def _states(client: httpx.Client) -> dict[str, str]:
    groups = client.get("/rules").json()["data"]["groups"]
    return {rule["name"]: rule["state"] for group in groups for rule in group["rules"]}


def test_a_real_prometheus_reads_the_site_and_fills_the_dashboard(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    with own_database() as database, own_redis() as redis:
        site = Site(
            tmp_path / "site", database, METRICS_TOKEN=TOKEN, REDIS_URL=redis,
            DJANGO_SETTINGS_MODULE="cms_project.settings", **SECRETS,
        )  # fmt: skip
        site.ask(prepare("First"))
        try:
            site.start("web")
            site.start("worker")
            with prometheus(tmp_path / "prometheus", site.port) as client:
                until("a scrape", lambda: _values(client, "up") == [1.0])
                for _ in range(5):
                    httpx.get(f"http://127.0.0.1:{site.port}/blog/a-post", timeout=30)
                age = "max(proofroom_last_sweep_age_seconds)"
                until("a sweep", lambda: _values(client, age), seconds=120)
                until("a rate", lambda: _values(client, _expression("Requests a second")))

                filled = {title for title, query in _panels() if _values(client, query)}
                empty = {title for title, _ in _panels()} - filled
                assert {title for title in empty if not title.startswith(QUIET)} == set()
                quiet = {str(rule["alert"]): "inactive" for rule in rules()}
                until("an end of all alerts", lambda: _states(client) == quiet)

                site.kill("web")
                until("the alert", lambda: _states(client)["ProofroomDown"] == "pending")
        finally:
            for name in [*site.running]:
                site.kill(name)


def _panels() -> list[tuple[str, str]]:
    panels = json.loads(DASHBOARD.read_text())["panels"]
    return [
        (panel["title"], re.sub(r"\$__rate_interval", "30s", target["expr"]))
        for panel in panels
        for target in panel.get("targets", [])
    ]


def _expression(start: str) -> str:
    return next(expression for title, expression in _panels() if title.startswith(start))
