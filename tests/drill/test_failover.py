"""The site of docs/how-to/prepare-for-a-failover.md under load: processes are killed one after another, then the
primary of PostgreSQL, and the standby takes its place.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.deployment.site import until
from tests.drill import failover_checks as checks
from tests.drill.failover_load import (
    Client,
    Content,
    Editor,
    OpenPage,
    Reader,
    Records,
    Sender,
    Starter,
    sign_in,
    under_load,
)
from tests.drill.failover_site import PYTHON, Site, dump_migrated_database, prepared
from tests.fake_provider import FakeProvider, Reply
from tests.fake_provider import serving as providing
from tests.receiver import Receiver, serving

pytestmark = pytest.mark.drill
POSTS: Final = 12
"""Posts that editors change. As many others are for runs."""
EDITORS: Final = 3
PACE: Final = 9
"""Number of accepted edits between two failures."""
RUNS: Final = 2
"""Runs of the agent that are started before each failure, and after the last one. Their model needs a second."""
READINGS: Final = 300
"""Answers to readers while no server takes writes."""
LOST: Final = 40
"""Accepted edits that the standby does not get. PostgreSQL numbers rows from where the standby knows, and that can
be 32 further.
"""
KINDS: Final = ("post.created", "post.updated", "form.submitted")
AGENT: Final = """---
name: Stager
scopes: [{scope: dropdown}]
llmConfig: {providerText: openai}
---
You write titles.
"""
PREPARE: Final = """
import json
from proofroom.webhooks.models.webhook import NewWebhook
from proofroom.webhooks.services.webhooks import create_webhook
from tests import make
make.form()
create_webhook(actor=make.actor("admin"), webhook=NewWebhook(name="All", url=URL, events=KINDS))
posts = [make.post(f"mark-{number}-0-", slug=f"post-{number}") for number in range(POSTS)]
print(json.dumps([str(post.pk) for post in posts]))
"""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with serving() as found:
        yield found


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    with providing(Reply({"post": {"metaTitle": "A title"}}, delay=1.0)) as found:
        yield found


@dataclass
class Drill:
    """The running site with its clients."""

    site: Site
    content: Content
    records: Records
    receiver: Receiver
    starter: Starter
    clients: list[Client | OpenPage]
    is_synchronous: bool

    def edits(self, since: float = 0.0) -> int:
        return self.records.count("edit", "accepted", since)

    def wait(self, what: str, look: Callable[[], object], seconds: float = 240) -> None:
        """Wait until a function returns something true, or a client fails."""

        def found() -> object:
            self.records.raise_error()
            return look()

        until(what, found, seconds)

    def start_runs(self) -> None:
        """Start some runs, and wait until they are accepted."""
        begun = time.monotonic()
        self.starter.allowed.release(RUNS)
        self.wait("runs", lambda: self.records.count("run", "accepted", begun) >= RUNS)

    def wait_for_edits(self, count: int = PACE) -> None:
        """Wait until editors have made that many changes from now on."""
        begun = time.monotonic()
        self.wait(f"{count} edits", lambda: self.edits(begun) >= count)


def begin(site: Site, receiver: Receiver, *, is_synchronous: bool) -> Drill:
    """Start the processes, and create the content and the clients."""
    setup = f"URL, KINDS, POSTS = {receiver.url('/hook')!r}, {list(KINDS)!r}, {2 * POSTS}\n"
    posts = site.ask(setup + PREPARE)
    for name in (*PYTHON, "nginx"):
        site.start(name)
    for name in site.web:
        site.wait_for_web(name)
    paths = [f"/blog/post-{number}" for number in range(2 * POSTS)]
    content, records = Content(posts, paths, sign_in(site)), Records()
    starter = Starter(site, content, records, 90, range(POSTS, 2 * POSTS))
    clients: list[Client | OpenPage] = [
        *(Reader(site, content, records, number) for number in range(3)),
        *(Reader(site, content, records, 10 + n, name) for n, name in enumerate(site.web)),
        *(Editor(site, content, records, 20 + n, range(n, POSTS, EDITORS)) for n in range(EDITORS)),
        *(Sender(site, content, records, 30 + number) for number in range(2)),
        starter,
        OpenPage(site, content, records),
    ]
    return Drill(site, content, records, receiver, starter, clients, is_synchronous)


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a dump of a migrated database, because migrating is slower than all the rest."""
    file = tmp_path_factory.mktemp("migrated") / "dump"
    dump_migrated_database(file)
    return file


@pytest.fixture(params=["synchronous", "asynchronous"])
def drill(
    request: pytest.FixtureRequest,
    dump: Path,
    tmp_path: Path,
    receiver: Receiver,
    provider: FakeProvider,
) -> Iterator[Drill]:
    agents = tmp_path / "agents"
    agents.mkdir()
    (agents / "stager.md").write_text(AGENT)
    is_synchronous = request.param == "synchronous"
    with prepared(
        tmp_path,
        dump,
        has_replica=is_synchronous,
        CMS_AGENTS_DIR=str(agents),
        OUTGOING_ALLOWED_HOSTS="127.0.0.1",
        AI_PROVIDER_OPENAI_API_KEY="sk-canary-never-shown-1234567890",
        AI_PROVIDER_OPENAI_BASE_URL=provider.openai_url,
    ) as site:
        if is_synchronous:
            site.require_remote_apply()
        yield begin(site, receiver, is_synchronous=is_synchronous)


Pids = dict[str, int]
"""The running processes by name."""


