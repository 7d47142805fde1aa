"""A sender is killed during a call: real processes, a real database, kill -9."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import connection

from tests.receiver import Receiver, Reply, Trick, serving

ROOT = Path(__file__).resolve().parents[2]
BEGIN = """
import sys
import django
django.setup()
from uuid import uuid4
from proofroom.core import outbox as events
from proofroom.core.actor import Actor, Visitor
from proofroom.webhooks.models import Webhook
from proofroom.webhooks.delivery import send_due
from proofroom.webhooks.dispatch import queue_for_webhooks
Webhook.objects.create(name="It", url=sys.argv[1], events=["post.updated"])
actor, post = Actor(user=Visitor(), via="system"), uuid4()
for place in range(3):
    payload = {"type": "blog", "locale": "en", "place": place}
    queue_for_webhooks([events.record("post.updated", actor=actor, payload=payload, post_id=post)])
send_due()
"""
GO_ON = """
import json
import django
django.setup()
from datetime import timedelta
from django.db.models import F
from proofroom.core.models import Event
from proofroom.webhooks.models import Attempt, Delivery, SenderLease
from proofroom.webhooks.delivery import needs_sender, send_due
told = {"held": send_due(), "needed": needs_sender()}
SenderLease.objects.update(until=F("until") - timedelta(seconds=20))
told["claimed"] = send_due()
Delivery.objects.filter(status="sending").update(next_attempt_at=F("next_attempt_at") - timedelta(seconds=90))
told["needed_now"] = needs_sender()
told["sent"] = send_due()
rows = Delivery.objects.order_by("event_id")
told["rows"] = list(rows.values_list("status", "attempts", "last_status_code"))
tries = Attempt.objects.order_by("delivery__event_id", "number")
told["tries"] = list(tries.values_list("number", "status_code", "error"))
print(json.dumps(told))
"""


def _environ(folder: Path) -> dict[str, str]:
    """Return a process's environment: the tests' database server, or a copy of the file."""
    row = connection.settings_dict
    url = ""
    if connection.vendor == "postgresql":
        who = f"{row['USER']}:{row['PASSWORD']}" if row["PASSWORD"] else row["USER"]
        url = f"postgresql://{who}@{row['HOST']}:{row['PORT']}/{row['NAME']}"
    else:
        connection.ensure_connection()
        with closing(sqlite3.connect(folder / "cms.sqlite3")) as file:
            connection.connection.backup(file)
    return {
        **os.environ,
        "CMS_DATA_DIR": str(folder),
        "DATABASE_URL": url,
        "REDIS_URL": "",
        "SECRET_KEY": django_settings.SECRET_KEY,
        "DJANGO_SETTINGS_MODULE": "cms_project.settings",
        "OUTGOING_ALLOWED_HOSTS": "127.0.0.0/8",
    }


def _process(script: str, environ: dict[str, str], *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, *words],
        cwd=ROOT, env=environ, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with serving() as found:
        found.say("/hook", Reply(trick=Trick.HANG), Reply(200))
        yield found


@pytest.mark.django_db(transaction=True)
def test_a_killed_sender_loses_nothing(receiver: Receiver, tmp_path: Path) -> None:
    environ = _environ(tmp_path)
    sender = _process(BEGIN, environ, receiver.url("/hook"))
    try:
        receiver.wait(1, "/hook", seconds=90)
    finally:
        sender.send_signal(signal.SIGKILL)
        _, errors = sender.communicate(timeout=20)
    assert sender.returncode == -signal.SIGKILL, errors

    out, errors = _process(GO_ON, environ).communicate(timeout=120)

    assert out, errors
    told: dict[str, Any] = json.loads(out.strip().splitlines()[-1])
    # First the dead sender's lease is in force, then its claim.
    assert (told["held"], told["needed"], told["claimed"]) == ([0, False], False, [0, False])
    assert (told["needed_now"], told["sent"]) == (True, [3, False])
    assert told["rows"] == [["succeeded", 2, 200], ["succeeded", 1, 200], ["succeeded", 1, 200]]
    cut_off = "The sender ended before it knew what became of this call."
    assert told["tries"] == [[1, None, cut_off], [2, 200, ""], [1, 200, ""], [1, 200, ""]]
    places = [seen.json()["data"]["place"] for seen in receiver.at("/hook")]
    assert places == [0, 0, 1, 2]
    ids = [seen.headers["x-webhook-delivery"] for seen in receiver.at("/hook")]
    assert ids[0] == ids[1]
    assert len(set(ids)) == 3
