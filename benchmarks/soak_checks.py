"""Invariants after the soak, independent of the kills. Each check yields its violations as sentences."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import httpx
import orjson
from django.db import connection
from django.db.models import Count, Sum

from agents_app.models import UNFINISHED, AgentRun
from analytics.models import AnalyticsEvent, SiteCount
from analytics.rollups.aggregate import add_all
from benchmarks.servers import Server
from benchmarks.soak_clients import MARK, Book, Fate, Place
from benchmarks.soak_site import Site
from content.layers import open_layers_of_many
from content.models import Draft, Post, Provenance, Revision
from proofroom.core.models import Event
from proofroom.webhooks.models import Delivery

SETTLE_SECONDS: Final = 240.0
"""Seconds after which every sweep has run and finished the work of killed processes."""
ACCEPTED_WARNINGS: Final = ("AI providers",)
"""Accepted warnings of the doctor: the measurement uses the built-in provider."""
_OTHERS: Final = """
    SELECT md5(string_agg(row, '' ORDER BY row)) FROM (
        SELECT md5(p::text) AS row FROM content_post p WHERE NOT p.id = ANY(%(posts)s::uuid[])
        UNION ALL
        SELECT md5(m::text) || md5(i::text) FROM content_postmodule m
            JOIN content_moduleinstance i ON i.id = m.instance_id
            WHERE NOT m.post_id = ANY(%(posts)s::uuid[])
    ) AS rows
