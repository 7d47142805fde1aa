"""What must hold after the drill: no answered change is lost or made twice, and no cache shows old content."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

import httpx

from tests.deployment.site import PAST_NGINX, THROUGH_NGINX, until
from tests.drill.failover_load import MARK, Content, Reading, Records, Write
from tests.drill.failover_site import Site
from tests.receiver import Receiver

SETTLES_WITHIN: Final = 400.0
"""Seconds in which all work ends. A webhook that failed is repeated after 30 seconds and after 5 minutes."""
STORED: Final = {
    "edit": "SELECT payload->>'title' FROM proofroom_core_event WHERE name = 'post.updated'"
    " AND payload->'changedPaths' ? 'post.title'",
    "approve": r"SELECT substring(document::text from 'approved \d+-\d+') FROM content_revision"
    " WHERE reason = 'approved'",
    "create": "SELECT slug FROM content_post WHERE slug LIKE 'new-%'",
    "form": "SELECT payload->'payload'->>'message' FROM proofroom_core_event"
    " WHERE name = 'form.submitted'",
    "view": "SELECT metadata->>'call' FROM analytics_analyticsevent",
}
"""Queries for the keys of the changes that were made, one row for each time."""
EVENTS_OF_POSTS: Final = ("post.created", "post.updated")
LEFT: Final = {
    "events": "SELECT count(*) FROM proofroom_core_event WHERE dispatched_at IS NULL",
    "deliveries": "SELECT count(*) FROM proofroom_webhooks_delivery WHERE status IN ('pending', 'sending')",
    "runs": "SELECT count(*) FROM agents_app_agentrun WHERE finished_at IS NULL",
}


def wait_until_settled(site: Site) -> None:
    def settled() -> bool:
        return not any(site.query(query)[0][0] for query in LEFT.values())

    until("the end of all work", settled, SETTLES_WITHIN)


def stored_keys(site: Site) -> dict[str, Counter[str]]:
    return {kind: Counter(key for (key,) in site.query(query)) for kind, query in STORED.items()}


def lost_writes(records: Records, stored: dict[str, Counter[str]]) -> list[Write]:
    """Return the accepted changes that are not stored."""
    return [
        one
        for one in records.writes
        if one.kind in stored and one.fate == "accepted" and not stored[one.kind][one.key]
    ]


def check_once(records: Records, stored: dict[str, Counter[str]]) -> None:
    """Fail if a change was made twice, or made although it was refused."""
    for kind, keys in stored.items():
        assert [key for key, count in keys.items() if count > 1] == [], kind
    refused = [one for one in records.writes if one.kind in stored and one.fate == "refused"]
    assert [one for one in refused if stored[one.kind][one.key]] == []


def check_runs(site: Site) -> None:
    """Fail unless every run ended once, and staged its text once."""
    rows = site.query("SELECT id::text, status, error, staged::text FROM agents_app_agentrun")
    ended = Counter(
        id_
        for (id_,) in site.query(
            "SELECT payload->>'id' FROM proofroom_core_event WHERE name = 'agent.run.finished'"
        )
    )
    for id_, status, error, staged in rows:
        assert (status, error, staged) == ("succeeded", "", '["post.metaTitle"]'), id_
        assert ended[id_] == 1, id_


def check_deliveries(site: Site, receiver: Receiver, kinds: Sequence[str]) -> set[str]:
    """Fail unless each event has one delivery, which succeeded and arrived. Return the ids of others that arrived."""
    names = ", ".join(f"'{kind}'" for kind in kinds)
    events = dict(
        site.query(f"SELECT id, uid::text FROM proofroom_core_event WHERE name IN ({names})")  # noqa: S608
    )
    rows = site.query("SELECT event_id, status FROM proofroom_webhooks_delivery")
    assert sorted(rows) == [(id_, "succeeded") for id_ in sorted(events)]
    received = {seen.json()["id"] for seen in list(receiver.requests)}
    assert set(events.values()) - received == set()
    return received - set(events.values())


def titles(site: Site) -> dict[int, int]:
    """Return the number of the live title, by post."""
    found = [MARK.search(title) for (title,) in site.query("SELECT title FROM content_post")]
    return {int(mark[1]): int(mark[2]) for mark in found if mark}


def check_shown(site: Site, content: Content) -> None:
    """Wait until every web process and nginx show what the database has."""
    expected = titles(site)
    origins = {**dict.fromkeys(site.web.values(), PAST_NGINX), site.origin: THROUGH_NGINX}
    with httpx.Client(verify=False, timeout=60, trust_env=False) as http:  # noqa: S501
        for origin, headers in origins.items():
            for place, path in enumerate(content.paths):

                def is_shown(
                    url: str = f"{origin}{path}", place: int = place,
                    headers: dict[str, str] = headers,
                ) -> bool:  # fmt: skip
                    found = MARK.search(http.get(url, headers=headers).text)
                    return found is not None and int(found[2]) == expected[place]

                until(f"{expected[place]} at {origin}{path}", is_shown, 90)


def newest_before(records: Records, moment: float) -> dict[int, int]:
    """Return the newest number of each post that was accepted, or shown by a web process, before a moment."""
    newest: dict[int, int] = defaultdict(int)
    for one in records.writes:
        if one.kind == "edit" and one.fate == "accepted" and one.ended < moment:
            newest[one.place] = max(newest[one.place], _number(one.key))
    for reading in records.readings:
        if reading.where != "nginx" and reading.ended < moment:
            for post, number in reading.numbers.items():
                newest[post] = max(newest[post], number)
    return newest


def older_readings(records: Records, newest: dict[int, int], since: float) -> Iterator[Reading]:
    """Yield answers of web processes, begun since a moment, that contain older numbers."""
    for reading in records.readings:
        is_old = any(number < newest[post] for post, number in reading.numbers.items())
        if is_old and reading.where != "nginx" and reading.begun >= since:
            yield reading


def _number(mark: str) -> int:
    found = MARK.match(mark)
    assert found is not None
    return int(found[2])


def heard_too_little(site: Site, records: Records, since: str) -> set[str]:
    """Return the events of posts since a time of the database that the open page did not receive.

    A page that loads again receives all events until then.
    """
    rows = site.query("SELECT id, uid::text, created_at::text, name FROM proofroom_core_event")
    loaded = max((id_ for id_, uid, *_ in rows if uid in records.reloads), default=0)
    new = {
        uid
        for id_, uid, at, name in rows
        if name in EVENTS_OF_POSTS and at > since and id_ > loaded
    }
    return new - set(records.heard)


def failed_lines(said: str) -> list[str]:
    """Return the failures in the doctor's output."""
    return [line for line in said.splitlines() if re.match(r"fail\b", line)]
