"""Concurrent sealers, and one that is killed: real transactions, real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection, transaction
from django.utils import timezone

from proofroom.core.activity.chain import drop_salts, prune, seal_events, verify
from proofroom.core.models import Event, Seal
from tests.activity.chain import happened
from tests.commands import run_command

HAPPEN_AND_DIE = """
import os, signal
import django
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from proofroom.core import outbox as events
from proofroom.core.activity import chain as sealing
from proofroom.core.actor import Actor, Visitor
from proofroom.core.models import Seal
actor = Actor(user=Visitor(), via="system")
events.record_all("agent.switched", [(None, {"id": str(at)}) for at in range(25)], actor=actor)
sealing.SEAL_BATCH_SIZE = 10
create, made = Seal.objects.bulk_create, []
def create_and_die(links):
    create(links)
    made.append(1)
    if len(made) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
Seal.objects.bulk_create = create_and_die
sealing.seal_events()
"""
LOOK = """
import django
django.setup()
from proofroom.core.activity.chain import seal_events
from proofroom.core.activity.chain import verify
from proofroom.core.models import Seal
print(Seal.objects.count(), seal_events(), verify().links, verify().is_whole)
"""


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_two_sealers_at_once_make_one_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    from proofroom.core.activity import chain as sealing

    monkeypatch.setattr(sealing, "SEAL_BATCH_SIZE", 10)
    happened(200)
    both = threading.Barrier(3)
    broken: list[BaseException] = []

    def seal() -> None:
        try:
            both.wait(10)
            while sealing.unsealed_events().exists():
                seal_events()
        except BaseException as error:
            broken.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=seal) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert broken == []
    assert Seal.objects.count() == Event.objects.filter(is_sealed=True).count() == 200
    found = verify()
    assert (found.links, found.findings) == (200, [])


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_pruning_gives_way_to_who_holds_an_entry_and_waits_for_its_link() -> None:
    made = happened(6, "form.submit")
    seal_events()
    Event.objects.update(created_at=timezone.now() - timedelta(days=40))
    pruned: list[int] = []

    def prune_meanwhile() -> None:
        pruned.append(prune(days=30))
        connection.close()

    other = threading.Thread(target=prune_meanwhile)
    with transaction.atomic():
        Event.objects.filter(pk=made[2].pk).update(payload={}, forgotten_at=timezone.now())
        other.start()
        other.join(20)
        assert not other.is_alive()
        drop_salts([made[2].pk])

    assert pruned == [2]
    assert prune(days=30) == 3
    assert list(Seal.objects.values_list("seq", flat=True)) == [6]


def test_a_sealer_that_is_killed_leaves_a_chain_that_goes_on(tmp_path: Path) -> None:
    environ = {
        **os.environ,
        "CMS_DATA_DIR": str(tmp_path),
        "DATABASE_URL": "",
        "REDIS_URL": "",
        "DJANGO_SETTINGS_MODULE": "cms_project.settings",
    }

    def run(code: str) -> subprocess.CompletedProcess[str]:
        return run_command([sys.executable, "-c", code], env=environ, timeout=120)

    killed = run(HAPPEN_AND_DIE)
    assert killed.returncode == -signal.SIGKILL, killed.stderr

    looked = run(LOOK)

    assert looked.stdout.split() == ["10", "15", "25", "True"], looked.stderr
