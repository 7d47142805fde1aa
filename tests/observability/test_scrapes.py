"""Prometheus scrapes are complete from the first second, with any first thread and damaged files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from socket import gethostname

import pytest

from tests.commands import run_command
from tests.migrated import give_database
from tests.served import environ

TOKEN = "token-of-prometheus"
_FIRST = """
import sys, threading
from proofroom.core.observability.metrics import prometheus_text
from proofroom.core.observability.operations import MeasuredOperation, OperationKind, operation_ended

sys.setswitchinterval(1e-6)
at_once = threading.Barrier(8)

def measure(number):
    at_once.wait()
    for _ in range(200):
        operation = MeasuredOperation(
            OperationKind.REQUEST, "route %d" % number, outcome="200", method="GET", seconds=0.01
        )
        operation_ended(operation)

threads = [threading.Thread(target=measure, args=(number,)) for number in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(prometheus_text()[0].decode())
"""
_SCRAPE = """
import os
print(os.getpid())
from proofroom.core.observability.metrics import prometheus_text
from proofroom.core.observability.operations import MeasuredOperation, OperationKind, operation_ended
from pathlib import Path
own = Path(os.environ["PROMETHEUS_MULTIPROC_DIR"], "histogram_HOST-%d.db" % os.getpid())
own.write_bytes(b"\\xff" * 100)
operation_ended(MeasuredOperation(OperationKind.REQUEST, "a", outcome="200", method="GET", seconds=0.01))
for _ in range(2):
    text = prometheus_text()[0].decode()
print(text)
""".replace("HOST", gethostname())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    give_database(tmp_path)
    return tmp_path


def run(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    done = run_command(
        [sys.executable, "-c", f"import django; django.setup()\n{script}"],
        env={**environ(folder), "METRICS_TOKEN": TOKEN},
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done


def test_threads_that_measure_first_at_the_same_time_lose_nothing(folder: Path) -> None:
    text = run(folder, _FIRST).stdout

    counts = [line for line in text.splitlines() if "request_duration_seconds_count{" in line]
    assert sorted(line.rpartition(" ")[2] for line in counts) == ["200.0"] * 8


@pytest.mark.parametrize(
    "damaged",
    [
        b"\xff" * 5000,
        b"\x00",
        b"\x40\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00nope" + b" " * 60,
        b"\x40\x00\x00\x00\x00\x00\x00\x00\x08\x00\x00\x00[1, 2]  " + b" " * 60,
    ],
)
def test_a_damaged_file_is_left_out_and_named(folder: Path, damaged: bytes) -> None:
    metrics = folder / "metrics"
    metrics.mkdir()
    (metrics / "histogram_elsewhere-7.db").write_bytes(damaged)
    (metrics / "histogram_elsewhere-8.db").touch()

    done = run(folder, _SCRAPE)

    assert 'proofroom_metrics_file_damaged{file="histogram_elsewhere-7.db"} 1.0' in done.stdout
    assert done.stdout.count("proofroom_metrics_file_damaged{") == 1
    assert (
        'proofroom_http_request_duration_seconds_count{method="GET",route="a",status="200"} 1.0'
        in done.stdout
    )
    assert done.stdout.count("a file is damaged") == 1
    assert done.stdout.count("removed damaged metrics of an earlier process") == 1
