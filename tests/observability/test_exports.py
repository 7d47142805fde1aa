"""Exports enabled by an operator: spans, metrics, errors and logs, without secrets."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from socket import gethostname

import pytest

from agents_app.models import AgentRun
from analytics.rollups.aggregate import add_all
from proofroom.core.observability.metrics import DURATIONS, STATEMENTS, read_metrics
from proofroom.webhooks.models import Delivery
from tests import make
from tests.commands import run_command
from tests.migrated import give_database
from tests.observability.collector import Collector, attributes, collecting
from tests.served import ROOT, environ

TOKEN = "token-of-prometheus"
_WORK = """
import logging, os
from django.conf import settings
from django.test import Client
from proofroom.core.tasks import dispatch_events, export_readings

from cms_project.celery import app
app.conf.task_always_eager = True
from proofroom.core.observability.work_ids import bind_ids
client = Client(headers={"Host": "localhost"})
client.get("/api/public/posts?search=in-the-query")
with bind_ids({"request_id": "request-of-the-task"}):
    dispatch_events.delay([], [])
    export_readings.delay()
try:
    raise ValueError("password=hunter2-and-more at %s" % settings.SECRET_KEY)
except ValueError:
    logging.getLogger("probe").exception("it broke")
answer = client.get("/health/metrics", headers={"Authorization": "Bearer TOKEN"})
from starlette.testclient import TestClient
from mcp_bridge.transport.asgi_app import build_app
of_mcp = TestClient(build_app(), base_url="http://localhost")
asked = of_mcp.get("/health/metrics", headers={"Authorization": "Bearer TOKEN"})
print(asked.status_code, of_mcp.get("/health/metrics").status_code, asked.headers["content-type"])
print("proofroom_task_duration_seconds_count" in asked.text)
print("files of metrics: ", sorted(os.listdir(os.environ["PROMETHEUS_MULTIPROC_DIR"])))
print(answer.status_code, client.get("/health/metrics").status_code)
print(answer.content.decode())
""".replace("TOKEN", TOKEN)


def run(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the function in a process with these variables."""
    return run_command(
        [sys.executable, "-c", f"import django; django.setup()\n{_WORK}"],
        env={**environ(folder), **variables},
        timeout=180,
    )


@pytest.fixture(scope="module")
def worked(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Collector, subprocess.CompletedProcess[str]]:
    folder = tmp_path_factory.mktemp("site")
    give_database(folder)
    with collecting() as collector:
        done = run(
            folder,
            OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{collector.port}",
            SENTRY_DSN=f"http://public@127.0.0.1:{collector.port}/1",
            METRICS_TOKEN=TOKEN,
            LOG_FORMAT="json",
        )
    assert done.returncode == 0, done.stderr
    return collector, done


def test_spans_say_what_was_done_and_what_it_cost(
    worked: tuple[Collector, subprocess.CompletedProcess[str]],
) -> None:
    spans = {span.name: attributes(span) for span in worked[0].spans}

    request = next(spans[name] for name in spans if name.startswith("request") and "posts" in name)
    assert request["proofroom.outcome"] == "200"
    assert int(request["proofroom.statements"]) > 0
    assert request["proofroom.request_id"]
    task = spans["task core.tasks.dispatch_events"]
    assert task["proofroom.request_id"] == "request-of-the-task"
    assert "in-the-query" not in str(spans)


def test_metrics_go_to_the_collector_and_to_prometheus(
    worked: tuple[Collector, subprocess.CompletedProcess[str]],
) -> None:
    collector, done = worked
    assert "\n200 401\n" in done.stdout  # with the token, and without
    assert "\n200 401 text/plain" in f"\n{done.stdout}"  # the MCP server as well
    assert "\nTrue\n" in done.stdout
    text = done.stdout.partition("\n200 401\n")[2]

    assert (
        'proofroom_task_duration_seconds_count{outcome="ok",task="core.tasks.dispatch_events"} 1.0'
        in text
    )
    assert "proofroom_http_request_duration_seconds_bucket{" in text
    # Two containers on one folder have the same number, and names of their own.
    assert f"histogram_{gethostname()}-" in done.stdout.partition("files of metrics: ")[2]
    assert "proofroom_events_due 0.0" in text
    assert "proofroom_oldest_event_due_seconds 0.0" in text
    assert {
        "proofroom_http_request_duration_seconds",
        "proofroom_statements",
        "proofroom_task_duration_seconds",
        "proofroom_events_due",
        "proofroom_posts_overdue",
        "proofroom_releases_overdue",
    } <= collector.metric_names


