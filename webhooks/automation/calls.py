"""What a file may say of a call to another system: its address and its headers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.conf import settings

from core.errors import CmsError
from webhooks import rules
from webhooks.automation.templates import fault_of, placeholders

SECRET: Final = "secret"  # noqa: S105  # the name of a placeholder
_CREDENTIALS: Final = frozenset({"authorization", "cookie", "x-api-key"})


def sound_url(url: str) -> str:
    """The address without blanks around it. Raises `ValueError` where it is none that may be called."""
    refused_as_value_error(lambda: rules.url_of(url))
    return url.strip()


def sound_headers(headers: dict[str, str]) -> dict[str, str]:
    """The headers. Raises `ValueError` also where a credential stands in the file, or names no known secret."""
    refused_as_value_error(lambda: rules.headers_of(headers, {}))
    fault = fault_of(dict(headers), frozenset({SECRET}))
    if fault:
        raise ValueError(fault)
    for name, value in headers.items():
        if name.lower() in _CREDENTIALS and not list(placeholders(value)):
            raise ValueError(
                f"put the credential of {name} into WORKFLOW_SECRETS and write {{{{secret.<its name>}}}} here"
            )
    for path in placeholders(dict(headers)):
        name = path.partition(".")[2]
        if name not in settings.CMS_ENV.workflow_secrets:
            raise ValueError(f"WORKFLOW_SECRETS has no value named {name!r}")
    return headers


def refused_as_value_error(check: Callable[[], object]) -> None:
    """A refusal becomes the kind of error that is a problem of the file."""
    try:
        check()
    except CmsError as error:
        raise ValueError(error.message) from None
