"""The iCalendar feed of a user, for other calendars: its secret address, and its text (RFC 5545)."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.crypto import constant_time_compare, salted_hmac

from proofroom.accounts.queries import preferences_of
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.site_urls import absolute
from proofroom_apps.calendar.entries import MAX_PERIOD, CalendarEntry, list_first_entries
from proofroom_apps.calendar.labels import label_of, url_of
from proofroom_apps.calendar.models import CalendarFeed

_NONCE_CHARACTERS: Final = 32
_PAST: Final = timedelta(days=31)


def feed_url(actor: Actor) -> str | None:
    """Return the address of the actor's feed; None if there is none yet. One query."""
    actor.require_session("read the address of a calendar")
    actor.require("posts.view")
    nonces = CalendarFeed.objects.filter(user=actor.user.pk).values_list("nonce", flat=True)
    nonce = nonces.first()
    return _url_of(nonce) if nonce is not None else None


@transaction.atomic
def renew_feed(actor: Actor) -> str:
    """Give the actor's feed a new address, and return it. The former one stops working."""
    actor.require_session("renew the address of a calendar")
    actor.require("posts.view")
    nonce = secrets.token_hex(_NONCE_CHARACTERS // 2)
    CalendarFeed.objects.update_or_create(user_id=actor.user.pk, defaults={"nonce": nonce})
    outbox.record("calendar.feed-renewed", actor=actor, payload={})
    return _url_of(nonce)


def read_feed(secret: str) -> str | None:
    """Return the feed of an address, with what its user may see now; None if the address does not work."""
    nonce, mac = secret[:_NONCE_CHARACTERS], secret[_NONCE_CHARACTERS:]
    if not secret.isascii() or not constant_time_compare(mac, _mac_of(nonce)):
        return None
    feed = CalendarFeed.objects.select_related("user").filter(nonce=nonce).first()
    if feed is None or not feed.user.is_active:
        return None
    actor = Actor(user=feed.user, via="site")
    if not actor.can("posts.view"):
        return None
    now = timezone.now()
    begin = now - _PAST
    # Parted, so that a busy month does not displace what is to come. Other calendars can't choose a shorter period.
    entries = [
        *list_first_entries(begin, now, actor),
        *list_first_entries(now, begin + MAX_PERIOD, actor),
    ]
    stored = preferences_of(feed.user)
    with translation.override(stored.language or settings.LANGUAGE_CODE):
        return write_calendar(entries, now)


def write_calendar(entries: Sequence[CalendarEntry], now: datetime) -> str:
    """Return entries as an iCalendar text."""
    # 10 MB of memory that only processes with readers of feeds need.
    from icalendar import Calendar, Event

    host = urlsplit(absolute("/")).hostname or "localhost"
    calendar = Calendar()
    calendar.add("version", "2.0")
    calendar.add("prodid", "-//Proofroom//Calendar//EN")
    for entry in entries:
        event = Event()
        # The same for as long as it exists, so that other calendars move it.
        event.add("uid", f"{entry.source}-{entry.id}@{host}")
        event.add("dtstamp", now.astimezone(UTC))
        event.add("dtstart", entry.at.astimezone(UTC))
        event.add("summary", _one_line(f"{label_of(entry)}: {entry.title}"))
        event.add("url", absolute(url_of(entry)))
        calendar.add_component(event)
    text: bytes = calendar.to_ical()
    return text.decode()


def _one_line(text: str) -> str:
    """Return the text without control characters, which no calendar may contain."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _url_of(nonce: str) -> str:
    return absolute(reverse("calendar-feed", args=[f"{nonce}{_mac_of(nonce)}"]))


def _mac_of(nonce: str) -> str:
    return salted_hmac("calendar.feed", nonce, algorithm="sha256").hexdigest()
