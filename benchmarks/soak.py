"""Mixed traffic of many clients while processes are killed one after another: its cost, and the invariants
afterwards.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from django.conf import settings

from benchmarks import servers, sessions, soak_checks
from benchmarks.mcp import CREDENTIALS
from benchmarks.report import Report
from benchmarks.seed import WORDS, Seeded
from benchmarks.sizes import Sizes
from benchmarks.soak_clients import (
    REFUSALS,
    SHARES,
    Book,
    Scene,
    WorkPost,
    clients_of,
    run_clients,
    unexplained,
)
from benchmarks.soak_site import VICTIMS, Life, Site, running_site
from content.models import Post, PostModule
from proofroom.accounts.models import User
from proofroom.accounts.roles import Role
from proofroom.core.actor import Actor
from proofroom.webhooks.models.webhook import NewWebhook
from proofroom.webhooks.services.webhooks import create_webhook

WORK_POSTS: Final = 24
"""Number of posts that all editors, agents and AI clients write in."""
LOOK_SECONDS: Final = 2.0
WARM_SHARE: Final = 0.1
WARM_CPU: Final = 10.0
"""A process fills its caches for this share of the run and until it has used this many CPU seconds. Its memory
counts from then on. A restarted web process has little to do until connections to the other one end.
"""
SMALL_CACHE: Final = {"CMS_CACHE_MIB": "12"}
"""Caches that are full before a process counts as warm, so that later growth has another cause."""
GROWTH: Final = 1.1
SLACK_KIB: Final = 8 * 1024
"""At its end, a process may hold `GROWTH` times its memory when warm, plus this."""
JUDGED_SECONDS: Final = 120.0
"""Seconds. Processes that were warm for less are still filling caches: they are shown but not judged."""
TOLD: Final = ["post.updated"]


def measure(seeded: Seeded, sizes: Sizes, folder: Path, report: Report) -> None:
    people = _people(seeded, sizes.clients)
    scene = Scene(
        posts=_work_posts(seeded), published=seeded.published, pages=seeded.pages,
        people=people, words=WORDS,
    )  # fmt: skip
    ids = [post.id for post in scene.posts]
    seconds, book = 60 * sizes.minutes, Book()
    with servers.receiver() as receiver:
        admin = User.objects.create_user("soak@example.com", None, role=Role.ADMIN)
        hook = f"http://127.0.0.1:{receiver.port}/hook"
        create_webhook(
            actor=Actor(user=admin, via="api"),
            webhook=NewWebhook(name="Soak", url=hook, events=TOLD),
        )
        before = soak_checks.read_before(ids)
        with running_site(folder, CREDENTIALS | SMALL_CACHE) as site:
            asyncio.run(_soak(site, scene, book, seconds, sizes.kills))
            settled = soak_checks.wait_until_settled()
            _show(site, book, seconds, report)
            stored = soak_checks.stored_marks(ids)
            for check in (
                soak_checks.check_left(),
                soak_checks.check_writes(book.written, stored),
                soak_checks.check_seen(book.seen, stored),
                soak_checks.check_live(before, book),
                soak_checks.check_runs(book),
                soak_checks.check_views(book),
                soak_checks.check_receiver(receiver),
                soak_checks.check_doctor(site),
                soak_checks.check_activity(site),
                check_calls(book, site),
                check_memory(site.lives, seconds),
            ):
                for wrong in check:
                    report.fail(wrong)
    _conclude(site, book, settled, report)


def _people(seeded: Seeded, clients: int) -> list[dict[str, str]]:
    """Create one user per client. Return the headers of their browsers."""
    # The seeded account has a password that the doctor warns about.
    seed = User.objects.get(pk=seeded.editor_id)
    seed.set_unusable_password()
    seed.save()
    token = "benchmark" * 3 + "token"  # the length of Django's tokens
    people = []
    for number in range(clients):
        name = f"editor-{number}"
        user = User.objects.create_user(
            f"{name}@example.com", None, username=name, role=Role.EDITOR
        )
        headers = sessions.cookie_of(user.pk)
        # Django only compares the cookie with the header, so any token will do.
        headers["Cookie"] += f"; {settings.CSRF_COOKIE_NAME}={token}"
        people.append(headers | {"X-CSRFToken": token})
    return people


def _work_posts(seeded: Seeded) -> list[WorkPost]:
    posts = Post.objects.filter(path__in=seeded.pages[:WORK_POSTS], locale="en")
    modules = {
        (post, type_name): str(pk)
        for post, type_name, pk in PostModule.objects.filter(post__in=posts).values_list(
            "post_id", "instance__type", "pk"
        )
    }
    return [
        WorkPost(
            str(post.pk), post.path, modules[post.pk, "callout"], modules[post.pk, "features-list"]
        )
        for post in posts.order_by("path")
    ]


async def _soak(site: Site, scene: Scene, book: Book, seconds: float, kills: int) -> None:
    """Run the clients, the memory measurement, and the kills."""
    looking = asyncio.create_task(_look(site))
    await asyncio.gather(run_clients(site, scene, book, seconds), _kill(site, seconds, kills))
    looking.cancel()
    # `wait` does not raise, so a cancelled measurement is no error, and a failed one is raised below.
    await asyncio.wait([looking])
    if not looking.cancelled():
        looking.result()


async def _look(site: Site) -> None:
    while True:
        await asyncio.to_thread(site.look)
        await asyncio.sleep(LOOK_SECONDS)


async def _kill(site: Site, seconds: float, kills: int) -> None:
    """Kill one process after another, evenly over the run."""
    begin = time.monotonic()
    for number in range(kills):
        await asyncio.sleep(begin + seconds * (number + 1) / (kills + 1) - time.monotonic())
        await asyncio.to_thread(site.kill, VICTIMS[number % len(VICTIMS)])


def check_calls(book: Book, site: Site) -> Iterator[str]:
    """Yield unexpected refusals, and calls that failed although no process was killed."""
    for what, text in book.unexpected.items():
        yield f"{what}: {text}"
    alone = Counter(f"{one.kind}: {one.error}" for one in unexplained(book.broken, site))
    for what, count in alone.items():
        yield f"{count} calls broke though nobody was killed: {what}"


@dataclass(frozen=True, slots=True)
class Growth:
    """The memory of a process that was warm: seconds, KiB at the beginning and at the end."""

    name: str
    seconds: float
    begin: float
    end: float

    def __str__(self) -> str:
        return f"from {self.begin / 1024:.0f} to {self.end / 1024:.0f} MiB"


def growths(lives: Sequence[Life], seconds: float) -> list[Growth]:
    """Return the growth of all processes that became warm. `seconds`: length of the run."""
    found, span = [], 0.5 * WARM_SHARE * seconds
    for life in lives:
        warm = max(WARM_SHARE * seconds, life.age_after(WARM_CPU))
        if life.age > warm + span:
            begin, end = life.held(warm, warm + span), life.held(life.age - span, life.age)
            found.append(Growth(life.name, life.age - warm, begin, end))
    return found


def check_memory(lives: Sequence[Life], seconds: float) -> Iterator[str]:
    for grown in growths(lives, seconds):
        is_judged = grown.seconds >= JUDGED_SECONDS
        if is_judged and grown.end > GROWTH * grown.begin + SLACK_KIB:
            yield f"{grown.name} grew {grown} in {grown.seconds:.0f} s"


def _show(site: Site, book: Book, seconds: float, report: Report) -> None:
    columns = ("call", "answers", "per second", "p50 ms", "p99 ms", "broke")
    broken = Counter(one.kind for one in book.broken)
    rows = []
    for kind in sorted(set(book.seconds) | set(broken)):
        times = sorted(book.seconds[kind]) or [0.0]
        refused = [str(book.statuses[kind][status] or "") for status in REFUSALS]
        rows.append(
            (
                kind, f"{len(book.seconds[kind]):,}", f"{len(book.seconds[kind]) / seconds:.1f}",
                f"{1000 * times[len(times) // 2]:.0f}",
                f"{1000 * times[min(len(times) - 1, int(len(times) * 0.99))]:.0f}",
                str(broken[kind] or ""), *refused,
            )
        )  # fmt: skip
    report.show_table((*columns, *map(str, REFUSALS)), rows)
    report.show_table(
        ("process", "warm for s", "PSS MiB at first", "at its end", "grown"),
        [
            (
                one.name, f"{one.seconds:.0f}", f"{one.begin / 1024:.0f}", f"{one.end / 1024:.0f}",
                f"{100 * (one.end / one.begin - 1):+.0f} %",
            )
            for one in growths(site.lives, seconds)
        ],
    )  # fmt: skip


def _conclude(site: Site, book: Book, settled: float, report: Report) -> None:
    writes = sum(len(texts) for texts in book.written.values())
    killed = ", ".join(f"{name} {n}" for name, n in Counter(k.name for k in site.kills).items())
    report.say(
        f"{len(site.kills)} kills ({killed}); {writes} texts written, {len(book.approved)} approvals, "
        f"{len(book.runs)} runs of agents, {book.views['accepted']} views; all was done "
        f"{settled:.0f} s after the last call. {len(report.failures)} failures."
    )


def describe(sizes: Sizes) -> str:
    clients = sum(clients_of(kind, sizes.clients) for kind in SHARES)
    return f"{clients} clients, {sizes.minutes:g} minutes, {sizes.kills} kills"
