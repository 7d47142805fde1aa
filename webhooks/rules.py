"""What a webhook may be. Each of these answers the value as it is kept, or raises `RuleViolation` on its field."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from django.conf import settings
from django.utils.translation import gettext as _

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
        raise invalid(
            "name",
            _("name must have 1 to %(name_max)s characters that can be seen.")
            % {"name_max": NAME_MAX},
        )
    return name


def url_of(given: str) -> str:
    refuse_unstorable(given, "url")
    url = given.strip()
    if not 1 <= len(url) <= URL_MAX:
        raise invalid(
            "url", _("url must have 1 to %(url_max)s characters.") % {"url_max": f"{URL_MAX:,}"}
        )
    check_url(url, field="url")
    return url


def events_of(given: Sequence[str]) -> list[str]:
    if not given:
        raise invalid(
            "events",
            _("Choose at least one event: %(webhook_events)s.")
            % {"webhook_events": ", ".join(webhook_events())},
        )
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
        raise invalid(
            "secret",
            _("secret has at most %(secret_max)s characters, all to be seen.")
            % {"secret_max": SECRET_MAX},
        )
    return given


def headers_of(given: Mapping[str, str], kept: Mapping[str, str]) -> dict[str, str]:
    """With the values of `kept` where the mask stands in their place."""
    if len(given) > HEADERS_MAX:
        raise invalid(
            "headers",
            _("headers has at most %(headers_max)s entries.") % {"headers_max": HEADERS_MAX},
        )
    stored = {name.lower(): value for name, value in kept.items()}
    found: dict[str, str] = {}
    for name, value in given.items():
        _check_header_name(name, found)
        if value == MASK:
            value = _kept(name, stored)
        if len(value) > HEADER_VALUE_MAX or not _VISIBLE.fullmatch(value):
            raise invalid(
                "headers",
                _(
                    "The value of %(name)s must have 1 to %(header_value_max)s characters of ASCII, "
                    "without line breaks."
                )
                % {"name": name, "header_value_max": f"{HEADER_VALUE_MAX:,}"},
            )
        found[name] = value
    return found


def _kept(name: str, stored: Mapping[str, str]) -> str:
    if name.lower() not in stored:
        raise invalid(
            "headers",
            _(
                "Give the value of %(name)s anew: none is kept for it, or the address is of another "
                "host now."
            )
            % {"name": name},
            code="header_value_needed",
        )
    return stored[name.lower()]


def _check_header_name(name: str, before: Iterable[str]) -> None:
    low = name.lower()
    if len(name) > HEADER_NAME_MAX or not _TOKEN.fullmatch(name):
        shown = name[:80].encode("ascii", "backslashreplace").decode()
        raise invalid("headers", _("%(shown)r is no name of a header.") % {"shown": shown})
    if low in _OURS or low.startswith(_OUR_BEGINNINGS):
        raise invalid(
            "headers", _("%(name)s is set by the sender and cannot be given.") % {"name": name}
        )
    if low in {other.lower() for other in before}:
        raise invalid("headers", _("%(name)s is given twice.") % {"name": name})


def _chosen(field: str, given: Sequence[str], known: list[str]) -> list[str]:
    """In the order of what is known, each once."""
    for value in given:
        if value not in known:
            raise _unknown(field, value, known)
    return [name for name in known if name in given]


def _unknown(field: str, value: object, known: Iterable[str]) -> RuleViolation:
    shown = str(value)[:60].encode("utf-8", "replace").decode()
    return invalid(
        field,
        _("%(shown)r is not known in %(field)s; known: %(known)s.")
        % {"shown": shown, "field": field, "known": ", ".join(known)},
    )
