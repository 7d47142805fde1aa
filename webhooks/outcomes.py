"""What an attempt means: done, to be tried again, or over."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

from django.conf import settings

from core.outgoing import Answer, Refused, Unreachable

LONGEST_WAIT: Final = timedelta(days=1)
_AGAIN: Final = frozenset({408, 425, 429})
_ASKS_FOR_TIME: Final = frozenset({429, 503})
_JITTER: Final = 0.2


@dataclass(frozen=True, slots=True)
class Outcome:
    """`error` is a sentence for people, empty where all went well. `wait` is what the receiver asked for."""

    is_success: bool
    may_retry: bool
    error: str = ""
    status_code: int | None = None
    wait: timedelta = timedelta()


def outcome_of(ended: Answer | Refused | Unreachable, now: datetime) -> Outcome:
    """The meaning of an answer, or of none."""
    if isinstance(ended, Refused):
        return Outcome(False, False, ended.reason)
    if isinstance(ended, Unreachable):
        return Outcome(False, True, ended.reason)
    status = ended.status
    if 200 <= status < 300:
        return Outcome(True, False, "", status)
    may_retry = status in _AGAIN or status >= 500
    wait = _asked_for(ended, now) if status in _ASKS_FOR_TIME else timedelta()
    return Outcome(False, may_retry, f"The address answered {status}.", status, wait)


def most_attempts() -> int:
    return len(settings.CMS_ENV.webhook_retry_seconds) + 1


def next_wait(attempts: int, outcome: Outcome) -> timedelta | None:
    """How long to wait after so many attempts; None where there is no further one."""
    waits = settings.CMS_ENV.webhook_retry_seconds
    if not outcome.may_retry or attempts > len(waits):
        return None
    # Receivers that came back together are not called together.
    spread = random.uniform(1 - _JITTER, 1 + _JITTER)  # noqa: S311  # hides nothing
    own = timedelta(seconds=waits[attempts - 1] * spread)
    return min(max(own, outcome.wait), LONGEST_WAIT)


def _asked_for(answer: Answer, now: datetime) -> timedelta:
    """Retry-After, in seconds or as a date; nothing where it says neither."""
    given = answer.headers.get("retry-after", "").strip()[:40]
    if given.isascii() and given.isdigit():
        return timedelta(seconds=min(int(given), int(LONGEST_WAIT.total_seconds())))
    try:
        at = parsedate_to_datetime(given)
    except (ValueError, OverflowError, IndexError):
        return timedelta()
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return min(max(at - now, timedelta()), LONGEST_WAIT)