"""


@dataclass(frozen=True, slots=True)
class Before:
    """The live content before the run: a digest of the posts without writes, and the versions of the others."""

    others: str
    versions: Mapping[str, int]


def read_before(posts: Sequence[str]) -> Before:
    return Before(_digest_of_others(posts), _versions(posts))


def _digest_of_others(posts: Sequence[str]) -> str:
    with connection.cursor() as cursor:
        cursor.execute(_OTHERS, {"posts": list(posts)})
        return str(cursor.fetchone())


def _versions(posts: Sequence[str]) -> dict[str, int]:
    return {str(pk): n for pk, n in Post.objects.filter(pk__in=posts).values_list("pk", "version")}


LEFT: Final[Mapping[str, Callable[[], int]]] = {
    "events that are not dispatched": lambda: Event.objects.filter(
        dispatched_at__isnull=True
    ).count(),
    "runs that are not finished": lambda: AgentRun.objects.filter(status__in=UNFINISHED).count(),
    "deliveries that did not succeed": lambda: Delivery.objects.exclude(status="succeeded").count(),
}


def wait_until_settled() -> float:
    """Wait until no work is left, or for `SETTLE_SECONDS`. Return the seconds it took."""
    begin = time.monotonic()
    while any(count() for count in LEFT.values()) and time.monotonic() - begin < SETTLE_SECONDS:
        time.sleep(1)
    return time.monotonic() - begin


def check_left() -> Iterator[str]:
    for what, count in LEFT.items():
        if number := count():
            yield f"{number} {what}"


@dataclass(frozen=True, slots=True)
class Marks:
    """The stored texts of the run: live or in a revision, and in a draft."""

    public: set[str]
    staged: set[str]


def stored_marks(posts: Sequence[str]) -> dict[str, Marks]:
    """Return the stored texts by post."""
    found = {post: Marks(set(), set()) for post in posts}
    for layers in open_layers_of_many(list(Post.objects.filter(pk__in=posts))):
        found[str(layers.post.pk)].public.update(marks_in(layers.live.to_json()))
    for post_id, document in Revision.objects.filter(post_id__in=posts).values_list(
        "post_id", "document"
    ):
        found[str(post_id)].public.update(marks_in(document))
    for post_id, document in Draft.objects.filter(post_id__in=posts, is_empty=False).values_list(
        "post_id", "document"
    ):
        found[str(post_id)].staged.update(marks_in(document))
    return found


def marks_in(document: object) -> set[str]:
    return set(MARK.findall(orjson.dumps(document).decode()))


def check_writes(
    written: Mapping[Place, Sequence[tuple[str, Fate]]], stored: Mapping[str, Marks]
) -> Iterator[str]:
    """Yield places whose last accepted text, or a later one, is missing, and refused texts that are stored."""
    for (post, path), texts in written.items():
        there = stored[post].public | stored[post].staged
        accepted = [number for number, (_, fate) in enumerate(texts) if fate == "accepted"]
        if accepted:
            last = [mark for mark, fate in texts[accepted[-1] :] if fate != "refused"]
            if not there.intersection(last):
                yield f"{last[0]}, accepted at {path} of {post}, is in no layer and no revision"
        for mark, fate in texts:
            if fate == "refused" and mark in there:
                yield f"{mark}, refused at {path} of {post}, is there"


def check_seen(seen: set[str], stored: Mapping[str, Marks]) -> Iterator[str]:
    """Yield texts shown to visitors that were never live."""
    public = set().union(*(marks.public for marks in stored.values()))
    for mark in sorted(seen - public):
        yield f"visitors were shown {mark}, which was never live"


def check_live(before: Before, book: Book) -> Iterator[str]:
    """Yield live changes without an approval, and answered approvals without a change."""
    posts = list(before.versions)
    if _digest_of_others(posts) != before.others:
        yield "a post changed that nobody writes in"
    revisions = Revision.objects.filter(post_id__in=posts)
    reasons = set(revisions.values_list("reason", flat=True)) - {"before", "approved"}
    if reasons:
        yield f"there are revisions that no approval made: {', '.join(sorted(reasons))}"
    approved = {
        (str(post), version)
        for post, version in revisions.filter(reason="approved").values_list("post_id", "version")
    }
    for post, version in sorted(book.approved - approved):
        yield f"an approval of {post} was answered with version {version}, and has no revision"
    for post, version in _versions(posts).items():
        made = sum(1 for one, _ in approved if one == post)
        if version - before.versions[post] != made:
            moved = version - before.versions[post]
            yield f"{post} moved by {moved} versions, and was approved {made} times"
    unsigned = Provenance.objects.filter(
        post_id__in=posts, revision__reason="approved", approved_by__isnull=True
    ).count()
    if unsigned:
        yield f"{unsigned} live values have nobody who approved them"
    for layers in open_layers_of_many(list(Post.objects.filter(pk__in=posts))):
        last = revisions.filter(post=layers.post).order_by("-version").first()
        if last is not None and last.document != layers.live.to_json():
            yield f"what is live of {layers.post.pk} is not its last revision"


def check_runs(book: Book) -> Iterator[str]:
    """Yield runs that were answered but are missing or failed."""
    states = dict(AgentRun.objects.values_list("status").annotate(Count("pk")).order_by())
    stored = {str(pk) for pk in AgentRun.objects.values_list("pk", flat=True)}
    if lost := set(book.runs) - stored:
        yield f"{len(lost)} runs that were answered are not there"
    others = {status: count for status, count in states.items() if status != "succeeded"}
    if others:
        errors = AgentRun.objects.exclude(status="succeeded").values_list("error", flat=True)
        common_errors = Counter(re.sub(r"\s+", " ", error)[:120] for error in errors).most_common(3)
        yield f"runs did not succeed: {others}; {common_errors}"


def check_views(book: Book) -> Iterator[str]:
    """Yield views that were answered but not stored, or not counted exactly once."""
    add_all(seconds=60)
    stored = AnalyticsEvent.objects.count()
    least, most = book.views["accepted"], book.views["accepted"] + book.views["unsure"]
    if not least <= stored <= most:
        yield f"{stored} views are stored; {least} were answered, and at most {most} sent"
    days = SiteCount.objects.filter(dimension="total", grain="day")
    counted = days.aggregate(views=Sum("views"))["views"] or 0
    if counted != stored:
        yield f"{counted} views are counted of {stored} that are stored"


def check_receiver(receiver: Server) -> Iterator[str]:
    """Yield a difference between deliveries and calls of the webhook."""
    told = httpx.get(f"http://127.0.0.1:{receiver.port}/seen", trust_env=False).json()["ids"]
    deliveries = Delivery.objects.count()
    if told != deliveries:
        yield f"the webhook was told of {told} deliveries, of {deliveries}"


def check_doctor(site: Site) -> Iterator[str]:
    """Yield the doctor's findings, except accepted ones."""
    _, output = site.manage("doctor")
    for line in output.splitlines():
        level, _, finding = line.partition("  ")
        if level.strip() in ("warn", "fail") and not finding.strip().startswith(ACCEPTED_WARNINGS):
            yield f"the doctor says: {finding.strip()}"
    if "ok    database" not in output:
        yield f"the doctor did not answer: {output[-300:]}"


def check_activity(site: Site) -> Iterator[str]:
    """Yield a break in the activity log's hash chain."""
    code, output = site.manage("verify_activity")
    if code:
        yield f"verify_activity: {output.strip()[-300:]}"
