"""What a webhook may be. Each of these answers the value as it is kept, or raises `RuleViolation` on its field."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from django.conf import settings

from core import events
from core.errors import RuleViolation, invalid
from core.hostile import refuse_unstorable
from core.outgoing import check_url
from core.post_kinds import post_type_labels

NAME_MAX: Final = 100
URL_MAX: Final = 2000
SECRET_MAX: Final = 200
HEADERS_MAX: Final = 20
HEADER_NAME_MAX: Final = 100
HEADER_VALUE_MAX: Final = 1000
MASK: Final = "•••"
"""Stands where the value of a header is; given back, it keeps the value."""

_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VISIBLE: Final = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
# What the message itself says, what belongs to one connection, and what signs.
_OURS: Final = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "expect",
        "host",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "user-agent",
    }
)
_OUR_BEGINNINGS: Final = ("x-hub-", "x-webhook-", "x-agent-run", "proxy-")


def webhook_events() -> dict[str, str]:
    """The events that may be chosen, with their labels."""
    return {kind.name: kind.label for kind in events.all_kinds() if kind.is_webhook}


def name_of(given: str) -> str:
    refuse_unstorable(given, "name")
    name = " ".join(given.split())
    if not 1 <= len(name) <= NAME_MAX or not name.isprintable():
        raise invalid("name", f"name must have 1 to {NAME_MAX} characters that can be seen.")
    return name


def url_of(given: str) -> str:
    refuse_unstorable(given, "url")
    url = given.strip()
    if not 1 <= len(url) <= URL_MAX:
        raise invalid("url", f"url must have 1 to {URL_MAX:,} characters.")
    check_url(url, field="url")
    return url


def events_of(given: Sequence[str]) -> list[str]:
    if not given:
        raise invalid("events", f"Choose at least one event: {', '.join(webhook_events())}.")
    return _chosen("events", given, list(webhook_events()))


def types_of(given: Sequence[str]) -> list[str]:
    """None means all."""
    return _chosen("types", given, list(post_type_labels()))


def locales_of(given: Sequence[str]) -> list[str]:
    """None means all."""
    return _chosen("locales", given, list(settings.CMS_ENV.locales))


def secret_of(given: str) -> str:
    """Empty: AGENT_SECRET signs."""
    if len(given) > SECRET_MAX or not given.isprintable():
        raise invalid("secret", f"secret has at most {SECRET_MAX} characters, all to be seen.")
    return given


def headers_of(given: Mapping[str, str], kept: Mapping[str, str]) -> dict[str, str]:
    """With the values of `kept` where the mask stands in their place."""
    if len(given) > HEADERS_MAX:
        raise invalid("headers", f"headers has at most {HEADERS_MAX} entries.")
    stored = {name.lower(): value for name, value in kept.items()}
    found: dict[str, str] = {}
    for name, value in given.items():
        _check_header_name(name, found)
        if value == MASK:
            value = _kept(name, stored)
        if len(value) > HEADER_VALUE_MAX or not _VISIBLE.fullmatch(value):
            raise invalid(
                "headers",
                f"The value of {name} must have 1 to {HEADER_VALUE_MAX:,} characters of ASCII, without line breaks.",
            )
        found[name] = value
    return found


def _kept(name: str, stored: Mapping[str, str]) -> str:
    if name.lower() not in stored:
        raise invalid(
            "headers",
            f"Give the value of {name} anew: none is kept for it, or the address is of another host now.",
            code="header_value_needed",
        )
    return stored[name.lower()]


def _check_header_name(name: str, before: Iterable[str]) -> None:
    low = name.lower()
    if len(name) > HEADER_NAME_MAX or not _TOKEN.fullmatch(name):
        shown = name[:80].encode("ascii", "backslashreplace").decode()
        raise invalid("headers", f"{shown!r} is no name of a header.")
    if low in _OURS or low.startswith(_OUR_BEGINNINGS):
        raise invalid("headers", f"{name} is set by the sender and cannot be given.")
    if low in {other.lower() for other in before}:
        raise invalid("headers", f"{name} is given twice.")


def _chosen(field: str, given: Sequence[str], known: list[str]) -> list[str]:
    """In the order of what is known, each once."""
    for value in given:
        if value not in known:
            raise _unknown(field, value, known)
    return [name for name in known if name in given]


def _unknown(field: str, value: object, known: Iterable[str]) -> RuleViolation:
    shown = str(value)[:60].encode("utf-8", "replace").decode()
    return invalid(field, f"{shown!r} is not known in {field}; known: {', '.join(known)}.")