def test_metrics_have_the_same_names_by_otlp_and_in_a_scrape(
    worked: tuple[Collector, subprocess.CompletedProcess[str]],
) -> None:
    """Prometheus appends a unit to OTLP metric names, unless the name has it."""
    words = {"s": "seconds", "1": "", "": ""}
    for metric in worked[0].metrics:
        unit = words[metric.unit]
        assert not unit or unit in metric.name.split("_"), metric.name
        # It would call a number without a unit a ratio, and a sum a total.
        assert metric.HasField("histogram") or (metric.HasField("gauge") and metric.unit != "1")
    assert worked[0].metrics


def test_errors_reach_sentry_without_secrets(
    worked: tuple[Collector, subprocess.CompletedProcess[str]],
) -> None:
    (error,) = worked[0].errors

    told = json.dumps(error)
    assert error["exception"]["values"][0]["type"] == "ValueError"
    assert "[hidden]" in told
    assert "hunter2" not in told
    assert "in-the-query" not in told


def test_records_are_one_object_a_line_with_ids_and_without_secrets(
    worked: tuple[Collector, subprocess.CompletedProcess[str]],
) -> None:
    records = [json.loads(line) for line in worked[1].stderr.splitlines() if line[:1] == "{"]
    records += [json.loads(line) for line in worked[1].stdout.splitlines() if line[:1] == "{"]
    (broken,) = [one for one in records if one["logger"] == "probe"]

    assert (broken["level"], broken["message"]) == ("ERROR", "it broke")
    assert "ValueError" in broken["exception"]
    assert "hunter2" not in str(records)
    (task,) = [one for one in records if one["message"].startswith("Task core.tasks.dispatch")]
    assert task["time"].endswith("+00:00")


def test_without_variables_nothing_is_loaded(tmp_path: Path) -> None:
    give_database(tmp_path)
    watched = ("opentelemetry.exporter", "prometheus_client", "sentry_sdk")
    script = (
        "import django, sys; django.setup()\n"
        "from django.test import Client\n"
        "answer = Client(headers={'Host': 'localhost'}).get('/api/public/posts')\n"
        f"print([name for name in {watched} if name in sys.modules])"
    )
    done = run_command([sys.executable, "-c", script], env=environ(tmp_path), check=True)  # fmt: skip

    assert done.stdout.strip().splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("variable", "value", "package"),
    [
        ("METRICS_TOKEN", TOKEN, "prometheus_client"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318", "opentelemetry.sdk"),
        ("SENTRY_DSN", "http://public@127.0.0.1:9/1", "sentry_sdk"),
    ],
)
def test_a_missing_package_stops_the_start_with_a_sentence(
    variable: str, value: str, package: str, tmp_path: Path
) -> None:
    hidden = f"import sys; sys.modules[{package!r}] = None\nimport cms_project.settings"
    done = run_command(
        [sys.executable, "-c", hidden],
        env={**environ(tmp_path), variable: value, "PATH": os.environ["PATH"]},
    )

    assert done.returncode == 1
    assert f"{variable} is set, but {package} is not installed" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.django_db
def test_the_dashboard_shows_metrics_that_there_are() -> None:
    dashboard = json.loads((ROOT / "deploy/grafana-dashboard.json").read_text())
    shown = set(re.findall(r"proofroom_[a-z_]+", json.dumps(dashboard)))
    known = {kind.name for kind in (*DURATIONS.values(), STATEMENTS)}
    histograms = {f"{name}_{end}" for name in known for end in ("bucket", "count")}
    make.staged(make.post(), {"title": "Tea"})
    AgentRun.objects.create(agent_id="seo-specialist", scope="post")
    waiting = make.delivery(make.event(), make.webhook(), status="pending", code=None)
    Delivery.objects.filter(pk=waiting.pk).update(next_attempt_at=waiting.created_at)
    add_all(60)
    gauges = {reading.name for readings in read_metrics() for reading in readings}
    of_each_process = "proofroom_database_up"

    assert shown <= histograms | gauges | {of_each_process}
    # Every scraped process, and every sending worker, reports the same pending work.
    asked = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    of_gauges = [text for text in asked if not re.search("_(bucket|count|up)", text)]
    assert len(of_gauges) >= 7
    assert all(re.match(r"max( by \(\w+\) )?\(proofroom_\w+\)\Z", text) for text in of_gauges), (
        asked
    )