@dataclass
class Moments:
    """When the failover happened, by the clock of the drill."""

    parted: float
    killed: float
    switched: float
    switched_at: str
    """By the clock of the database."""


def test_the_site_survives_killed_processes_and_the_loss_of_its_primary(drill: Drill) -> None:
    site, records = drill.site, drill.records
    with under_load(records, drill.clients):
        drill.wait("an open page", lambda: records.opened)
        drill.wait_for_edits()
        for names in (("web-2",), ("events", "deliveries"), ("redis",)):
            drill.start_runs()
            for name in names:
                site.kill(name)
            drill.wait_for_edits()
            for name in names:
                site.start(name)
        site.wait_for_web("web-2")
        site.revive()
        before = {name: process.pid for name, process in site.running.items()}
        moments = lose_the_primary(drill)
        drill.wait_for_edits()
        drill.start_runs()
    report(drill, moments)

    checks.wait_until_settled(site)
    wrong = []
    for check in (check_writes, check_work, check_readers, check_processes):
        try:
            check(drill, moments, before)
        except AssertionError as error:
            wrong.append(f"{check.__name__}: {error}")
    assert not wrong, "\n".join(wrong)


def check_writes(drill: Drill, moments: Moments, before: Pids) -> None:
    """Nothing that the standby had is lost, and nothing was done twice."""
    stored = checks.stored_keys(drill.site)
    lost = checks.lost_writes(drill.records, stored)
    say(f"lost: {dict(Counter(one.kind for one in lost))}")
    checks.check_once(drill.records, stored)
    if drill.is_synchronous:
        assert lost == []
    else:
        assert lost
        assert [one for one in lost if one.ended < moments.parted] == []


def check_work(drill: Drill, moments: Moments, before: Pids) -> None:
    """Runs and deliveries ended once, and the open page received the events."""
    site = drill.site
    stored = {id_ for (id_,) in site.query("SELECT id::text FROM agents_app_agentrun")}
    if drill.is_synchronous:
        assert stored >= set(drill.starter.runs)
    checks.check_runs(site)
    invented = checks.check_deliveries(site, drill.receiver, KINDS)
    say(f"events that the receiver has and the site lost: {len(invented)}")
    assert not (drill.is_synchronous and invented)
    until(
        "all events at the open page",
        lambda: not checks.heard_too_little(site, drill.records, moments.switched_at),
    )
    site.manage("verify_activity")


def check_readers(drill: Drill, moments: Moments, before: Pids) -> None:
    """Visitors always got an answer, and no cache goes back behind what the standby had."""
    site, records = drill.site, drill.records
    assert [one for one in records.readings if one.where == "nginx" and one.status != 200] == []
    if drill.is_synchronous:
        newest = checks.newest_before(records, moments.killed)
        assert list(checks.older_readings(records, newest, moments.switched)) == []
    checks.check_shown(site, drill.content)


def check_processes(drill: Drill, moments: Moments, before: Pids) -> None:
    """No process had to be restarted after the failover, and the doctor finds no failure."""
    running = drill.site.running
    assert before == {name: process.pid for name, process in running.items()}
    assert [name for name, process in running.items() if process.poll() is not None] == []
    assert checks.failed_lines(drill.site.manage("doctor")) == []


def lose_the_primary(drill: Drill) -> Moments:
    """Kill the primary, keep the load on, then fail over."""
    site, records = drill.site, drill.records
    parted = time.monotonic()
    if not drill.is_synchronous:
        site.part()
        drill.wait_for_edits(LOST)
    drill.start_runs()
    killed = time.monotonic()
    site.primary.kill()

    def is_felt() -> bool:
        found = [
            one for one in list(records.readings) if one.where == "nginx" and one.begun > killed
        ]
        stale = {one.path for one in found if one.cache in ("STALE", "UPDATING")}
        is_stale = drill.is_synchronous or stale.issuperset(drill.content.paths)
        return is_stale and len(found) >= READINGS and records.count("edit", "unsure", killed) > 0

    drill.wait("an outage that is felt", is_felt)
    site.fail_over()
    switched = time.monotonic()
    drill.wait("an accepted edit", lambda: drill.edits(switched))
    return Moments(parted, killed, switched, str(site.query("SELECT now()")[0][0]))


def report(drill: Drill, moments: Moments) -> None:
    """Print the figures."""
    records = drill.records
    first = min(
        one.ended for one in records.writes
        if one.kind == "edit" and one.fate == "accepted" and one.begun >= moments.switched
    )  # fmt: skip
    say(
        f"primary away {moments.switched - moments.killed:.1f} s, "
        f"edits accepted again {first - moments.switched:.1f} s after the switch; "
        f"the open page connected {drill.records.opened} times"
    )
    phases = {
        "before": (0.0, moments.killed),
        "outage": (moments.killed, moments.switched),
        "after": (moments.switched, float("inf")),
    }
    for phase, (begin_, end) in phases.items():
        fates = Counter((one.kind, one.fate) for one in records.writes if begin_ <= one.begun < end)
        say(f"{phase}, writes: {dict(sorted(fates.items()))}")
        for where in ("nginx", *drill.site.web):
            found = [
                one for one in records.readings
                if one.where == where and begin_ <= one.begun < end
            ]  # fmt: skip
            slowest = max((one.ended - one.begun for one in found), default=0.0)
            say(
                f"{phase}, {where}: {dict(Counter(one.status for one in found))}"
                f" {dict(Counter(one.cache for one in found))}, slowest {slowest:.1f} s"
            )


def say(line: str) -> None:
    """Print a line, visible with `-s`."""
    sys.stdout.write(f"{line}\n")
