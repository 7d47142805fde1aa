"""Rules of a webhook's fields. Each returns the value to store, or raises `RuleViolation` on its field."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Final

from django.conf import settings
from django.utils.translation import gettext as _
from pydantic import AfterValidator

from proofroom.core import outbox
from proofroom.core.errors import CmsError, invalid
from proofroom.core.http_client import check_url
from proofroom.core.post_type_names import post_type_labels
from proofroom.core.redaction import SECRET_MASK
from proofroom.core.validation.input_validation import (
    NOT_ON_A_LINE,
    character_at,
    reject_unstorable,
)
from proofroom.core.validation.limits import URL_MAX
from proofroom.webhooks.placeholders import placeholder_problem, placeholders

NAME_MAX: Final = 100
SECRET_MAX: Final = 200
HEADERS_MAX: Final = 20
HEADER_NAME_MAX: Final = 100
HEADER_VALUE_MAX: Final = 1000

# A token of RFC 9110, 5.6.2.
HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
HEADER_VALUE: Final = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
# Headers that describe the message or the connection, or sign it.
OWN_HEADERS: Final = frozenset(
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
OWN_HEADER_PREFIXES: Final = ("x-hub-", "x-webhook-", "x-agent-run", "proxy-")


def webhook_events() -> dict[str, str]:
    """Return the events that can be chosen, with labels."""
    return {kind.public_name: kind.label for kind in outbox.all_kinds() if kind.is_webhook}


def clean_name(given: str) -> str:
    reject_unstorable(given, "name")
    name = " ".join(given.split())
    if found := NOT_ON_A_LINE.search(name):
        raise invalid(
            "name",
            _(
                "Control characters and line breaks are not allowed here (U+%(ord)s at position "
                "%(start)s)."
            )
            % character_at(found),
        )
    if not 1 <= len(name) <= NAME_MAX:
        raise invalid(
            "name",
            _("name must have 1 to %(name_max)s visible characters.") % {"name_max": NAME_MAX},
        )
    return name


def clean_url(given: str) -> str:
    reject_unstorable(given, "url")
    url = given.strip()
    if not 1 <= len(url) <= URL_MAX:
        raise invalid(
            "url", _("url must have 1 to %(url_max)s characters.") % {"url_max": f"{URL_MAX:,}"}
        )
    check_url(url, field="url")
    return url


def clean_events(given: Sequence[str]) -> list[str]:
    if not given:
        raise invalid(
            "events",
            _("Choose at least one event: %(webhook_events)s.")
            % {"webhook_events": ", ".join(webhook_events())},
        )
    return check_choices("events", given, list(webhook_events()))


def clean_types(given: Sequence[str]) -> list[str]:
    """Return the chosen post types. None means all."""
    return check_choices("types", given, list(post_type_labels()))


def clean_locales(given: Sequence[str]) -> list[str]:
    """Return the chosen languages. None means all."""
    return check_choices("locales", given, list(settings.CMS_ENV.locales))


def clean_secret(given: str) -> str:
    """Return the secret. Empty means that AGENT_SECRET signs."""
    if len(given) > SECRET_MAX or not given.isprintable():
        raise invalid(
            "secret",
            _("secret can have at most %(secret_max)s visible characters.")
            % {"secret_max": SECRET_MAX},
        )
    return given


def clean_headers(given: Mapping[str, str], kept: Mapping[str, str]) -> dict[str, str]:
    """Return the headers. A masked value is replaced by its value in `kept`."""
    if len(given) > HEADERS_MAX:
        raise invalid(
            "headers",
            _("headers can have at most %(headers_max)s entries.") % {"headers_max": HEADERS_MAX},
        )
    stored = {name.lower(): value for name, value in kept.items()}
    found: dict[str, str] = {}
    for name, value in given.items():
        check_header_name(name, found)
        if value == SECRET_MASK and name.lower() not in stored:
            raise invalid(
                "headers",
                _(
                    "Enter the value of %(name)s again: none is stored, or the "
                    "address now has another host."
                )
                % {"name": name},
                code="header_value_needed",
            )
        if value == SECRET_MASK:
            value = stored[name.lower()]
        if len(value) > HEADER_VALUE_MAX or not HEADER_VALUE.fullmatch(value):
            raise invalid(
                "headers",
                _(
                    "The value of %(name)s must have 1 to %(header_value_max)s ASCII "
                    "characters, without line breaks."
                )
                % {"name": name, "header_value_max": f"{HEADER_VALUE_MAX:,}"},
            )
        found[name] = value
    return found


def check_header_name(name: str, before: Iterable[str]) -> None:
    low = name.lower()
    if len(name) > HEADER_NAME_MAX or not HEADER_NAME.fullmatch(name):
        shown = name[:80].encode("ascii", "backslashreplace").decode()
        raise invalid("headers", _("%(shown)r is not a valid header name.") % {"shown": shown})
    if low in OWN_HEADERS or low.startswith(OWN_HEADER_PREFIXES):
        raise invalid(
            "headers", _("%(name)s is set automatically and cannot be used.") % {"name": name}
        )
    if low in {other.lower() for other in before}:
        raise invalid("headers", _("%(name)s appears twice.") % {"name": name})


def check_choices(field: str, given: Sequence[str], known: list[str]) -> list[str]:
    """Return the chosen values in the order of `known`, without duplicates."""
    for value in given:
        if value not in known:
            shown = str(value)[:60].encode("utf-8", "replace").decode()
            raise invalid(
                field,
                _("%(shown)r is not valid in %(field)s. Available: %(known)s.")
                % {"shown": shown, "field": field, "known": ", ".join(known)},
            )
    return [name for name in known if name in given]


CLEANED_BY: Final[Mapping[str, Callable[[Any], object]]] = {
    "name": clean_name,
    "url": clean_url,
    "events": clean_events,
    "types": clean_types,
    "locales": clean_locales,
    "secret": clean_secret,
}
"""Cleaning functions by field of the input class. `headers` are missing, because they also need the stored values."""


SECRET_ROOT: Final = "secret"  # noqa: S105  # the name of a placeholder
CREDENTIAL_HEADERS: Final = frozenset({"authorization", "cookie", "x-api-key"})


def check_declared_url(url: str) -> str:
    """Return the URL without surrounding spaces. Raises `ValueError` if it may not be called."""
    refusals_as_value_errors(lambda: clean_url(url))
    return url.strip()


def check_declared_headers(headers: dict[str, str]) -> dict[str, str]:
    """Return the headers. Raises `ValueError` also if one contains a credential or an unknown secret's name."""
    refusals_as_value_errors(lambda: clean_headers(headers, {}))
    fault = placeholder_problem(dict(headers), frozenset({SECRET_ROOT}))
    if fault:
        raise ValueError(fault)
    for name, value in headers.items():
        if name.lower() in CREDENTIAL_HEADERS and not list(placeholders(value)):
            # Credentials belong in the environment, not in a file.
            raise ValueError(
                f"put the credential of {name} into WORKFLOW_SECRETS and write {{{{secret.<its name>}}}} here"
            )
    for path in placeholders(dict(headers)):
        name = path.partition(".")[2]
        if name not in settings.CMS_ENV.workflow_secrets:
            raise ValueError(f"WORKFLOW_SECRETS has no value named {name!r}")
    return headers


DeclaredUrl = Annotated[str, AfterValidator(check_declared_url)]
DeclaredHeaders = Annotated[dict[str, str], AfterValidator(check_declared_headers)]


def refusals_as_value_errors(check: Callable[[], object]) -> None:
    """Convert a refusal into a `ValueError`, which is reported as a problem of the file."""
    try:
        check()
    except CmsError as error:
        raise ValueError(error.message) from None
